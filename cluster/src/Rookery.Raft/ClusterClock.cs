namespace Rookery.Raft;

/// <summary>
/// The cluster's time. The leader derives it from the voters' clocks and sends it to the other members. Between
/// readings, and while the clocks disagree, it advances by this node's monotonic time. It jumps only when a majority of
/// the voters reports synchronised clocks, or when an operator confirms.
/// </summary>
/// <remarks>
/// A clock is stored as its difference to this node's monotonic time. The difference stays correct until that clock is
/// set.
/// </remarks>
internal sealed class ClusterClock(SafetyRules rules)
{
    /// <summary>A clock agrees when it is within this distance of the median of the voters' clocks.</summary>
    public const long AgreementTicks = TimeSpan.TicksPerMinute;

    /// <summary>A larger difference is a jump of the clock, not drift or a short pause.</summary>
    public const long JumpTicks = 10 * TimeSpan.TicksPerMinute;

    /// <summary>
    /// The earliest plausible time: this code did not exist earlier. While the log has no time, the cluster accepts
    /// only times from here through <see cref="PlausibleTicks"/> later.
    /// </summary>
    /// <remarks>1 January 2026, UTC, in ticks since year 1.</remarks>
    public const long EarliestTicks = 639_028_224_000_000_000;

    // Ten years.
    private const long PlausibleTicks = 3653 * TimeSpan.TicksPerDay;
    private const long TicksPerMicrosecond = TimeSpan.TicksPerMicrosecond;

    // The cluster's time minus this node's monotonic time, in ticks; 0 while _isKnown is false.
    private long _difference;
    private bool _isKnown;

    /// <summary>
    /// Whether the time is not in doubt: no majority of clocks agrees on another time, and this node has received the
    /// time from clocks or a leader since its start.
    /// </summary>
    public bool IsSure { get; private set; }

    /// <summary>The result of the last judgement.</summary>
    public ClockVerdict Verdict { get; private set; }

    /// <summary>
    /// The cluster's time just after its last forward jump. What was written before the jump may look older than it is.
    /// </summary>
    public long SteadySinceTicks { get; private set; }

    /// <summary>Returns the present reading of a clock, in ticks, from its difference to the monotonic time.</summary>
    public static long TicksAt(long difference, long now) => difference + (now * TicksPerMicrosecond);

    /// <summary>Returns a clock's difference to the monotonic time.</summary>
    public static long DifferenceOf(long ticks, long now) => ticks - (now * TicksPerMicrosecond);

    /// <summary>Returns the reading of a clock with a known difference; the default when it is unknown.</summary>
    public static ClockReading ReadingOf((long Difference, bool IsSure)? clock, long now) =>
        clock is { } known ? new ClockReading(TicksAt(known.Difference, now), known.IsSure) : default;

    /// <summary>Returns the cluster's time; the default when it is unknown.</summary>
    public ClockReading At(long now) => _isKnown ? new ClockReading(TicksAt(_difference, now), IsSure) : default;

    /// <summary>Adopts the time that the leader sent.</summary>
    public void AdoptLeaderTime(long now, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            Set(now, DifferenceOf(reading.UtcTicks, now));
            IsSure = reading.IsSure;
        }
    }

    /// <summary>
    /// Sets the time to the last log time (0 for none), unless this node has received a time since its start.
    /// </summary>
    public void StartAtLogTime(long now, long ticks)
    {
        if (!_isKnown && ticks > 0)
        {
            _difference = DifferenceOf(ticks, now);
            _isKnown = true;
            SteadySinceTicks = ticks;
        }
    }

    /// <summary>Compares the voters' clocks, and sets the time from them if they agree well enough.</summary>
    /// <param name="now">The monotonic time in microseconds.</param>
    /// <param name="own">This node's own clock; null when it is unknown or this node is not a voter.</param>
    /// <param name="clocks">The known clocks of all voters, including this node's own. This method sorts them in
    /// place.</param>
    /// <param name="majority">The number of voters in a majority.</param>
    public void Judge(
        long now,
        (long Difference, bool IsSure)? own,
        Span<(long Difference, bool IsSure)> clocks,
        int majority
    )
    {
        if (clocks.Length < majority)
        {
            return;
        }

        long median = MedianOf(clocks);
        var (agreeing, sure) = CountAround(median, clocks);
        long reference = rules.ClockToFollow(median, own?.Difference ?? median, isOwnSure: own is { IsSure: true });
        if (
            rules.MayAdoptTime(
                isConfirmed: sure >= majority,
                agrees: agreeing >= majority,
                isNear: IsNear(now, reference)
            )
        )
        {
            if (_isKnown && Math.Abs(reference - _difference) > JumpTicks)
            {
                Coverage.Count(RareBranch.ClockJumpTaken);
            }

            Set(now, reference);
            IsSure = true;
            Verdict = ClockVerdict.Taken;
        }
        else if (agreeing >= majority)
        {
            Coverage.Count(RareBranch.ClockJumpDoubted);
            StartAtEarliestUnlessKnown(now);
            IsSure = false;
            Verdict = ClockVerdict.Doubted;
        }
        else
        {
            // No majority of the clocks shows another time, so IsSure stays unchanged.
            Coverage.Count(RareBranch.ClocksDiffer);
            StartAtEarliestUnlessKnown(now);
            Verdict = ClockVerdict.Differ;
        }
    }

    /// <summary>Adopts the median of the voters' clocks, on an operator's order.</summary>
    /// <returns>Whether a majority of the clocks agrees on a time.</returns>
    public bool Confirm(long now, Span<(long Difference, bool IsSure)> clocks, int majority)
    {
        if (clocks.Length < majority)
        {
            return false;
        }

        long median = MedianOf(clocks);
        if (CountAround(median, clocks).Agreeing < majority)
        {
            return false;
        }

        Set(now, median);
        IsSure = true;
        return true;
    }

    /// <summary>
    /// Sorts the clocks and returns the median (the lower one if their number is even). Any majority of agreeing clocks
    /// contains the median.
    /// </summary>
    private static long MedianOf(Span<(long Difference, bool IsSure)> clocks)
    {
        clocks.Sort(static (one, other) => one.Difference.CompareTo(other.Difference));
        return clocks[(clocks.Length - 1) / 2].Difference;
    }

    private static (int Agreeing, int Sure) CountAround(
        long median,
        ReadOnlySpan<(long Difference, bool IsSure)> clocks
    )
    {
        int agreeing = 0;
        int sure = 0;
        foreach (var (clock, isSure) in clocks)
        {
            bool agrees = Math.Abs(clock - median) <= AgreementTicks;
            agreeing += agrees ? 1 : 0;
            sure += agrees && isSure ? 1 : 0;
        }

        return (agreeing, sure);
    }

    /// <summary>
    /// Whether a time is within <see cref="JumpTicks"/> of this clock. If no time is known yet: whether that time is
    /// plausible.
    /// </summary>
    private bool IsNear(long now, long reference) =>
        _isKnown
            ? Math.Abs(reference - _difference) <= JumpTicks
            : TicksAt(reference, now) >= EarliestTicks && TicksAt(reference, now) <= EarliestTicks + PlausibleTicks;

    private void StartAtEarliestUnlessKnown(long now)
    {
        if (!_isKnown)
        {
            Coverage.Count(RareBranch.ClockImplausible);
            Set(now, DifferenceOf(EarliestTicks, now));
        }
    }

    private void Set(long now, long difference)
    {
        if (!_isKnown || difference - _difference > JumpTicks)
        {
            SteadySinceTicks = TicksAt(difference, now);
        }

        _difference = difference;
        _isKnown = true;
    }
}
