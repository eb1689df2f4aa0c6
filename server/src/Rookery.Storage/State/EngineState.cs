using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// The memtables, runs and range tombstones that readers see, as one immutable, reference-counted object. A change
/// publishes a new state. A reader keeps the state that it acquired, with its memory and files, until it releases it.
/// </summary>
internal sealed class EngineState
{
    private int _references = 1;
    private int _backgroundReaders; // of the references
    private int _isEnded;
    private int _isEndedInBackground;
    private CancellationTokenSource? _ending;

    /// <summary>Creates a state and acquires references to its parts.</summary>
    public EngineState(
        StorageSources sources,
        Memtable active,
        Memtable[] frozen,
        RunSet runs,
        RangeTombstoneSet rangeTombstones,
        ManifestPosition position
    )
    {
        Sources = sources;
        Active = active;
        VisibleBatch = active.LastBatch;
        Frozen = frozen;
        Runs = runs;
        RangeTombstones = rangeTombstones;
        Position = position;
        active.Acquire();
        foreach (Memtable memtable in frozen)
        {
            memtable.Acquire();
        }

        runs.Acquire();
    }

    /// <summary>The parts that all states share.</summary>
    public StorageSources Sources { get; }

    /// <summary>The memtable that is written to.</summary>
    public Memtable Active { get; }

    /// <summary>Number of the last batch of the active memtable that belongs to this state.</summary>
    public int VisibleBatch { get; }

    /// <summary>Memtables that wait for their flush, newest first.</summary>
    public Memtable[] Frozen { get; }

    /// <summary>The sorted runs.</summary>
    public RunSet Runs { get; }

    /// <summary>All range tombstones that may cover a row.</summary>
    public RangeTombstoneSet RangeTombstones { get; }

    /// <summary>Log position of the last batch in this state.</summary>
    public ManifestPosition Position { get; }

    /// <summary>
    /// Acquires a reference, unless the last one was released, which happens only after another state was published.
    /// </summary>
    public bool TryAcquire()
    {
        int count = Volatile.Read(ref _references);
        while (count > 0)
        {
            int before = Interlocked.CompareExchange(ref _references, count + 1, count);
            if (before == count)
            {
                return true;
            }

            count = before;
        }

        return false;
    }

    /// <summary>Whether any reference is held.</summary>
    public bool IsHeld => Volatile.Read(ref _references) > 0;

    /// <summary>
    /// Whether a reader other than those of background work holds the state. Also true for a moment while one of the
    /// others begins.
    /// </summary>
    public bool HasClients => Volatile.Read(ref _references) > Volatile.Read(ref _backgroundReaders);

    /// <summary>Whether background work holds the state.</summary>
    public bool HasBackgroundReaders => Volatile.Read(ref _backgroundReaders) > 0;

    /// <summary>Whether long reads of this state must stop.</summary>
    public bool IsEnded => Volatile.Read(ref _isEnded) != 0;

    /// <summary>Whether background work must release this state.</summary>
    public bool IsEndedInBackground => Volatile.Read(ref _isEndedInBackground) != 0;

    /// <summary>Cancelled when long reads must stop. Created on first use, because few readers wait.</summary>
    public CancellationToken Ended
    {
        get
        {
            CancellationTokenSource source = Volatile.Read(ref _ending) ?? MakeEnding();
            if (IsEnded)
            {
                _ = source.CancelAsync();
            }

            return source.Token;
        }
    }

    /// <summary>Ends long reads. Their references stay valid, but should be released soon.</summary>
    /// <returns>False if they were already ended.</returns>
    public bool End()
    {
        if (Interlocked.Exchange(ref _isEnded, 1) != 0)
        {
            return false;
        }

        _ = Volatile.Read(ref _ending)?.CancelAsync();
        return true;
    }

    /// <summary>Ends the reads of background work only.</summary>
    public void EndInBackground() => Volatile.Write(ref _isEndedInBackground, 1);

    /// <summary>Records that a reference that was just acquired is one of background work.</summary>
    public void CountInBackground() => Interlocked.Increment(ref _backgroundReaders);

    /// <summary>Releases a reference.</summary>
    /// <param name="isOfBackground">Whether it was counted by <see cref="CountInBackground"/>.</param>
    public void Release(bool isOfBackground = false)
    {
        if (isOfBackground)
        {
            Interlocked.Decrement(ref _backgroundReaders);
        }

        int remaining = Interlocked.Decrement(ref _references);
        Invariant.Holds(remaining >= 0, "a snapshot is disposed once");
        if (remaining == 0)
        {
            Active.Release();
            foreach (Memtable memtable in Frozen)
            {
                memtable.Release();
            }

            Runs.Release();
        }
    }

    private CancellationTokenSource MakeEnding()
    {
        var created = new CancellationTokenSource();
        return Interlocked.CompareExchange(ref _ending, created, null) ?? created;
    }
}

/// <summary>The parts that all states of an engine share.</summary>
/// <param name="Tables">Maps tables to groups.</param>
/// <param name="Damage">Registers damage.</param>
internal sealed record StorageSources(TableMap Tables, DamageRegistry Damage);
