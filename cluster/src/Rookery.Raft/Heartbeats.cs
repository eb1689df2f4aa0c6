namespace Rookery.Raft;

/// <summary>
/// Sends heartbeats and handles their replies. Both also carry read rounds, the election timeout, outcome hashes and
/// clock readings.
/// </summary>
internal sealed class Heartbeats(
    MemberState state,
    ProgressTracker tracker,
    OutcomeComparison outcomes,
    VoterClocks clocks,
    Outbox outbox
)
{
    private long _due;
    private long _measureDue;

    /// <summary>
    /// The number of the newest heartbeat round. A round confirms this leader for the reads that wait for it.
    /// </summary>
    public long Round { get; private set; }

    // Six heartbeats in an election timeout.
    private long Interval => state.ElectionTimeoutMicroseconds / 6;

    /// <summary>Makes a new leader's first heartbeat due at once.</summary>
    public void Begin() => (_due, _measureDue) = (state.Now, state.Now);

    public void SendIfDue()
    {
        if (state.Now >= _due)
        {
            Send();
        }
    }

    /// <summary>
    /// Begins a round of heartbeats. Replies from a majority confirm that this node still leads (thesis 6.4).
    /// </summary>
    public void BeginRound()
    {
        Round++;
        if (!tracker.IsEmpty)
        {
            Send();
        }
    }

    /// <summary>Answers a leader's heartbeat at once.</summary>
    public void Answer(in Message message)
    {
        clocks.AdoptLeaderTime(message.Clock);
        outbox.Send(
            outbox.Reply(message, MessageKind.HeartbeatReply) with
            {
                Health = state.Health,
                Outcome = outcomes.At(message.OutcomeIndex),
                Clock = clocks.Own,
            }
        );
        outcomes.HandleAgreed(message.Outcome);
    }

    /// <summary>Records a member's health, clock, round-trip time and confirmed round from its reply.</summary>
    public void RecordReply(Progress peer, in Message message)
    {
        peer.Health = message.Health;
        peer.HasReportedHealth = true;
        clocks.RecordPeer(peer, message.Clock);
        if (message.SentAtMicroseconds > 0)
        {
            peer.RoundTrips.Add(Math.Max(state.Now - message.SentAtMicroseconds, 1));
        }

        peer.Sequence = Math.Max(peer.Sequence, message.Sequence);
    }

    private void Send()
    {
        // Here, because read rounds may send heartbeats so often that none is ever due by itself.
        if (state.Now >= _measureDue)
        {
            state.ElectionTimeoutMicroseconds = MeasureElectionTimeout();
            _measureDue = state.Now + Interval;
            foreach (var peer in tracker)
            {
                peer.RoundTrips.BeginPeriod();
            }
        }

        _due = state.Now + Interval;
        long outcomeIndex = outcomes.IndexToCompare();
        foreach (var peer in tracker)
        {
            long commit = Math.Min(state.Log.CommitIndex, peer.Match);
            peer.CommitSent = Math.Max(peer.CommitSent, commit);
            outbox.Send(
                outbox.Make(MessageKind.Heartbeat, peer.Node) with
                {
                    Commit = commit,
                    Sequence = Round,
                    SentAtMicroseconds = state.Now,
                    ElectionTimeoutMicroseconds = state.ElectionTimeoutMicroseconds,
                    Outcome = outcomes.Agreed,
                    OutcomeIndex = outcomeIndex,
                    Clock = clocks.Read(state.Now),
                }
            );
        }
    }

    /// <summary>
    /// Returns an election timeout in microseconds: ten times the slowest voter's round trip plus four times the
    /// slowest sync, so that a merely slow leader stays leader.
    /// </summary>
    private long MeasureElectionTimeout()
    {
        long slowestTrip = 0;
        long slowestSync = state.Health.SyncMicroseconds;
        foreach (var peer in tracker)
        {
            if (state.Configuration.IsVoter(peer.Node))
            {
                slowestTrip = Math.Max(slowestTrip, peer.RoundTrips.SlowMicroseconds);
                slowestSync = Math.Max(slowestSync, peer.Health.SyncMicroseconds);
            }
        }

        bool wasMeasured = slowestTrip > 0 || slowestSync > 0;
        long measured = wasMeasured
            ? (10 * slowestTrip) + (4 * slowestSync)
            : state.Options.FirstElectionTimeoutMicroseconds;

        // Reduce the timeout slowly: contact within the previous timeout must still count within the next.
        measured = Math.Max(measured, state.ElectionTimeoutMicroseconds * 3 / 4);
        return Math.Clamp(
            measured,
            state.Options.ShortestElectionTimeoutMicroseconds,
            state.Options.LongestElectionTimeoutMicroseconds
        );
    }
}
