namespace Rookery.Raft;

/// <summary>
/// A leader's <see cref="Progress"/> records of all peers, and what majorities of them confirmed. Empty while this node
/// does not lead.
/// </summary>
internal sealed class ProgressTracker(MemberState state, Outbox outbox)
{
    private readonly RaftLog _log = state.Log;
    private readonly List<Progress> _peers = [];

    public bool IsEmpty => _peers.Count == 0;

    public List<Progress>.Enumerator GetEnumerator() => _peers.GetEnumerator();

    public void Clear() => _peers.Clear();

    public Progress? Find(NodeId node)
    {
        foreach (var peer in _peers)
        {
            if (peer.Node == node)
            {
                return peer;
            }
        }

        return null;
    }

    /// <summary>
    /// Records contact with the sender of a message and returns its progress; null when the sender is not a peer, or
    /// when an earlier start of its store sent the message.
    /// </summary>
    public Progress? RecordContact(in Message message)
    {
        if (Find(message.From) is not { } peer)
        {
            return null;
        }

        if (!state.Rules.CountsAnswer(message.StartNumber, peer.StartNumber))
        {
            Coverage.Count(RareBranch.HeardOldStart);
            outbox.Output.Report(CoreEvent.OldStart, message.From);
            return null;
        }

        if (message.StartNumber > peer.StartNumber)
        {
            Coverage.Count(RareBranch.HeardNewStart);
            peer.StartNumber = message.StartNumber;
            peer.HasReportedHealth = false;
            peer.ProbeFrom(peer.Next, state.Now);
        }

        peer.LastContact = state.Now;
        return peer;
    }

    /// <summary>Whether a peer answered within the last election timeout.</summary>
    public bool Answers(Progress peer) => state.Now - peer.LastContact <= state.ElectionTimeoutMicroseconds;

    /// <summary>
    /// Whether a majority answers (CheckQuorum, thesis 6.2). A leader without a majority would only block clients.
    /// </summary>
    public bool HearsMajority()
    {
        int answering = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            answering += voter == state.Self || (Find(voter) is { } peer && Answers(peer)) ? 1 : 0;
        }

