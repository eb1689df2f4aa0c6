namespace Rookery.Platform;

/// <summary>
/// Records the disk operations of a node. Keeps the most recent ones individually, a roll-up for each second and kind
/// for 24 hours, and slow operations: those of 10 ms or more that are slower than 99.9 % of their kind. Memory grows
/// with use, to at most about 5.7 MiB. Thread-safe. Recording takes a short lock, and allocates only a chunk of 16 KiB
/// every few minutes.
/// </summary>
public sealed class IoTimeline : IIoRecorder
{
    /// <summary>A journal sync longer than this, in microseconds, is reported to <see cref="SlowSyncSeen"/>.</summary>
    public const long SlowSyncMicroseconds = 1_000_000;

    /// <summary>Number of preceding syncs that are reported with a slow one.</summary>
    public const int RecentSyncs = 32;

    /// <summary>One more than the largest <see cref="IoKind"/>.</summary>
    private const int Kinds = (int)IoKind.JournalSpare + 1;
    private const int RawEvents = 8192;
    private const int SlowEventsPerKind = 1024;
    private const int RollUpBytes = 5 * 1024 * 1024;
    private const double SlowFraction = 0.999;

    /// <summary>
    /// An operation shorter than this, in microseconds, never counts as slow, however fast others of its kind are.
    /// </summary>
    private const long MinSlowMicroseconds = 10_000;

    /// <summary>
    /// The p99.9 of a kind is recomputed only after this many of its operations, because that reads 272 counts.
    /// </summary>
    private const int EventsPerEstimate = 256;

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private long _createdUnixMicroseconds;
    private readonly EventRing _raw = new(RawEvents);
    private readonly EventRing _syncs = new(RecentSyncs);
    private readonly RollUpHistory _history = new(RollUpBytes);
    private readonly KindState?[] _kinds = new KindState?[Kinds];
    private long _currentSecond;

    /// <summary>Makes an empty timeline.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="journalDevice">The result of <see cref="IDisk.DeviceOf"/> for the journal's directory.</param>
    /// <param name="dataDevice">The result of <see cref="IDisk.DeviceOf"/> for the data directory; null if it is the
    /// same device.</param>
    public IoTimeline(TimeProvider time, string journalDevice, string? dataDevice = null)
    {
        _time = time;
        JournalDevice = journalDevice;
        DataDevice = dataDevice ?? journalDevice;
        _createdUnixMicroseconds = UnixMicroseconds();
    }

    /// <summary>
    /// The kernel's name for the device of the journal, which serves <see cref="IoKind.JournalWrite"/>,
    /// <see cref="IoKind.JournalSync"/> and <see cref="IoKind.JournalSpare"/>.
    /// </summary>
    public string JournalDevice { get; }

    /// <summary>The kernel's name for the device of all other data.</summary>
    public string DataDevice { get; }

    /// <summary>
    /// Called after a journal sync that took longer than a second, on the recording thread. Must return at once.
    /// </summary>
    public Action<SlowSync>? SlowSyncSeen { get; set; }

    /// <inheritdoc/>
    public long Begin() => _time.GetTimestamp();

    /// <inheritdoc/>
    public void Record(IoKind kind, long begun, long bytes)
    {
        long microseconds = (long)_time.GetElapsedTime(begun).TotalMicroseconds;
        SlowSync? slow = null;
        lock (_gate)
        {
            // The clock is read under the lock, so that events are ordered by their end.
            long end = UnixMicroseconds();
            _createdUnixMicroseconds = Math.Min(_createdUnixMicroseconds, end);
            var added = new IoEvent(kind, end - microseconds, microseconds, bytes);
            BeginSecond(end / 1_000_000);
            _raw.Add(added);
            var state = _kinds[(int)kind] ??= new KindState(kind);
            state.Add(added);
            if (kind == IoKind.JournalSync)
            {
                slow =
                    microseconds > SlowSyncMicroseconds
                        ? new SlowSync(JournalDevice, added, Collect(_syncs, long.MinValue, long.MaxValue))
                        : null;
                _syncs.Add(added);
            }
        }

        if (slow is not null)
        {
            SlowSyncSeen?.Invoke(slow);
        }
    }

