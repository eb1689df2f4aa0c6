namespace Rookery.Storage;

/// <summary>The rows of one group on their way into files of a directory that is not the store's. Disposing it deletes a file that was not finished.</summary>
internal sealed class ChangesOutput(EngineContext context, string directory, byte group, long firstFile) : IDisposable
{
    private readonly List<RunSummary> finished = [];
    private RunWriter? writer;

    /// <summary>The files that are finished.</summary>
    public IReadOnlyList<RunSummary> Files => finished;

    /// <summary>Bytes so far.</summary>
    public long Bytes => finished.Sum(file => file.FileBytes) + (writer?.EstimatedBytes ?? 0);

    /// <summary>Adds a row; its key is higher than the last.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value)
    {
        if (writer is not null && (writer.EstimatedBytes >= context.Options.RunBytes || writer.Rows >= RunWriter.RowLimit))
        {
            Finish();
        }

        writer ??= Begin(firstFile + finished.Count);
        writer.Add(key, sequence, kind, value);
    }

    /// <summary>Ends the last file.</summary>
    public void Finish()
    {
        if (writer is not null)
        {
            finished.Add(writer.Finish());
            writer.Dispose();
            writer = null;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => writer?.Dispose();

    private RunWriter Begin(long fileId)
    {
        var options = new RunWriterOptions(context.Options.BlockBytes, Filter: context.Sources.Tables.IsLookedUp(group), Paced: true, Rookery.Disk.IoKind.Backup);
        return new RunWriter(context.Disk, Path.Join(directory, RunFileName.Of(fileId)), fileId, options, context.Io);
    }
}
