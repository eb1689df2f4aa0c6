using Rookery.Disk;

namespace Rookery.Storage;

/// <summary>
/// The log-structured store of one node: a memtable, frozen memtables on their way to disk, immutable sorted runs, and two manifest slots.
/// It keeps nothing safe by itself before a flush: whoever applies batches holds the journal until <see cref="ManifestDurable"/> lets it go.
/// </summary>
/// <remarks>
/// Threads: one applies (<see cref="Begin"/> to <see cref="Apply"/>), one does background work (<see cref="Flush"/>, <see cref="CompactOnce"/>, <see cref="ScrubOnce"/>,
/// <see cref="TrimIdle"/>, <see cref="Checkpoint"/>), any number read. None of them waits for another, except a writer for a flush that is far behind.
/// </remarks>
public sealed class StorageEngine : IDisposable
{
    private StorageEngine()
    {
    }

    /// <summary>Opens a directory, or makes it. Files that no manifest names are left-overs of a crash and are deleted. Missing or damaged runs do not stop it: they are reported.</summary>
    /// <exception cref="StorageFormatException">It was written by a newer version, or no manifest slot can be trusted.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public static StorageEngine Open(IDisk disk, StorageOptions options, MemoryBudget budget, IIoRecorder io, TimeProvider time) => throw new NotSupportedException();

    /// <summary>What is on disk for good: replay the journal from the index after it.</summary>
    public ManifestPosition Durable => throw new NotSupportedException();

    /// <summary>The last operation number (etag) applied.</summary>
    public long Sequence => throw new NotSupportedException();

    /// <summary>The journal index of the last batch applied.</summary>
    public long AppliedIndex => throw new NotSupportedException();

    /// <summary>Bytes that the level above keeps in the manifest; empty at first. Set with <see cref="SetMetadata"/>.</summary>
    public ReadOnlyMemory<byte> Metadata => throw new NotSupportedException();

    /// <summary>Called on the background thread when a manifest is durable: the journal up to it may be released.</summary>
    public Action<ManifestPosition>? ManifestDurable { get; set; }

    /// <summary>Called when a damaged place is found, once for each, on the thread that found it.</summary>
    public Action<DamageEvent>? DamageFound { get; set; }

    /// <summary>Called when there may be background work: a memtable was frozen.</summary>
    public Action? WorkArrived { get; set; }

    /// <summary>How near writers are to waiting for a flush: 0 while there is none behind, 1 when the next batch waits.</summary>
    public double Pressure => throw new NotSupportedException();

    /// <summary>What is wrong, in one sentence; null when nothing is.</summary>
    public string? Health => throw new NotSupportedException();

    /// <summary>Begins the batch of one journal frame, when need be after waiting for a flush. Without background work it flushes itself.</summary>
    /// <param name="index">The frame's index, higher than the last.</param>
    /// <param name="term">The frame's term.</param>
    public WriteBatch Begin(long index, long term) => throw new NotSupportedException();

    /// <summary>Makes the batch visible, all at once, to snapshots opened afterwards. Never syncs.</summary>
    /// <param name="batch">What <see cref="Begin"/> gave.</param>
    /// <param name="lastSequence">The last operation number that the frame used, by operations that wrote nothing too.</param>
    public void Apply(WriteBatch batch, long lastSequence) => throw new NotSupportedException();

    /// <summary>Opens what is applied by now to read. Neither locks nor allocates.</summary>
    public Snapshot OpenSnapshot() => throw new NotSupportedException();

    /// <summary>Whether <see cref="Flush"/> has something to do: a frozen memtable, or a deleted range whose space waits.</summary>
    public bool FlushDue => throw new NotSupportedException();

    /// <summary>Asks that what is applied be flushed soon (a journal that grows old, a clean stop). Followed by <see cref="Flush"/>.</summary>
    public void RequestFlush() => throw new NotSupportedException();

    /// <summary>Writes the oldest frozen memtable into runs and flips the manifest. A failure is kept for <see cref="Health"/> and tried again later.</summary>
    /// <returns>Whether a manifest was made durable.</returns>
    public bool Flush() => throw new NotSupportedException();

    /// <summary>Does one step of compaction: writes at most one output file, or moves runs without rewriting.</summary>
    /// <returns>Whether there was a step to do and it was done.</returns>
    public bool CompactOnce() => throw new NotSupportedException();

    /// <summary>Checks some bytes of the runs against their checksums, going round.</summary>
    /// <returns>Whether the round is complete.</returns>
    public bool ScrubOnce(long budgetBytes) => throw new NotSupportedException();

    /// <summary>Gives memory back that is not in use. Writes nothing.</summary>
    public void TrimIdle() => throw new NotSupportedException();

    /// <summary>Makes a directory that <see cref="Open"/> opens: what is durable now, by hard links (copies across file systems). The journal after <see cref="Durable"/> is the caller's.</summary>
    /// <returns>What the new directory contains.</returns>
    public ManifestPosition Checkpoint(string targetDirectory) => throw new NotSupportedException();

    /// <summary>Keeps bytes for the level above with the next manifest.</summary>
    public void SetMetadata(ReadOnlyMemory<byte> metadata) => throw new NotSupportedException();

    /// <summary>What is there and what was done.</summary>
    public StorageStatistics Statistics() => throw new NotSupportedException();

    /// <summary>Closes the files. What was not flushed is the journal's.</summary>
    public void Dispose() => throw new NotSupportedException();
}
