using Rookery.Storage.Engine;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Install;

/// <summary>
/// Writes the changed rows of one group into run files, in a directory outside the store. Disposing it deletes an
/// unfinished file.
/// </summary>
internal sealed class ChangesOutput(EngineContext context, string directory, byte group, long firstFile) : IDisposable
{
    private readonly List<RunSummary> _finished = [];
    private RunWriter? _writer;

    /// <summary>The finished files.</summary>
    public IReadOnlyList<RunSummary> Files => _finished;

    /// <summary>Total length so far.</summary>
    public long Bytes => _finished.Sum(file => file.FileBytes) + (_writer?.EstimatedBytes ?? 0);

    /// <summary>Adds a row; its key must be higher than the last one.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        if (
            _writer is not null
            && (_writer.EstimatedBytes >= context.Options.RunBytes || _writer.Rows >= RunWriter.RowLimit)
        )
        {
            Finish();
        }

        _writer ??= Begin(firstFile + _finished.Count);
        _writer.Add(key, sequence, kind, value);
    }

    /// <summary>Finishes the last file.</summary>
    public void Finish()
    {
        if (_writer is not null)
        {
            _finished.Add(_writer.Finish());
            _writer.Dispose();
            _writer = null;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _writer?.Dispose();

    private RunWriter Begin(long fileId)
    {
        var options = new RunWriterOptions(
            context.Options.BlockBytes,
            HasFilter: context.Sources.Tables.IsLookedUp(group),
            SyncsRegularly: true,
            Rookery.Platform.IoKind.Backup
        );
        return new RunWriter(context.Disk, Path.Join(directory, RunFileName.Of(fileId)), fileId, options, context.Io);
    }
}