    /// <summary>Returns the most recent operations, at most 8,192, that ended after a time; oldest first.</summary>
    /// <param name="unixMicroseconds">Microseconds since 1970 UTC.</param>
    public IReadOnlyList<IoEvent> EventsSince(long unixMicroseconds)
    {
        lock (_gate)
        {
            return Collect(_raw, unixMicroseconds, long.MaxValue);
        }
    }

    /// <summary>
    /// Returns the most recent operations, at most 8,192, that ended after one time and not after another, with the
    /// time range for which they are complete.
    /// </summary>
    /// <param name="sinceUnixMicroseconds">Microseconds since 1970 UTC.</param>
    /// <param name="untilUnixMicroseconds">Microseconds since 1970 UTC.</param>
    public IoEventPage EventsBetween(long sinceUnixMicroseconds, long untilUnixMicroseconds)
    {
        lock (_gate)
        {
            // More operations may still end in the current microsecond.
            long now = UnixMicroseconds();
            long until = Math.Min(untilUnixMicroseconds, now - 1);

            // If the clock was set back to a time before the creation, all operations since that time are recorded.
            _createdUnixMicroseconds = Math.Min(_createdUnixMicroseconds, now);
            long from = Math.Max(sinceUnixMicroseconds, Math.Max(_createdUnixMicroseconds - 1, _raw.ForgottenUntil));
            return new IoEventPage(Collect(_raw, sinceUnixMicroseconds, until), from, until);
        }
    }

    /// <summary>
    /// Returns the slow operations that ended after a time: 10 ms or more, and slower than 99.9 % of the recent ones of
    /// their kind. At most the last 1,024 of each kind, ordered by their start.
    /// </summary>
    /// <param name="sinceUnixMicroseconds">Microseconds since 1970 UTC.</param>
    /// <param name="untilUnixMicroseconds">Operations that ended later are omitted.</param>
    public IReadOnlyList<IoEvent> SlowEventsSince(
        long sinceUnixMicroseconds,
        long untilUnixMicroseconds = long.MaxValue
    )
    {
        var events = new List<IoEvent>();
        lock (_gate)
        {
            foreach (var kind in _kinds)
            {
                kind?.Slow.Collect(sinceUnixMicroseconds, untilUnixMicroseconds, events);
            }
        }

        events.Sort((one, other) => one.StartUnixMicroseconds.CompareTo(other.StartUnixMicroseconds));
        return events;
    }

    /// <summary>
    /// Returns roll-ups of the seconds in a range, combined into spans of <paramref name="spanSeconds"/>. Spans and
    /// kinds without operations are omitted.
    /// </summary>
    /// <param name="fromUnixSecond">The first second, since 1970 UTC. Roll-ups older than 24 hours are not
    /// kept.</param>
    /// <param name="toUnixSecond">The second after the last, since 1970 UTC.</param>
    /// <param name="spanSeconds">The length of a span in seconds; spans begin at multiples of it.</param>
    /// <returns>Roll-ups of 48 bytes each, ordered by time, then kind. (For a day, request spans of minutes, not of
    /// seconds.) After the clock was set back, a span may occur twice.</returns>
    public IReadOnlyList<IoRollUp> RollUps(long fromUnixSecond, long toUnixSecond, int spanSeconds = 1)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(spanSeconds);
        RollUpHistory.Snapshot closed;
        var running = new List<IoRollUp>();
        long oldest;
        lock (_gate)
        {
            oldest = Math.Max(fromUnixSecond, (UnixMicroseconds() / 1_000_000) - RollUpHistory.KeptSeconds);
            closed = _history.TakeSnapshot();
            foreach (var kind in _kinds)
            {
                if (kind is { Current.Count: > 0 } && _currentSecond >= oldest && _currentSecond < toUnixSecond)
                {
                    running.Add(kind.Current with { UnixSecond = _currentSecond });
                }
            }
        }

