namespace Rookery.Raft;

/// <summary>
/// The cluster's time: members answer heartbeats with their clocks, the leader judges them and says in its heartbeats
/// what time it is, so that who leads next goes on from there. Not part of Raft, whose safety needs no clock.
/// </summary>
internal sealed class VoterClocks(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private readonly ClusterClock _clock = new(state.Rules);
    private (long Difference, bool IsSure)? _own;
    private bool _knowsLogTime;
    private bool _isDoubted;

    /// <inheritdoc cref="RaftCore.ClockVerdict"/>
    public ClockVerdict Verdict => _clock.Verdict;

    /// <summary>The own clock now; the default before it was read.</summary>
    public ClockReading Own => ClusterClock.ReadingOf(_own, state.Now);

    /// <inheritdoc cref="RaftCore.ReadClock"/>
    public ClockReading Read(long nowMicroseconds) => _clock.At(nowMicroseconds);

    /// <inheritdoc cref="RaftCore.TimeAfter"/>
    public LogTime TimeAfter(long nowMicroseconds, long lastTicks)
    {
        var reading = _clock.At(nowMicroseconds);
        return new LogTime(
            Math.Max(lastTicks + 1, reading.UtcTicks),
            state.Rules.IsSteady(reading.IsSure, lastTicks, _clock.SteadySinceTicks)
        );
    }

    /// <summary>A new leader judges no clocks before it knows the log's last time: a jump is one from there.</summary>
    public void BeginLeading() => _knowsLogTime = false;

    public void TakeOwn(ClockReading reading)
    {
        _own = (ClusterClock.DifferenceOf(reading.UtcTicks, state.Now), reading.IsSure);
        Judge();
    }

    public void TakeOf(Progress peer, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            peer.Clock = (ClusterClock.DifferenceOf(reading.UtcTicks, state.Now), reading.IsSure);
            peer.ClockReadAt = state.Now;
            Judge();
        }
    }

    public void TakeLogTime(long ticks)
    {
        if (state.IsLeader)
        {
            _clock.HearLogTime(state.Now, ticks);
            _knowsLogTime = true;
            Judge();
        }
    }

    public void HearLeader(ClockReading reading) => _clock.HearLeader(state.Now, reading);

    /// <summary>An operator says that the voters' clocks are right.</summary>
    public ClockAnswer Confirm()
    {
        if (!state.IsLeader || !_knowsLogTime)
        {
            return ClockAnswer.NotLeader;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        if (!_clock.Confirm(state.Now, clocks[..CollectOfVoters(clocks)], state.Configuration.Majority))
        {
            return ClockAnswer.ClocksDiffer;
        }

        Coverage.Took(RareBranch.ClockConfirmed);
        Judge();
        return ClockAnswer.Confirmed;
    }

    private void Judge()
    {
        if (!state.IsLeader || !_knowsLogTime)
        {
            return;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MostVoters];
        _clock.Judge(
            state.Now,
            state.IsVoter ? _own : null,
            clocks[..CollectOfVoters(clocks)],
            state.Configuration.Majority
        );
        if (_isDoubted ? _clock.IsSure : _clock.Verdict == ClockVerdict.Doubted)
        {
            _isDoubted = !_isDoubted;
            outbox.Output.Tell(_isDoubted ? CoreEvent.ClockDoubted : CoreEvent.ClockTrusted, state.Self);
        }
    }

    /// <summary>The clocks of voters that answered lately.</summary>
    private int CollectOfVoters(Span<(long Difference, bool IsSure)> clocks)
    {
        long lately = state.Now - (2 * state.ElectionTimeoutMicroseconds);
        int count = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            var clock =
                voter == state.Self ? _own
                : tracker.Find(voter) is { } peer && peer.ClockReadAt >= lately ? peer.Clock
                : null;
            if (clock is { } known)
            {
                clocks[count++] = known;
            }
        }

        return count;
    }
}
