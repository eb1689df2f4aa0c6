using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// Rows in key order on their way into files of at most <see cref="StorageOptions.RunBytes"/>. Disposing it deletes what was not handed over.
/// </summary>
internal sealed class RunOutput(EngineContext context, byte group, IoKind kind, RangeTombstoneSet cleared) : IDisposable
{
    public const long PaceBytes = 256 * 1024;

    private readonly List<RunEntry> finished = [];
    private readonly long clearedThrough = cleared.IsEmpty ? 0 : cleared.Pieces.Max(piece => piece.Sequence);
    private RunWriter? writer;
    private long fileId;
    private long pacedBytes;
    private bool handedOver;

    /// <summary>Whether the file being written has reached its size: the next row begins another.</summary>
    public bool IsFull => writer is not null && (writer.EstimatedBytes >= context.Options.RunBytes || writer.Rows >= RunWriter.RowLimit);

    /// <summary>Bytes of the files that are finished.</summary>
    public long Bytes => finished.Sum(file => file.Summary.FileBytes);

    /// <summary>Adds a row.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind rowKind, ReadOnlySpan<byte> value)
    {
        if (IsFull)
        {
            FinishFile();
        }

        if (writer is null)
        {
            fileId = context.Durable.TakeFileId();
            var options = new RunWriterOptions(context.Options.BlockBytes, Filter: context.Sources.Tables.IsLookedUp(group), Paced: true, kind);
            writer = new RunWriter(context.Disk, context.Durable.PathOf(fileId), fileId, options, context.Io);
            pacedBytes = 0;
        }

        writer.Add(key, sequence, rowKind, value);
        if (writer.WrittenBytes - pacedBytes >= PaceBytes)
        {
            context.Options.Pacer?.Yield(writer.WrittenBytes - pacedBytes, context.IsUrgent);
            pacedBytes = writer.WrittenBytes;
        }
    }

    /// <summary>Ends the last file and opens all for reading. Each reader carries one reference, which is given back in <see cref="Dispose"/>: sets take their own.</summary>
    public IReadOnlyList<RunEntry> Finish()
    {
        FinishFile();
        return finished;
    }

    /// <summary>Says that a manifest names the files, or may name them: they are not deleted.</summary>
    public void HandOver() => handedOver = true;

    public void Dispose()
    {
        writer?.Dispose();
        foreach (RunEntry file in finished)
        {
            if (!handedOver)
            {
                file.Reader!.Retire(context.Garbage.Add);
            }

            file.Reader!.Release();
        }

        context.Garbage.Collect();
    }

    private void FinishFile()
    {
        if (writer is null)
        {
            return;
        }

        RunSummary summary = writer.Finish();
        string path = context.Durable.PathOf(fileId);
        writer.Dispose();
        writer = null;
        RunReader? reader = RunReader.Open(context.Disk, path, fileId, context.Cache, context.Io, out _);
        if (reader is null)
        {
            context.Garbage.Add(path);
            throw new DiskException("read back", path, Errno.InputOutput);
        }

        finished.Add(new RunEntry { Summary = summary, WrittenAs = fileId, Reader = reader, ClearedThrough = clearedThrough });
    }
}
