namespace Rookery.Platform;

/// <summary>
/// The system's clock, whose periodic timers of a few seconds fire together, on threads of the clock. Timers with a
/// period from <see cref="Step"/> to <see cref="LongestPeriod"/> fire at common instants, one step apart, so up to one
/// step after they are due; a delay below one step is exact. All other timers are the runtime's. One firing of a
/// runtime timer wakes threads six or seven times, and an idle node woke the processor nine times a second for timers
/// that fired at different instants.
/// </summary>
/// <remarks>
/// A timer does not fire while its callback runs. Before a thread calls callbacks, another thread takes over the wait
/// for the next instant. If a callback hangs, the other thread calls the remaining callbacks one step later. Callbacks
/// run without the execution context of their creator. The threads end with the process, so a process creates one
/// clock.
/// </remarks>
public sealed class CoalescingClock : TimeProvider
{
    private readonly long _started;
    private readonly LinkedList<SharedTimer> _timers = []; // linked, so that a timer is removed at once

    // The lock of all fields except _isTurn. Only the thread that waits for the next instant waits on it.
    private readonly object _gate = new();
    private readonly Queue<SharedTimer> _queue = new(); // the due timers whose callbacks were not called yet
    private TimeSpan _queuedAt;
    private TimeSpan _awaited = TimeSpan.MaxValue; // the end of the current wait
    private bool _hasThread;
    private bool _hasSpare;

    // The lock of _isTurn. The spare thread waits on it until it must wait for the next instant.
    private readonly object _turn = new();
    private bool _isTurn;

    /// <summary>Creates a clock.</summary>
    /// <param name="step">The time between two common instants.</param>
    public CoalescingClock(TimeSpan step)
    {
        Step = step;
        _started = GetTimestamp();
    }

    /// <summary>Creates a clock with common instants two seconds apart.</summary>
    public CoalescingClock()
        : this(TimeSpan.FromSeconds(2)) { }

    /// <summary>The time between two common instants, and the shortest period that they serve.</summary>
    public TimeSpan Step { get; }

    /// <summary>
    /// The longest period that the common instants serve. The callbacks of slower timers may take long, and cost little
    /// on the pool.
    /// </summary>
    public TimeSpan LongestPeriod => 15 * Step;

    private TimeSpan Now => GetElapsedTime(_started);

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        ArgumentNullException.ThrowIfNull(callback);
        if (period < Step || period > LongestPeriod)
        {
            return base.CreateTimer(callback, state, dueTime, period);
        }

        var timer = new SharedTimer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Returns the common instant at which a timer fires that is due at <paramref name="due"/>; both count
    /// from the start.</summary>
    internal TimeSpan InstantOf(TimeSpan due) => new((due.Ticks + Step.Ticks - 1) / Step.Ticks * Step.Ticks);

    /// <summary>
    /// Rounds a wait up to whole milliseconds, so that it does not end just before the instant, and limits it to the
    /// longest wait of the runtime. The caller then waits again.
    /// </summary>
    internal static int MillisecondsOf(TimeSpan wait) =>
        (int)Math.Min(Math.Ceiling(wait.TotalMilliseconds), int.MaxValue);

    private void StartThread() => new Thread(Run) { Name = "clock", IsBackground = true }.UnsafeStart();

    private void Run()
    {
        do
        {
            QueueDue();
            PassTurn();
            while (TakeQueued() is { } timer)
            {
                timer.Fire();
            }
        } while (AwaitTurn());
    }

    /// <summary>
    /// Waits until timers are due, and queues them in the order of their creation. Also returns if a callback hangs, so
    /// that the previous queue was not emptied for one step. Does so once for each callback that hangs.
    /// </summary>
    private void QueueDue()
    {
        lock (_gate)
        {
            while (true)
            {
                var now = Now;
                int before = _queue.Count;
                foreach (var timer in _timers)
                {
                    if (timer.TakeIfDue(now))
                    {
                        _queue.Enqueue(timer);
                    }
                }

                if (_queue.Count > before)
                {
                    _queuedAt = now;
                    return;
                }

                _awaited = _timers.Select(static timer => timer.Instant).DefaultIfEmpty(TimeSpan.MaxValue).Min();
                if (_queue.Count > 0)
                {
                    if (now >= _queuedAt + Step)
                    {
                        _queuedAt = now;
                        return;
                    }

                    _awaited = TimeSpan.FromTicks(Math.Min(_awaited.Ticks, (_queuedAt + Step).Ticks));
                }

                Monitor.Wait(_gate, MillisecondsOf(_awaited - now));
            }
        }
    }

