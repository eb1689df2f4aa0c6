using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>The parts of an engine that its components share.</summary>
internal sealed class EngineContext
{
    public EngineContext() => Readers = new ReaderPins(this);

    public required IDisk Disk { get; init; }

    /// <summary>The options, with the sizes derived from the memory budget.</summary>
    public required StorageOptions Options { get; init; }

    public required IIoRecorder Io { get; init; }

    public required BlockCache Cache { get; init; }

    public required ArenaPool Arenas { get; init; }

    public required StorageSources Sources { get; init; }

    public required PublishedState Published { get; init; }

    public required DurableState Durable { get; init; }

    public required GarbageFiles Garbage { get; init; }

    /// <summary>Run files that the manifest did not name at opening.</summary>
    public required IReadOnlyList<string> LeftOvers { get; init; }

    /// <summary>Limits the memory and files that readers keep alive.</summary>
    public ReaderPins Readers { get; }

    /// <summary>
    /// Number of times the whole state was replaced. Incremented before readers can see the new state.
    /// </summary>
    public long Installs;

    public EngineCounters Counters { get; } = new();

    /// <summary>See <see cref="StorageOptions.RetainedTombstones"/>; may change at any time.</summary>
    public long RetainedTombstones
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Flushes if writers need it. Long merges call it, so that they do not block writers.</summary>
    public Action? FlushIfNeeded { get; set; }

    /// <summary>
    /// Held while a state is replaced and while deciding whether to freeze a memtable; never across I/O.
    /// </summary>
    public Lock Gate { get; } = new();

    /// <summary>
    /// Whether writers wait for a flush or soon will: a memtable is being flushed, and the next one is more than a
    /// quarter full.
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

    /// <summary>Returns the names of the tables whose rows share a file.</summary>
    public string NamesOf(RunEntry file) =>
        Sources.Tables.NamesOf(Sources.Tables.GroupOf(file.FirstKey[MemtableNode.KeyspaceBytes - 1]));
}

/// <summary>Counters since the engine was opened. Written by the background thread unless stated otherwise.</summary>
internal sealed class EngineCounters
{
    public long Flushes;
    public long FlushedBytes;
    public long Compactions;
    public long CompactedBytes;
    public long LinkedFiles;
    public long Failures;

    /// <summary>Number of writers that wait in <see cref="StorageEngine.Begin"/>. Changed by the writers.</summary>
    public int WaitingWriters;
}
