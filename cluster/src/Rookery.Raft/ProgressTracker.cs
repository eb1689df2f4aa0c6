namespace Rookery.Raft;

/// <summary>
/// What a leader knows of its peers together: who they are by the configuration in force, and what majorities have.
/// Empty while this node does not lead.
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
    /// The peer that a message came from, which lives, unless the message is of an earlier start of its store.
    /// </summary>
    public Progress? Hear(in Message message)
    {
        if (Find(message.From) is not { } peer)
        {
            return null;
        }

        if (!state.Rules.CountsAnswer(message.Incarnation, peer.Incarnation))
        {
            Coverage.Took(RareBranch.HeardOldIncarnation);
            outbox.Output.Tell(CoreEvent.OldIncarnation, message.From);
            return null;
        }

        if (message.Incarnation > peer.Incarnation)
        {
            Coverage.Took(RareBranch.HeardNewIncarnation);
            peer.Incarnation = message.Incarnation;
            peer.HasToldHealth = false;
            peer.ProbeFrom(peer.Next, state.Now);
        }

        peer.LastContact = state.Now;
        return peer;
    }

    /// <summary>Whether it answered within the last election timeout.</summary>
    public bool Answers(Progress peer) => state.Now - peer.LastContact <= state.ElectionTimeoutMicroseconds;

    /// <summary>
    /// CheckQuorum: a leader that a majority does not answer holds up clients and nobody else (thesis 6.2).
    /// </summary>
    public bool HearsMajority()
    {
        int heard = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            heard += voter == state.Self || (Find(voter) is { } peer && Answers(peer)) ? 1 : 0;
        }

        return heard >= state.Majority;
    }

    /// <summary>Whether a majority of the voters confirmed this round of heartbeats.</summary>
    public bool MajorityConfirmed(long round)
    {
        int confirmed = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            confirmed += voter == state.Self || Find(voter)?.Sequence >= round ? 1 : 0;
        }

        return confirmed >= state.Majority;
    }

    /// <summary>The highest index that a majority of the voters has on stable storage.</summary>
    public long MajorityMatch()
    {
        var voters = state.Configuration.Voters;
        if (voters.IsEmpty)
        {
            return 0;
        }

        Span<long> matches = stackalloc long[Configuration.MostVoters];
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
    /// Whether a majority of the voters of <paramref name="configuration"/> answers and takes entries. Who has to find
    /// its place in the log first, or to fetch a state, would hold up every write until it has it; and if that is the
    /// only other one left, nobody could take over from a leader that cannot give its own.
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
    /// The voter that lacks least, among those that answer, whose store is well; of equals the one whose board is best.
    /// </summary>
    public NodeId BestSuccessor(bool mustHaveToldHealth = false)
    {
        Progress? best = null;
        foreach (var peer in _peers)
        {
            bool isFit =
                state.Configuration.IsVoter(peer.Node)
                && state.Now - peer.LastContact < state.ElectionTimeoutMicroseconds
                && !state.IsStalled(peer.Health)
                && peer.State == ProgressState.Replicate
                && (peer.HasToldHealth || !mustHaveToldHealth);
            if (
                isFit
                && (
                    best is null
                    || (peer.Health.BoardPenalty, -peer.Match).CompareTo((best.Health.BoardPenalty, -best.Match)) < 0
                )
            )
            {
                best = peer;
            }
        }

        return best?.Node ?? NodeId.None;
    }

    /// <summary>
    /// Peers follow the configuration in force. Who lost its vote hears of it only when that is committed.
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
    /// A new leader that inherits a change which is not committed holds it back from whoever loses its vote by it, as
    /// the leader before did.
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
                Coverage.Took(RareBranch.HeldBackInherited);
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
            Coverage.Took(RareBranch.ForgotRemoved);
        }
    }

    /// <summary>What owners are shown of the peers.</summary>
    public IReadOnlyList<PeerProgress> Read() => [.. _peers.Select(Read)];

    /// <summary>Checked after each step of a leader.</summary>
    public void CheckRules()
    {
        foreach (var peer in _peers)
        {
            ConsensusException.Unless(
                peer.Match < peer.Next && peer.Match <= _log.Entries.LastIndex,
                "a peer has what was sent to it"
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
        bool hasAnswered = peer.Incarnation > 0;
        return new PeerProgress(
            peer.Node,
            peer.Match > 0 || peer.State == ProgressState.Manifest ? peer.Match : null,
            hasAnswered && Answers(peer),
            hasAnswered ? peer.LastContact : null,
            peer.IsCaughtUp,
            peer.Health.SyncMicroseconds,
            hasAnswered ? peer.Health.SpareBytes : null,
            ClusterClock.ReadingOf(peer.Clock, state.Now)
        );
    }
}