        return answering >= state.Majority;
    }

    /// <summary>Whether a majority of the voters confirmed a round of heartbeats.</summary>
    public bool MajorityConfirmed(long round)
    {
        int confirmed = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            confirmed += voter == state.Self || Find(voter)?.Sequence >= round ? 1 : 0;
        }

        return confirmed >= state.Majority;
    }

    /// <summary>Returns the highest index that is durable on a majority of the voters.</summary>
    public long MajorityMatch()
    {
        var voters = state.Configuration.Voters;
        if (voters.IsEmpty)
        {
            return 0;
        }

        Span<long> matches = stackalloc long[Configuration.MaxVoters];
        for (int voter = 0; voter < voters.Length; voter++)
        {
            matches[voter] =
                voters[voter] == state.Self
                    ? state.Rules.OwnMatch(_log.Durability.DurableIndex, _log.Entries.LastIndex)
                    : Find(voters[voter])?.Match ?? 0;
        }

        matches = matches[..voters.Length];
        matches.Sort();
        return matches[^state.Majority];
    }

    /// <summary>
    /// Whether a majority of the voters of <paramref name="configuration"/> answers and accepts entries. A voter in
    /// another mode would delay every write until it has been probed or has fetched a snapshot.
    /// </summary>
    public bool MajorityFollows(Configuration configuration)
    {
        int following = 0;
        foreach (var voter in configuration.Voters)
        {
            bool follows =
                voter == state.Self || (Find(voter) is { State: ProgressState.Replicate } peer && Answers(peer));
            following += follows ? 1 : 0;
        }

        return following >= state.Rules.MajorityOf(configuration);
    }

    /// <summary>
    /// Returns the best voter for a leadership transfer. It must answer, replicate and not be stalled. Of several, the
    /// lowest board penalty decides, then the most entries. <see cref="NodeId.None"/> if no voter qualifies.
    /// </summary>
    /// <param name="mustHaveReportedHealth">Whether a voter that has not reported its health to this leader is left
    /// out: it may be unable to apply.</param>
    public NodeId BestSuccessor(bool mustHaveReportedHealth = false)
    {
        Progress? best = null;
        foreach (var peer in _peers)
        {
            bool isFit =
                state.Configuration.IsVoter(peer.Node)
                && state.Now - peer.LastContact < state.ElectionTimeoutMicroseconds
                && !state.IsStalled(peer.Health)
                && peer.State == ProgressState.Replicate
                && (peer.HasReportedHealth || !mustHaveReportedHealth);
            if (isFit && (best is null || IsBetterSuccessor(peer, best)))
            {
                best = peer;
            }
        }

        return best?.Node ?? NodeId.None;
    }

    private static bool IsBetterSuccessor(Progress one, Progress other)
    {
        int penaltyOrder = one.Health.BoardPenalty.CompareTo(other.Health.BoardPenalty);
        return penaltyOrder < 0 || (penaltyOrder == 0 && one.Match > other.Match);
    }

    /// <summary>
    /// Updates the peers to the newest configuration. A peer that loses its vote or its membership receives the
    /// configuration's entry only after the entry is committed.
    /// </summary>
    public void Refresh()
    {
        var configuration = state.Configuration;
        foreach (var peer in _peers)
        {
            bool losesVote = peer.IsVoter && !configuration.IsVoter(peer.Node);
            bool leaves = !peer.IsRemoved && !configuration.IsMember(peer.Node);
            if (losesVote || leaves)
            {
                HoldBack(peer);
            }

            peer.IsVoter = configuration.IsVoter(peer.Node);
            peer.IsRemoved = !configuration.IsMember(peer.Node);
        }

        foreach (var voter in configuration.Voters)
        {
            Add(voter);
        }

        foreach (var learner in configuration.Learners)
        {
            Add(learner);
        }
    }

    /// <summary>
    /// Withholds an inherited configuration that is not committed yet from the peer that loses its vote by it.
    /// </summary>
    public void HoldBackInherited()
    {
        if (!_log.ChangeIsPending)
        {
            return;
        }

        foreach (var peer in _peers)
        {
            if (_log.Entries.PreviousConfiguration.IsVoter(peer.Node) && !state.Configuration.IsVoter(peer.Node))
            {
                Coverage.Count(RareBranch.HeldBackInherited);
                HoldBack(peer);
            }
        }
    }

    public void ForgetRemoved()
    {
        int forgotten = _peers.RemoveAll(peer =>
            peer.IsRemoved
            && _log.CommitIndex >= peer.HoldBackFrom
            && (peer.Match >= peer.HoldBackFrom || !Answers(peer))
        );
        if (forgotten > 0)
        {
            Coverage.Count(RareBranch.ForgotRemoved);
        }
    }

    /// <summary>Returns the replication progress of the peers.</summary>
    public IReadOnlyList<PeerProgress> Read() => [.. _peers.Select(Read)];

    /// <summary>Checks invariants after each step of a leader.</summary>
    public void CheckRules()
    {
        foreach (var peer in _peers)
        {
            ConsensusException.Unless(
                peer.Match < peer.Next && peer.Match <= _log.Entries.LastIndex,
                "a peer acknowledges only entries that were sent to it"
            );
        }
    }

    private void HoldBack(Progress peer) =>
        peer.HoldBackFrom = state.Rules.HoldBackFrom(_log.Entries.ConfigurationIndex);

    private void Add(NodeId node)
    {
        if (node != state.Self && Find(node) is null)
        {
            _peers.Add(
                new Progress(node, _log.Entries.LastIndex + 1, state.Now)
                {
                    IsVoter = state.Configuration.IsVoter(node),
                }
            );
        }
    }

    private PeerProgress Read(Progress peer)
    {
        bool hasAnswered = peer.StartNumber > 0;
        return new PeerProgress(
            peer.Node,
            peer.Match > 0 || peer.State == ProgressState.Snapshot ? peer.Match : null,
            hasAnswered && Answers(peer),
            hasAnswered ? peer.LastContact : null,
            peer.IsCaughtUp,
            peer.Health.SyncMicroseconds,
            hasAnswered ? peer.Health.SpareBytes : null,
            ClusterClock.ReadingOf(peer.Clock, state.Now)
        );
    }
}
