using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;

namespace Rookery.Storage.State;

/// <summary>
/// What readers see: an immutable record. Publishing is one swap of a reference to it; a reader keeps the record that
/// it began with, and with it the memory and files.
/// </summary>
internal sealed class EngineState
{
    private int _references = 1;
    private int _isEnded;
    private CancellationTokenSource? _ending;

    /// <summary>Makes a state and takes references to its parts.</summary>
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

    /// <summary>What does not change from state to state.</summary>
    public StorageSources Sources { get; }

    /// <summary>The memtable that is written to.</summary>
    public Memtable Active { get; }

    /// <summary>The last of its batches that belongs to this state.</summary>
    public int VisibleBatch { get; }

    /// <summary>Memtables that wait for their flush, newest first.</summary>
    public Memtable[] Frozen { get; }

    /// <summary>The sorted runs.</summary>
    public RunSet Runs { get; }

    /// <summary>Every range tombstone that may still cover a row.</summary>
    public RangeTombstoneSet RangeTombstones { get; }

    /// <summary>The last batch in it.</summary>
    public ManifestPosition Position { get; }

    /// <summary>
    /// Takes a reference unless the last one is gone, which happens only after another state was published.
    /// </summary>
    public bool TryAcquire()
    {
        int seen = Volatile.Read(ref _references);
        while (seen > 0)
        {
            int before = Interlocked.CompareExchange(ref _references, seen + 1, seen);
            if (before == seen)
            {
                return true;
            }

            seen = before;
        }

        return false;
    }

    /// <summary>Whether somebody holds it.</summary>
    public bool IsHeld => Volatile.Read(ref _references) > 0;

    /// <summary>Whether those who read it for long have to stop.</summary>
    public bool IsEnded => Volatile.Read(ref _isEnded) != 0;

    /// <summary>Cancelled when they have to. Made when it is first asked for: hardly any reader waits.</summary>
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

    /// <summary>Says so. Whoever holds a reference may still use it, and should give it back.</summary>
    /// <returns>False when it was said before.</returns>
    public bool End()
    {
        if (Interlocked.Exchange(ref _isEnded, 1) != 0)
        {
            return false;
        }

        _ = Volatile.Read(ref _ending)?.CancelAsync();
        return true;
    }

    /// <summary>Gives a reference back.</summary>
    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        Invariant.Holds(left >= 0, "a snapshot is disposed once");
        if (left == 0)
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
        var made = new CancellationTokenSource();
        return Interlocked.CompareExchange(ref _ending, made, null) ?? made;
    }
}

/// <summary>What all states of an engine share.</summary>
/// <param name="Tables">Which table belongs to which group.</param>
/// <param name="Damage">Where damage is noted.</param>
internal sealed record StorageSources(TableMap Tables, DamageRegistry Damage);
