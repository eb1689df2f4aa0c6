namespace Rookery.Raft;

/// <summary>
/// What time it is for the cluster, by the clocks of its voters: the leader judges, the others hear it. Between two
/// readings, and while the clocks make no sense, it goes on by the monotonic time of this node. A clock that is wrong
/// by decades moves it only with a majority of voters that say to be synchronised, or with the operator's word.
/// </summary>
/// <remarks>
/// Keeps differences to the monotonic time, so that a reading is right until the clock that it came from is set.
/// </remarks>
internal sealed class ClusterClock(SafetyRules rules)
{
    /// <summary>Clocks agree that are this close to the voters' median.</summary>
    public const long AgreementTicks = TimeSpan.TicksPerMinute;

    /// <summary>More than this is no drift and no short stop, but a jump.</summary>
    public const long JumpTicks = 10 * TimeSpan.TicksPerMinute;

    /// <summary>
    /// No program that runs this code ran before. A cluster whose log knows no time yet believes no clock before it,
    /// nor one that is <see cref="PlausibleTicks"/> later.
    /// </summary>
    /// <remarks>The first of January 2026, UTC, in ticks since the year 1: this core knows no calendar.</remarks>
    public const long EarliestTicks = 639_028_224_000_000_000;

    private const long PlausibleTicks = 3653 * TimeSpan.TicksPerDay;
    private const long TicksPerMicrosecond = TimeSpan.TicksPerMicrosecond;

    private long _difference;
    private bool _isKnown;

    /// <summary>
    /// Whether nothing speaks against it: no clocks that agree on another time, and no start since anybody knew it.
    /// </summary>
    public bool IsSure { get; private set; }

    /// <summary>What was made of the clocks last.</summary>
    public ClockVerdict Verdict { get; private set; }

    /// <summary>
    /// Since when, by its own time, it went as time goes. What the log's last time is older than may be less long ago
    /// than it seems.
    /// </summary>
    public long SteadySinceTicks { get; private set; }

    /// <summary>What a clock shows that is so far from the monotonic time.</summary>
    public static long TicksAt(long difference, long now) => difference + (now * TicksPerMicrosecond);

    /// <summary>How far a clock is from the monotonic time.</summary>
    public static long DifferenceOf(long ticks, long now) => ticks - (now * TicksPerMicrosecond);

    /// <summary>What a clock of a known difference shows; the default of one that is not known.</summary>
    public static ClockReading ReadingOf((long Difference, bool IsSure)? clock, long now) =>
        clock is var (difference, isSure) ? new ClockReading(TicksAt(difference, now), isSure) : default;

    /// <summary>What it shows.</summary>
    public ClockReading At(long now) => _isKnown ? new ClockReading(TicksAt(_difference, now), IsSure) : default;

    /// <summary>The leader says what time it is.</summary>
    public void HearLeader(long now, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            Set(now, DifferenceOf(reading.UtcTicks, now));
            IsSure = reading.IsSure;
        }
    }

    /// <summary>
    /// The time of the log's end, from which a node goes on that has heard of no leader since its start.
    /// </summary>
    public void HearLogTime(long now, long ticks)
    {
        if (!_isKnown && ticks > 0)
        {
            (_difference, _isKnown, SteadySinceTicks) = (DifferenceOf(ticks, now), true, ticks);
        }
    }

    /// <summary>Judges the voters' clocks.</summary>
    /// <param name="now">The monotonic time.</param>
    /// <param name="own">The difference and worth of the own clock; null when it is not known, or not a
    /// voter's.</param>
    /// <param name="clocks">The differences of all voters' clocks that are known, the own included. They are sorted
    /// here.</param>
    /// <param name="majority">How many voters make a majority.</param>
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
        long reference = rules.TimeToGoBy(median, own?.Difference ?? median, isOwnSure: own is { IsSure: true });
        if (
            rules.MayTakeTime(
                isConfirmed: sure >= majority,
                agrees: agreeing >= majority,
                isNear: IsNear(now, reference)
            )
        )
        {
            if (_isKnown && Math.Abs(reference - _difference) > JumpTicks)
            {
                Coverage.Took(RareBranch.ClockJumpTaken);
            }

            Set(now, reference);
            (IsSure, Verdict) = (true, ClockVerdict.Taken);
        }
        else if (agreeing >= majority)
        {
            Coverage.Took(RareBranch.ClockJumpDoubted);
            BeginUnlessKnown(now);
            (IsSure, Verdict) = (false, ClockVerdict.Doubted);
        }
        else
        {
            // Nobody can say that the time is another: it goes on as sure as it was.
            Coverage.Took(RareBranch.ClocksDiffer);
            BeginUnlessKnown(now);
            Verdict = ClockVerdict.Differ;
        }
    }

    /// <summary>An operator says that the voters' clocks are right.</summary>
    /// <returns>Whether they agree on a time.</returns>
    public bool Confirm(long now, Span<(long Difference, bool IsSure)> clocks, int majority)
    {
        if (
            clocks.Length < majority
            || MedianOf(clocks) is var median && CountAround(median, clocks).Agreeing < majority
        )
        {
            return false;
        }

        Set(now, median);
        return IsSure = true;
    }

    /// <summary>The lower one of two: any majority of agreeing clocks has it among them.</summary>
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
        int agreeing = 0,
            sure = 0;
        foreach (var (clock, isSure) in clocks)
        {
            bool agrees = Math.Abs(clock - median) <= AgreementTicks;
            agreeing += agrees ? 1 : 0;
            sure += agrees && isSure ? 1 : 0;
        }

        return (agreeing, sure);
    }

    /// <summary>
    /// Whether a time is where this clock can have come to by itself; where nobody ever knew the time, whether it can
    /// be true at all.
    /// </summary>
    private bool IsNear(long now, long reference) =>
        _isKnown
            ? Math.Abs(reference - _difference) <= JumpTicks
            : TicksAt(reference, now) >= EarliestTicks && TicksAt(reference, now) <= EarliestTicks + PlausibleTicks;

    private void BeginUnlessKnown(long now)
    {
        if (!_isKnown)
        {
            Coverage.Took(RareBranch.ClockImplausible);
            Set(now, DifferenceOf(EarliestTicks, now));
        }
    }

    private void Set(long now, long taken)
    {
        if (!_isKnown || taken - _difference > JumpTicks)
        {
            SteadySinceTicks = TicksAt(taken, now);
        }

        (_difference, _isKnown) = (taken, true);
    }
}
