namespace Rookery.Raft;

/// <summary>
/// Heartbeats and their answers, which carry more than life: rounds of reads, the election timeout, outcomes and the
/// time.
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

    /// <summary>The newest round that reads wait for.</summary>
    public long Round { get; private set; }

    /// <summary>A new leader's first heartbeat is due at once.</summary>
    public void Begin() => _due = state.Now;

    public void SendIfDue()
    {
        if (state.Now >= _due)
        {
            state.ElectionTimeoutMicroseconds = MeasureElectionTimeout();
            Send();
        }
    }

    /// <summary>Begins a round, whose answers confirm that this node still leads (thesis 6.4).</summary>
    public void BeginRound()
    {
        Round++;
        if (!tracker.IsEmpty)
        {
            Send();
        }
    }

    /// <summary>A follower answers at once.</summary>
    public void Answer(in Message message)
    {
        clocks.HearLeader(message.Clock);
        outbox.Send(
            outbox.Reply(message, MessageKind.HeartbeatReply) with
            {
                Health = state.Health,
                Outcome = outcomes.At(message.OutcomeIndex),
                Clock = clocks.Own,
            }
        );
        outcomes.HearAgreed(message.Outcome);
    }

    /// <summary>A leader takes what an answer says of its sender's health, clock, connection and round.</summary>
    public void TakeAnswer(Progress peer, in Message message)
    {
        (peer.Health, peer.HasToldHealth) = (message.Health, true);
        clocks.TakeOf(peer, message.Clock);
        if (message.SentAtMicroseconds > 0)
        {
            peer.RoundTrips.Add(Math.Max(state.Now - message.SentAtMicroseconds, 1));
        }

        peer.Sequence = Math.Max(peer.Sequence, message.Sequence);
    }

    private void Send()
    {
        _due = state.Now + (state.ElectionTimeoutMicroseconds / 6);
        long outcomeIndex = outcomes.IndexToAskFor();
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
    /// Ten round trips and four syncs of the slowest voter: a leader that is only slow stays leader.
    /// </summary>
    private long MeasureElectionTimeout()
    {
        long slowestTrip = 0,
            slowestSync = state.Health.SyncMicroseconds;
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

        // It falls slowly: what was heard within the timeout of the last heartbeat must be within that of the next.
        measured = Math.Max(measured, state.ElectionTimeoutMicroseconds * 3 / 4);
        return Math.Clamp(
            measured,
            state.Options.ShortestElectionTimeoutMicroseconds,
            state.Options.LongestElectionTimeoutMicroseconds
        );
    }
}
