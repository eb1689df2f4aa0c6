using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>How a run is written.</summary>
/// <param name="BlockBytes">A block is closed when its rows reach this many uncompressed bytes; 4 to 32 KiB. Smaller reads cheaper, larger compresses better.</param>
/// <param name="Filter">Whether to add a Bloom filter; pointless for tables that are only ever walked.</param>
/// <param name="Paced">Whether to sync each 512 KiB, so that a commit's sync never waits behind more (flush and compaction beside live traffic).</param>
/// <param name="Kind">What the writes are recorded as: <see cref="IoKind.RunWrite"/> or <see cref="IoKind.Compaction"/>.</param>
internal readonly record struct RunWriterOptions(int BlockBytes, bool Filter, bool Paced, IoKind Kind);

/// <summary>
/// Writes one run: rows in key order, then <see cref="Finish"/>. One thread at a time. Memory: about 400 KiB, and 4 bytes per row while there is a filter.
/// Disposing an unfinished writer closes and deletes the file. Every method may throw <see cref="DiskException"/>; then only disposing is left to do.
/// </summary>
internal sealed class RunWriter : IDisposable
{
    /// <summary>A run should not have more rows: bounds the memory of its filter and its writer.</summary>
    public const int RowLimit = 2 * 1024 * 1024;

    /// <summary>The longest key, in bytes.</summary>
    public const int KeyLimitBytes = 2048;

    /// <summary>The longest value, in bytes. Longer ones are the engine's to cut into chunks.</summary>
    public const int ValueLimitBytes = 64 * 1024 + 512;

    /// <summary>Creates the file.</summary>
    public RunWriter(IDisk disk, string path, long fileId, RunWriterOptions options, IIoRecorder io) => throw new NotSupportedException();

    /// <summary>Adds a row. Its key must be higher than the last one (<see cref="Invariant"/>). <paramref name="value"/> must be empty for a tombstone.</summary>
    public void Add(ReadOnlySpan<byte> key, long sequence, RowKind kind, ReadOnlySpan<byte> value) => throw new NotSupportedException();

    /// <summary>Adds the run's range tombstones; once, any time before <see cref="Finish"/>. Rows that they had hidden must not be added.</summary>
    public void SetRangeTombstones(RangeTombstoneSet tombstones) => throw new NotSupportedException();

    /// <summary>Rows added.</summary>
    public long Rows => throw new NotSupportedException();

    /// <summary>About how long the file would be if it were finished now.</summary>
    public long EstimatedBytes => throw new NotSupportedException();

    /// <summary>Bytes handed to the disk so far, for rate limits.</summary>
    public long WrittenBytes => throw new NotSupportedException();

    /// <summary>Writes what is left, filter, index and footer, and syncs. The name is durable once the caller has synced the directory.</summary>
    public RunSummary Finish() => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotSupportedException();
}