    private SharedTimer? TakeQueued()
    {
        lock (_gate)
        {
            return _queue.TryDequeue(out var timer) ? timer : null;
        }
    }

    /// <summary>Makes another thread wait for the next instant.</summary>
    private void PassTurn()
    {
        lock (_gate)
        {
            if (!_hasSpare)
            {
                StartThread();
                return;
            }

            _hasSpare = false;
        }

        lock (_turn)
        {
            _isTurn = true;
            Monitor.Pulse(_turn);
        }
    }

    /// <summary>Waits, as the spare thread, until it is this thread's turn.</summary>
    /// <returns>False at once if there is a spare thread already.</returns>
    private bool AwaitTurn()
    {
        lock (_gate)
        {
            if (_hasSpare)
            {
                return false;
            }

            _hasSpare = true;
        }

        lock (_turn)
        {
            while (!_isTurn)
            {
                Monitor.Wait(_turn);
            }

            _isTurn = false;
        }

        return true;
    }

    /// <summary>A timer that fires at the common instants. Its fields are guarded by the clock's lock.</summary>
    private sealed class SharedTimer(CoalescingClock clock, TimerCallback callback, object? state) : ITimer
    {
        private readonly LinkedListNode<SharedTimer> _place = new(null!);
        private TimeSpan _due;
        private TimeSpan _period;
        private bool _isRunning;
        private bool _isMissed; // a single firing was due while the callback ran
        private bool _isDisposed;
        private TaskCompletionSource? _ended;

        /// <summary>The time at which the timer fires.</summary>
        public TimeSpan Instant { get; private set; } = TimeSpan.MaxValue;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            ThrowIfInvalid(dueTime);
            ThrowIfInvalid(period);
            lock (clock._gate)
            {
                if (_isDisposed)
                {
                    return false;
                }

                Remove();
                _period = period;
                _isMissed = false;
                Instant = TimeSpan.MaxValue;
                if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    _due = clock.Now + dueTime;
                    Instant = dueTime < clock.Step ? _due : clock.InstantOf(_due);
                    _place.Value = this;
                    clock._timers.AddLast(_place);
                }

                if (!clock._hasThread)
                {
                    clock._hasThread = true;
                    clock.StartThread();
                }
                else if (Instant < clock._awaited)
                {
                    Monitor.Pulse(clock._gate);
                }
            }

            return true;
        }

        /// <summary>Schedules the next firing if this one is due. Called with the clock's lock.</summary>
        /// <returns>Whether the callback is to be called.</returns>
        public bool TakeIfDue(TimeSpan now)
        {
            if (Instant > now)
            {
                return false;
            }

            bool isFree = !_isRunning;
            _isRunning = true;
            if (_period <= TimeSpan.Zero)
            {
                _isMissed = !isFree;
                Instant = TimeSpan.MaxValue;
                return isFree;
            }

            // Instants that passed meanwhile are skipped.
            long periods = ((now - _due).Ticks / _period.Ticks) + 1;
            _due += periods * _period;
            Instant = _period < clock.Step ? _due : clock.InstantOf(_due);
            return isFree;
        }

        /// <summary>Calls the callback.</summary>
        public void Fire()
        {
            bool isDisposed;
            lock (clock._gate)
            {
                isDisposed = _isDisposed;
            }

            if (!isDisposed)
            {
                callback(state);
            }

            lock (clock._gate)
            {
                _isRunning = false;
                if (_isMissed && !_isDisposed)
                {
                    _isMissed = false;
                    Instant = clock.Now;
                    Monitor.Pulse(clock._gate);
                }
            }

            _ended?.TrySetResult();
        }

        public void Dispose()
        {
            lock (clock._gate)
            {
                _isDisposed = true;
                Remove();
            }
        }

        /// <summary>Ends the timer, and completes when its callback no longer runs.</summary>
        public ValueTask DisposeAsync()
        {
            lock (clock._gate)
            {
                _isDisposed = true;
                Remove();
                if (!_isRunning)
                {
                    return ValueTask.CompletedTask;
                }

                _ended ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                return new ValueTask(_ended.Task);
            }
        }

        // Called with the clock's lock.
        private void Remove() => _place.List?.Remove(_place);

        private static void ThrowIfInvalid(TimeSpan time)
        {
            if (time != Timeout.InfiniteTimeSpan)
            {
                ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.Zero);
                ArgumentOutOfRangeException.ThrowIfGreaterThan(time.TotalMilliseconds, uint.MaxValue - 1);
            }
        }
    }
}
