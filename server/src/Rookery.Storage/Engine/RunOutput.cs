using Rookery.Platform;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Writes rows in key order into files of at most <see cref="StorageOptions.RunBytes"/>. Disposing it deletes the
/// files, unless a manifest may name them (<see cref="HandOver"/>).
/// </summary>
/// <param name="context">The parts of the engine.</param>
/// <param name="group">The group of tables that the rows belong to.</param>
/// <param name="kind">The kind under which the writes are recorded.</param>
/// <param name="cleared">Range tombstones whose hidden rows the caller leaves out.</param>
internal sealed class RunOutput(EngineContext context, byte group, IoKind kind, RangeTombstoneSet cleared) : IDisposable
{
    /// <summary>Bytes of work between two calls of the pacer.</summary>
    public const long PaceBytes = 256 * 1024;

    private readonly List<RunEntry> _finished = [];
    private readonly long _clearedThrough = cleared.IsEmpty ? 0 : cleared.Pieces.Max(piece => piece.Sequence);
    private RunWriter? _writer;
    private long _fileId;
    private long _firstDeletion; // the lowest sequence of a deletion in the current file
    private long _pacedBytes;
    private bool _isHandedOver;

    /// <summary>Whether the current file has reached its size, so that the next row starts another.</summary>
    public bool IsFull =>
        _writer is not null
        && (_writer.EstimatedBytes >= context.Options.RunBytes || _writer.Rows >= RunWriter.RowLimit);

    /// <summary>Total length of the finished files.</summary>
    public long Bytes => _finished.Sum(file => file.Summary.FileBytes);

    /// <summary>Adds a row.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind rowKind, ReadOnlySpan<byte> value)
    {
        if (IsFull)
        {
            FinishFile();
        }

        if (_writer is null)
        {
            _fileId = context.Durable.AllocateFileId();
            var options = new RunWriterOptions(
                context.Options.BlockBytes,
                HasFilter: context.Sources.Tables.IsLookedUp(group),
                SyncsRegularly: true,
                kind
            );
            _writer = new RunWriter(context.Disk, context.Durable.PathOf(_fileId), _fileId, options, context.Io);
            _firstDeletion = long.MaxValue;
            _pacedBytes = 0;
        }

        _writer.Add(key, sequence, rowKind, value);
        if (TombstoneRetention.IsDeletion(group, rowKind))
        {
            _firstDeletion = Math.Min(_firstDeletion, sequence);
        }

        if (_writer.WrittenBytes - _pacedBytes >= PaceBytes)
        {
            context.Options.Pacer?.Yield(_writer.WrittenBytes - _pacedBytes, context.IsUrgent);
            _pacedBytes = _writer.WrittenBytes;
        }
    }

    /// <summary>
    /// Finishes the last file and opens all files. Each reader has one reference, which <see cref="Dispose"/> releases;
    /// run sets acquire their own.
    /// </summary>
    public IReadOnlyList<RunEntry> Finish()
    {
        FinishFile();
        return _finished;
    }

    /// <summary>Marks the files as possibly named by a manifest, so that they are not deleted.</summary>
    public void HandOver() => _isHandedOver = true;

    public void Dispose()
    {
        _writer?.Dispose();
        foreach (RunEntry file in _finished)
        {
            if (!_isHandedOver)
            {
                file.Reader!.Retire(context.Garbage.Add);
            }

            file.Reader!.Release();
        }

        context.Garbage.Collect();
    }

    private void FinishFile()
    {
        if (_writer is null)
        {
            return;
        }

        RunSummary summary = _writer.Finish();
        string path = context.Durable.PathOf(_fileId);
        _writer.Dispose();
        _writer = null;
        RunReader? reader = RunReader.Open(context.Disk, path, _fileId, context.Cache, context.Io, out _);
        if (reader is null)
        {
            context.Garbage.Add(path);
            throw new DiskException("read back", path, Errno.InputOutput);
        }

        _finished.Add(
            new RunEntry
            {
                Summary = summary,
                WrittenAs = _fileId,
                Reader = reader,
                ClearedThrough = _clearedThrough,
                DeletionsAfter = Math.Min(_firstDeletion - 1, summary.LargestSequence),
            }
        );
    }
}
