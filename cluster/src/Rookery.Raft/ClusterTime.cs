namespace Rookery.Raft;

/// <summary>The time of an entry.</summary>
/// <param name="Ticks">UTC ticks, later than that of the entry before.</param>
/// <param name="IsSteady">Whether no more lies between the time of the entry before and this one than passed. Else what
/// is older may be younger than it seems, and must not be forgotten for its age.</param>
public readonly record struct LogTime(long Ticks, bool IsSteady);

/// <summary>
/// The cluster's time: members answer heartbeats with their clocks, the leader judges them and says in its heartbeats
/// what time it is, so that who leads next goes on from there. Not part of Raft, whose safety needs no clock.
/// </summary>
public sealed partial class RaftCore
{
    private readonly ClusterClock _clusterClock;
    private (long Difference, bool IsSure)? _ownClock;
    private bool _knowsLogTime;
    private bool _isClockDoubted;

    /// <summary>The cluster's time, as far as this node knows it.</summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    public ClockReading ReadClock(long nowMicroseconds) => _clusterClock.At(nowMicroseconds);

    /// <summary>What this node makes of the voters' clocks while it leads.</summary>
    public ClockVerdict ClockVerdict => _clusterClock.Verdict;

    /// <summary>
    /// The time of an entry that follows one of <paramref name="lastTicks"/>: it never falls, whatever clocks do.
    /// </summary>
    /// <param name="nowMicroseconds">The time that inputs carry.</param>
    /// <param name="lastTicks">The time of the last entry that has one.</param>
    public LogTime TimeAfter(long nowMicroseconds, long lastTicks)
    {
        var reading = _clusterClock.At(nowMicroseconds);
        return new LogTime(
            Math.Max(lastTicks + 1, reading.UtcTicks),
            _rules.IsSteady(reading.IsSure, lastTicks, _clusterClock.SteadySinceTicks)
        );
    }

    private void OnClock(ClockReading reading)
    {
        _ownClock = (ClusterClock.DifferenceOf(reading.UtcTicks, _now), reading.IsSure);
        JudgeClocks();
    }

    private void OnLogTime(long ticks)
    {
        if (Role == Role.Leader)
        {
            _clusterClock.HearLogTime(_now, ticks);
            _knowsLogTime = true;
            JudgeClocks();
        }
    }

    private void TakeClock(Progress peer, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            (peer.Clock, peer.ClockReadAt) = (
                (ClusterClock.DifferenceOf(reading.UtcTicks, _now), reading.IsSure),
                _now
            );
            JudgeClocks();
        }
    }

    private ClockReading OwnClock() =>
        _ownClock is var (difference, isSure)
            ? new ClockReading(ClusterClock.TicksAt(difference, _now), isSure)
            : default;

    /// <summary>Not before the log's last time is known: a jump is one from there.</summary>
    private void JudgeClocks()
    {
        if (Role != Role.Leader || !_knowsLogTime)
        {
            return;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        _clusterClock.Judge(
            _now,
            Configuration.IsVoter(Self) ? _ownClock : null,
            clocks[..ClocksOfVoters(clocks)],
            Configuration.Majority
        );
        if (_isClockDoubted ? _clusterClock.IsSure : _clusterClock.Verdict == ClockVerdict.Doubted)
        {
            _isClockDoubted = !_isClockDoubted;
            _output.Tell(_isClockDoubted ? CoreEvent.ClockDoubted : CoreEvent.ClockTrusted, Self);
        }
    }

    private ClockAnswer OnConfirmClock()
    {
        if (Role != Role.Leader || !_knowsLogTime)
        {
            return ClockAnswer.NotLeader;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        if (!_clusterClock.Confirm(_now, clocks[..ClocksOfVoters(clocks)], Configuration.Majority))
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
            var clock =
                voter == Self ? _ownClock
                : Find(voter) is { } peer && _now - peer.ClockReadAt <= 2 * ElectionTimeoutMicroseconds ? peer.Clock
                : null;
            if (clock is { } known)
            {
                clocks[count++] = known;
            }
        }

        return count;
    }
}