        return CombineIntoSpans(closed.Between(oldest, toUnixSecond).Concat(running), spanSeconds);
    }

    /// <summary>Returns the sum of all operations of a kind since the start of the process, with second 0.</summary>
    public IoRollUp TotalOf(IoKind kind)
    {
        lock (_gate)
        {
            return _kinds[(int)kind]?.Total
                ?? new IoRollUp(UnixSecond: 0, kind, Count: 0, Bytes: 0, TotalMicroseconds: 0, MaxMicroseconds: 0);
        }
    }

    /// <summary>
    /// Returns a duration that <paramref name="fraction"/> (0 to 1) of the recent operations of a kind do not exceed,
    /// in microseconds, at most 12.5 % too high; 0 if there are none.
    /// </summary>
    public long PercentileMicroseconds(IoKind kind, double fraction)
    {
        lock (_gate)
        {
            return _kinds[(int)kind]?.Durations.Percentile(fraction) ?? 0;
        }
    }

    private static List<IoRollUp> CombineIntoSpans(IEnumerable<IoRollUp> rollUps, int spanSeconds)
    {
        var spans = new List<IoRollUp>();
        var span = new IoRollUp[Kinds];
        long begin = long.MinValue;
        foreach (var rollUp in rollUps)
        {
            long second = rollUp.UnixSecond - (rollUp.UnixSecond % spanSeconds);
            if (second != begin)
            {
                Close();
                begin = second;
            }

            ref var sum = ref span[(int)rollUp.Kind];
            sum = sum.Count == 0 ? rollUp with { UnixSecond = second } : sum.Plus(rollUp);
        }

        Close();
        return spans;

        void Close()
        {
            spans.AddRange(span.Where(sum => sum.Count > 0));
            Array.Clear(span);
        }
    }

    private static List<IoEvent> Collect(EventRing ring, long sinceUnixMicroseconds, long untilUnixMicroseconds)
    {
        var events = new List<IoEvent>();
        ring.Collect(sinceUnixMicroseconds, untilUnixMicroseconds, events);
        return events;
    }

    private long UnixMicroseconds() =>
        (_time.GetUtcNow().UtcTicks - DateTime.UnixEpoch.Ticks) / TimeSpan.TicksPerMicrosecond;

    /// <summary>
    /// Closes the current second when another has begun. That may be an earlier one, because the clock may be set back.
    /// </summary>
    private void BeginSecond(long second)
    {
        if (second == _currentSecond)
        {
            return;
        }

        foreach (var kind in _kinds)
        {
            if (kind is { Current.Count: > 0 })
            {
                _history.Add(kind.Current with { UnixSecond = _currentSecond });
                kind.BeginSecond();
            }
        }

        _currentSecond = second;
    }

    /// <summary>The statistics of one kind.</summary>
    private sealed class KindState(IoKind kind)
    {
        private long _percentileMicroseconds;
        private int _eventsUntilEstimate = 1;

        internal IoRollUp Current { get; private set; } =
            new(UnixSecond: 0, kind, Count: 0, Bytes: 0, TotalMicroseconds: 0, MaxMicroseconds: 0);

        internal IoRollUp Total { get; private set; } =
            new(UnixSecond: 0, kind, Count: 0, Bytes: 0, TotalMicroseconds: 0, MaxMicroseconds: 0);

        internal DurationHistogram Durations { get; } = new();

        internal EventRing Slow { get; } = new(SlowEventsPerKind);

        internal void Add(in IoEvent added)
        {
            var rollUp = new IoRollUp(
                UnixSecond: 0,
                kind,
                Count: 1,
                added.Bytes,
                added.DurationMicroseconds,
                added.DurationMicroseconds
            );
            Current = Current.Plus(rollUp);
            Total = Total.Plus(rollUp);
            if (
                added.DurationMicroseconds > _percentileMicroseconds
                && added.DurationMicroseconds >= MinSlowMicroseconds
                && Total.Count > 1
            )
            {
                Slow.Add(added);
            }

            Durations.Add(added.DurationMicroseconds);
            _eventsUntilEstimate--;
            if (_eventsUntilEstimate == 0 || Total.Count <= EventsPerEstimate)
            {
                _percentileMicroseconds = Durations.Percentile(SlowFraction);
                _eventsUntilEstimate = EventsPerEstimate;
            }
        }

        internal void BeginSecond() =>
            Current = new IoRollUp(UnixSecond: 0, kind, Count: 0, Bytes: 0, TotalMicroseconds: 0, MaxMicroseconds: 0);
    }
}
