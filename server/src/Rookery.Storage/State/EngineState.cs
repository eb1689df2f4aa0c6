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
    // A reference of background work counts in both halves.
    private const long Reference = 1;
    private const long BackgroundReference = (1L << 32) + Reference;

    // The lower half counts all references, the upper half those of background work. They change together, so a reader
    // of background work never looks like one of a client.
    private long _references = Reference;
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
    /// <param name="isOfBackground">Whether it is one of background work.</param>
    public bool TryAcquire(bool isOfBackground = false)
    {
        long counts = Volatile.Read(ref _references);
        while (CountAll(counts) > 0)
        {
            long before = Interlocked.CompareExchange(ref _references, counts + One(isOfBackground), counts);
            if (before == counts)
            {
                return true;
            }

            counts = before;
        }

        return false;
    }

    /// <summary>Whether any reference is held.</summary>
    public bool IsHeld => CountAll(Volatile.Read(ref _references)) > 0;

    /// <summary>Whether a reader other than those of background work holds the state.</summary>
    public bool HasClients
    {
        get
        {
            long counts = Volatile.Read(ref _references);
            return CountAll(counts) > CountOfBackground(counts);
        }
    }

    /// <summary>Whether background work holds the state.</summary>
    public bool HasBackgroundReaders => CountOfBackground(Volatile.Read(ref _references)) > 0;

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

    /// <summary>Releases a reference.</summary>
    /// <param name="isOfBackground">Whether it is one of background work.</param>
    public void Release(bool isOfBackground = false)
    {
        int remaining = CountAll(Interlocked.Add(ref _references, -One(isOfBackground)));
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

    private static long One(bool isOfBackground) => isOfBackground ? BackgroundReference : Reference;

    private static int CountAll(long counts) => unchecked((int)counts);

    private static int CountOfBackground(long counts) => (int)(counts >> 32);

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
