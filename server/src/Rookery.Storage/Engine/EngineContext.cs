using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>What the parts of an engine share.</summary>
internal sealed class EngineContext
{
    public EngineContext() => Readers = new ReaderPins(this);

    public required IDisk Disk { get; init; }

    /// <summary>With sizes that were derived from the memory budget filled in.</summary>
    public required StorageOptions Options { get; init; }

    public required IIoRecorder Io { get; init; }

    public required BlockCache Cache { get; init; }

    public required ArenaPool Arenas { get; init; }

    public required StorageSources Sources { get; init; }

    public required PublishedState Published { get; init; }

    public required DurableState Durable { get; init; }

    public required GarbageFiles Garbage { get; init; }

    /// <summary>Run files that the manifest did not name when it was opened.</summary>
    public required IReadOnlyList<string> LeftOvers { get; init; }

    /// <summary>What readers keep from being given back.</summary>
    public ReaderPins Readers { get; }

    /// <summary>
    /// How often all there was has been replaced by another state. Counted before readers can see that state.
    /// </summary>
    public long Installs;

    public EngineCounters Counters { get; } = new();

    /// <summary>As <see cref="StorageOptions.KeptDeletions"/>; may change at any time.</summary>
    public long KeptDeletions
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Flushes when writers need it: called by long merges, so that they hold nobody up.</summary>
    public Action? FlushBetween { get; set; }

    /// <summary>
    /// Held while a state is replaced and while it is decided whether a memtable is frozen; never across I/O.
    /// </summary>
    public Lock Gate { get; } = new();

    /// <summary>
    /// Whether writers wait for a flush or soon will: while one memtable is flushed, the next is filling.
    /// </summary>
    public bool IsUrgent
    {
        get
        {
            EngineState state = Published.Current;
            return Volatile.Read(ref Counters.WaitingWriters) > 0
                || (state.Frozen.Length > 0 && state.Active.Bytes * 4 > Options.MemtableBytes);
        }
    }

    /// <summary>The tables whose rows share a file, by name.</summary>
    public string NamesOf(RunEntry file) =>
        Sources.Tables.NamesOf(Sources.Tables.GroupOf(file.FirstKey[MemtableNode.KeyspaceBytes - 1]));
}

/// <summary>
/// What was done since the engine was opened. Written by the background thread unless said otherwise.
/// </summary>
internal sealed class EngineCounters
{
    public long Flushes;
    public long FlushedBytes;
    public long Compactions;
    public long CompactedBytes;
    public long LinkedFiles;
    public long Failures;

    /// <summary>Writers that wait in Begin; written by them.</summary>
    public int WaitingWriters;
}
