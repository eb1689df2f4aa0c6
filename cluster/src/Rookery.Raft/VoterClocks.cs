namespace Rookery.Raft;

/// <summary>
/// The exchange of clock readings. Members send their readings in heartbeat replies. The leader derives the cluster's
/// time and sends it in heartbeats, so the next leader continues from it. Not part of Raft, whose safety needs no
/// clock.
/// </summary>
internal sealed class VoterClocks(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private readonly ClusterClock _clock = new(state.Rules);
    private (long Difference, bool IsSure)? _own;
    private bool _knowsLogTime;
    private bool _isDoubted;

    /// <inheritdoc cref="RaftCore.ClockVerdict"/>
    public ClockVerdict Verdict => _clock.Verdict;

    /// <summary>This node's own clock; the default before it was read.</summary>
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

    /// <summary>
    /// Resets the leader's state. A new leader judges clocks only once it knows the last log time, because a jump is
    /// measured from that time.
    /// </summary>
    public void BeginLeading() => _knowsLogTime = false;

    public void RecordOwn(ClockReading reading)
    {
        _own = (ClusterClock.DifferenceOf(reading.UtcTicks, state.Now), reading.IsSure);
        Judge();
    }

    public void RecordPeer(Progress peer, ClockReading reading)
    {
        if (reading.UtcTicks > 0)
        {
            peer.Clock = (ClusterClock.DifferenceOf(reading.UtcTicks, state.Now), reading.IsSure);
            peer.ClockReadAt = state.Now;
            Judge();
        }
    }

    public void RecordLogTime(long ticks)
    {
        if (state.IsLeader)
        {
            _clock.StartAtLogTime(state.Now, ticks);
            _knowsLogTime = true;
            Judge();
        }
    }

    public void AdoptLeaderTime(ClockReading reading) => _clock.AdoptLeaderTime(state.Now, reading);

    /// <summary>Accepts the voters' clocks, on an operator's order.</summary>
    public ClockAnswer Confirm()
    {
        if (!state.IsLeader || !_knowsLogTime)
        {
            return ClockAnswer.NotLeader;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MaxVoters];
        if (!_clock.Confirm(state.Now, clocks[..CollectOfVoters(clocks)], state.Configuration.Majority))
        {
            return ClockAnswer.ClocksDiffer;
        }

        Coverage.Count(RareBranch.ClockConfirmed);
        Judge();
        return ClockAnswer.Confirmed;
    }

    private void Judge()
    {
        if (!state.IsLeader || !_knowsLogTime)
        {
            return;
        }

        Span<(long Difference, bool IsSure)> clocks = stackalloc (long, bool)[Configuration.MaxVoters];
        _clock.Judge(
            state.Now,
            state.IsVoter ? _own : null,
            clocks[..CollectOfVoters(clocks)],
            state.Configuration.Majority
        );

        // Report only when the doubt begins and when it ends.
        bool doubtBegins = !_isDoubted && _clock.Verdict == ClockVerdict.Doubted;
        bool doubtEnds = _isDoubted && _clock.IsSure;
        if (doubtBegins || doubtEnds)
        {
            _isDoubted = doubtBegins;
            outbox.Output.Report(_isDoubted ? CoreEvent.ClockDoubted : CoreEvent.ClockTrusted, state.Self);
        }
    }

    /// <summary>Collects the clocks that voters reported within the last two election timeouts.</summary>
    /// <returns>The number of clocks written to <paramref name="clocks"/>.</returns>
    private int CollectOfVoters(Span<(long Difference, bool IsSure)> clocks)
    {
        long earliest = state.Now - (2 * state.ElectionTimeoutMicroseconds);
        int count = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            var clock = voter == state.Self ? _own : ClockOfPeer(voter, readSince: earliest);
            if (clock is { } reported)
            {
                clocks[count] = reported;
                count++;
            }
        }

        return count;
    }

    private (long Difference, bool IsSure)? ClockOfPeer(NodeId voter, long readSince) =>
        tracker.Find(voter) is { } peer && peer.ClockReadAt >= readSince ? peer.Clock : null;
}
