namespace Rookery.Storage;

/// <summary>The newest state, and the older ones that readers still hold.</summary>
internal sealed class PublishedState(EngineState first, TimeProvider time)
{
    private const int FirstLimit = 64;

    private readonly Lock gate = new();
    private Queue<(EngineState State, long ReplacedAt)> held = new();
    private int limit = FirstLimit;
    private bool isClosed;
    private EngineState current = first;

    /// <summary>The newest state. May be used without a reference only by whoever keeps it from being replaced.</summary>
    public EngineState Current => Volatile.Read(ref current);

    /// <summary>Takes a reference to the newest state. No lock: it retries only when a state is replaced at this very moment.</summary>
    /// <exception cref="ObjectDisposedException">It was closed.</exception>
    public EngineState Acquire()
    {
        while (true)
        {
            EngineState seen = Volatile.Read(ref current);
            if (seen.TryAcquire())
            {
                return seen;
            }

            ObjectDisposedException.ThrowIf(Volatile.Read(ref isClosed), this);
        }
    }

    /// <summary>Makes a state the newest and gives back the reference to the one before. One thread at a time.</summary>
    public void Replace(EngineState next)
    {
        EngineState before = current;
        Volatile.Write(ref current, next);
        before.Release();
        if (before.IsHeld)
        {
            lock (gate)
            {
                DropReleased();
                held.Enqueue((before, time.GetTimestamp()));
                if (held.Count >= limit)
                {
                    // One reader that stays keeps those behind it in the queue, which others have long given back.
                    held = new Queue<(EngineState State, long ReplacedAt)>(held.Where(each => each.State.IsHeld));
                    limit = Math.Max(FirstLimit, 2 * held.Count);
                }
            }
        }
    }

    /// <summary>Gives the newest state back, for good.</summary>
    public void Close()
    {
        Volatile.Write(ref isClosed, true);
        Current.Release();
    }

    /// <summary>How long ago the oldest state that is still held was replaced.</summary>
    public TimeSpan OldestReaderAge
    {
        get
        {
            lock (gate)
            {
                DropReleased();
                return held.TryPeek(out var oldest) ? time.GetElapsedTime(oldest.ReplacedAt) : TimeSpan.Zero;
            }
        }
    }

    /// <summary>The older states that readers hold, the oldest first.</summary>
    public IReadOnlyList<EngineState> Held()
    {
        lock (gate)
        {
            return [.. held.Select(static each => each.State).Where(static state => state.IsHeld)];
        }
    }

    private void DropReleased()
    {
        while (held.TryPeek(out var oldest) && !oldest.State.IsHeld)
        {
            held.Dequeue();
        }
    }
}
