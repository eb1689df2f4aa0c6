namespace Rookery.Storage.State;

/// <summary>The newest state, and the older ones that readers still hold.</summary>
internal sealed class PublishedState(EngineState first, TimeProvider time)
{
    private const int FirstLimit = 64;

    private readonly Lock _gate = new();
    private Queue<(EngineState State, long ReplacedAt)> _held = new();
    private int _limit = FirstLimit;
    private bool _isClosed;
    private EngineState _current = first;

    /// <summary>
    /// The newest state. May be used without a reference only by whoever keeps it from being replaced.
    /// </summary>
    public EngineState Current => Volatile.Read(ref _current);

    /// <summary>
    /// Takes a reference to the newest state. No lock: it retries only when a state is replaced at this very moment.
    /// </summary>
    /// <exception cref="ObjectDisposedException">It was closed.</exception>
    public EngineState Acquire()
    {
        while (true)
        {
            EngineState seen = Volatile.Read(ref _current);
            if (seen.TryAcquire())
            {
                return seen;
            }

            ObjectDisposedException.ThrowIf(Volatile.Read(ref _isClosed), this);
        }
    }

    /// <summary>
    /// Makes a state the newest and gives back the reference to the one before. One thread at a time.
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
                    // One reader that stays keeps those behind it in the queue, which others have long given back.
                    _held = new Queue<(EngineState State, long ReplacedAt)>(_held.Where(each => each.State.IsHeld));
                    _limit = Math.Max(FirstLimit, 2 * _held.Count);
                }
            }
        }
    }

    /// <summary>Gives the newest state back, for good.</summary>
    public void Close()
    {
        Volatile.Write(ref _isClosed, true);
        Current.Release();
    }

    /// <summary>How long ago the oldest state that is still held was replaced.</summary>
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

    /// <summary>The older states that readers hold, the oldest first.</summary>
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
