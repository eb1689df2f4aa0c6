namespace Rookery.Raft;

/// <summary>The time of an entry.</summary>
/// <param name="Ticks">UTC ticks, later than that of the entry before.</param>
/// <param name="IsSteady">Whether since the entry before no more time passed than lies between the two. Else what is older may be younger than it seems, and must not be forgotten for its age.</param>
public readonly record struct LogTime(long Ticks, bool IsSteady);

/// <summary>
/// The cluster's time: members answer heartbeats with their clocks, the leader judges them and says in its heartbeats what time it is, so that who leads next goes on from there. Not part of
/// Raft, whose safety needs no clock.
/// </summary>
public sealed partial class RaftCore
{
    private readonly ClusterClock clusterClock;
    private (long Difference, bool IsSure)? ownClock;
    private bool knowsLogTime;
    private bool isClockDoubted;

    /// <summary>The cluster's time, as far as this node knows it.</summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    public ClockReading ReadClock(long nowMicroseconds) => clusterClock.At(nowMicroseconds);

    /// <summary>What this node makes of the voters' clocks while it leads.</summary>
    public ClockVerdict ClockVerdict => clusterClock.Verdict;

    /// <summary>The time of an entry that follows one of <paramref name="lastTicks"/>: it never falls, whatever clocks do.</summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    /// <param name="lastTicks">The time of the last entry that has one.</param>
    public LogTime TimeAfter(long nowMicroseconds, long lastTicks)
    {
        var reading = clusterClock.At(nowMicroseconds);
        return new LogTime(Math.Max(lastTicks + 1, reading.UtcTicks), rules.IsSteady(reading.IsSure, lastTicks, clusterClock.SteadySinceTicks));
    }

    private void OnClock(ClockReading reading)
    {
        ownClock = (ClusterClock.DifferenceOf(reading.UtcTicks, now), reading.IsSure);
        JudgeClocks();
    }

    private void OnLogTime(long ticks)
    {
        if (Role == Role.Leader)
        {
            clusterClock.HearLogTime(now, ticks);
            knowsLogTime = true;
            JudgeClocks();
        }
    }

    private void TakeClock(Progress peer, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            (peer.Clock, peer.ClockReadAt) = ((ClusterClock.DifferenceOf(reading.UtcTicks, now), reading.IsSure), now);
            JudgeClocks();
        }
    }

    private ClockReading OwnClock() => ownClock is var (difference, isSure) ? new ClockReading(ClusterClock.TicksAt(difference, now), isSure) : default;

    /// <summary>Not before the log's last time is known: a jump is one from there.</summary>
    private void JudgeClocks()
    {
        if (Role != Role.Leader || !knowsLogTime)
        {
            return;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        clusterClock.Judge(now, Configuration.IsVoter(Self) ? ownClock : null, clocks[..ClocksOfVoters(clocks)], Configuration.Majority);
        if (isClockDoubted ? clusterClock.IsSure : clusterClock.Verdict == ClockVerdict.Doubted)
        {
            isClockDoubted = !isClockDoubted;
            output.Tell(isClockDoubted ? CoreEvent.ClockDoubted : CoreEvent.ClockTrusted, Self);
        }
    }

    private ClockAnswer OnConfirmClock()
    {
        if (Role != Role.Leader || !knowsLogTime)
        {
            return ClockAnswer.NotLeader;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        if (!clusterClock.Confirm(now, clocks[..ClocksOfVoters(clocks)], Configuration.Majority))
        {
            return ClockAnswer.ClocksDiffer;
        }

        Coverage.Took(RareBranch.ClockConfirmed);
        JudgeClocks();
        return ClockAnswer.Confirmed;
    }

    /// <summary>The clocks of voters that answered lately.</summary>
    private int ClocksOfVoters(Span<(long Difference, bool IsSure)> clocks)
    {
        int count = 0;
        foreach (var voter in Configuration.Voters)
        {
            var clock = voter == Self ? ownClock : Find(voter) is { } peer && now - peer.ClockReadAt <= 2 * ElectionTimeoutMicroseconds ? peer.Clock : null;
            if (clock is { } known)
            {
                clocks[count++] = known;
            }
        }

        return count;
    }
}
