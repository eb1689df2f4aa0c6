namespace Rookery.Storage.State;

/// <summary>The newest state, and older ones that readers still hold.</summary>
internal sealed class PublishedState(EngineState first, TimeProvider time)
{
    private const int InitialLimit = 64;

    private readonly Lock _gate = new();
    private Queue<(EngineState State, long ReplacedAt)> _held = new();
    private int _limit = InitialLimit; // at this length, released states are removed also from the queue's middle
    private bool _isClosed;
    private EngineState _current = first;

    /// <summary>The newest state, without acquiring a reference; only for the thread that replaces states.</summary>
    public EngineState Current => Volatile.Read(ref _current);

    /// <summary>
    /// Acquires a reference to the newest state, without a lock. It retries only if a state is replaced at that moment.
    /// </summary>
    /// <param name="isOfBackground">Whether it is one of background work.</param>
    /// <exception cref="ObjectDisposedException">The state was closed.</exception>
    public EngineState Acquire(bool isOfBackground = false)
    {
        while (true)
        {
            EngineState state = Volatile.Read(ref _current);
            if (state.TryAcquire(isOfBackground))
            {
                return state;
            }

            ObjectDisposedException.ThrowIf(Volatile.Read(ref _isClosed), this);
        }
    }

    /// <summary>
    /// Publishes a state as the newest, and releases the reference to the previous one. One thread at a time.
    /// </summary>
    public void Replace(EngineState next)
    {
        EngineState before = _current;
        Volatile.Write(ref _current, next);
        before.Release();
        if (before.IsHeld)
        {
            lock (_gate)
            {
                DropReleased();
                _held.Enqueue((before, time.GetTimestamp()));
                if (_held.Count >= _limit)
                {
                    // One long reader keeps the queue from shrinking: also remove later states that no reader holds.
                    _held = new Queue<(EngineState State, long ReplacedAt)>(_held.Where(each => each.State.IsHeld));
                    _limit = Math.Max(InitialLimit, 2 * _held.Count);
                }
            }
        }
    }

    /// <summary>Releases the newest state. No state can be acquired afterwards.</summary>
    public void Close()
    {
        Volatile.Write(ref _isClosed, true);
        Current.Release();
    }

    /// <summary>Time since the oldest held state was replaced; zero if none is held.</summary>
    public TimeSpan OldestReaderAge
    {
        get
        {
            lock (_gate)
            {
                DropReleased();
                return _held.TryPeek(out var oldest) ? time.GetElapsedTime(oldest.ReplacedAt) : TimeSpan.Zero;
            }
        }
    }

    /// <summary>Returns the older states that readers hold, oldest first.</summary>
    public IReadOnlyList<EngineState> Held()
    {
        lock (_gate)
        {
            return [.. _held.Select(static each => each.State).Where(static state => state.IsHeld)];
        }
    }

    private void DropReleased()
    {
        while (_held.TryPeek(out var oldest) && !oldest.State.IsHeld)
        {
            _held.Dequeue();
        }
    }
}
