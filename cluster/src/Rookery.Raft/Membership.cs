namespace Rookery.Raft;

/// <summary>
/// Changes of members, one voter at a time and in force from their append (thesis 4.1 to 4.3), and hand-over of
/// leadership (3.10).
/// </summary>
public sealed partial class RaftCore
{
    private NodeId _transferTo;
    private long _transferEnds;

    private ChangeAnswer OnChangeMember(MemberChange change, NodeId node)
    {
        if (Role != Role.Leader)
        {
            return ChangeAnswer.NotLeader;
        }

        var answer = Judge(change, node);
        if (answer == ChangeAnswer.Accepted)
        {
            AppendOwn(EntryType.Configuration, After(change, node));
        }

        return answer;
    }

    private Configuration After(MemberChange change, NodeId node) =>
        change switch
        {
            MemberChange.Voter => Configuration.WithVoter(node),
            MemberChange.Learner => Configuration.WithLearner(node),
            _ => Configuration.Without(node),
        };

    private ChangeAnswer Judge(MemberChange change, NodeId node)
    {
        bool isVoter = Configuration.IsVoter(node);
        bool isThere = change switch
        {
            MemberChange.Voter => isVoter,
            MemberChange.Learner => Configuration.IsLearner(node),
            _ => !Configuration.IsMember(node),
        };
        if (isThere)
        {
            return change == MemberChange.Removed ? ChangeAnswer.NoSuchMember : ChangeAnswer.NothingToDo;
        }

        if (!_rules.MayChangeMembers(OwnTermIsCommitted, ChangeIsPending))
        {
            return ChangeAnswer.ChangePending;
        }

        return change switch
        {
            MemberChange.Voter => JudgePromotion(node),
            _ when node == Self => ChangeAnswer.LeaderItself,
            _ when isVoter && !HasMajorityAfter(change, node) => ChangeAnswer.NoMajority,
            _ => ChangeAnswer.Accepted,
        };
    }

    private ChangeAnswer JudgePromotion(NodeId node)
    {
        if (!Configuration.IsLearner(node))
        {
            return ChangeAnswer.NoSuchMember;
        }

        if (Configuration.Voters.Length == Configuration.MostVoters)
        {
            return ChangeAnswer.TooManyVoters;
        }

        return Find(node) is not { IsCaughtUp: true } learner
            || _now - learner.LastContact > ElectionTimeoutMicroseconds
                ? ChangeAnswer.NotCaughtUp
            : HasMajorityAfter(MemberChange.Voter, node) ? ChangeAnswer.Accepted
            : ChangeAnswer.NoMajority;
    }

    /// <summary>
    /// Whether enough answer that take entries. Who has to find its place in the log first, or to fetch a state, would
    /// hold up every write until it has it; and if that is the only other one left, nobody could take over from a
    /// leader that cannot give its own.
    /// </summary>
    private bool HasMajorityAfter(MemberChange change, NodeId node)
    {
        var after = After(change, node);
        int following = 0;
        foreach (var voter in after.Voters)
        {
            following +=
                voter == Self
                || (
                    Find(voter) is { State: ProgressState.Replicate } peer
                    && _now - peer.LastContact <= ElectionTimeoutMicroseconds
                )
                    ? 1
                    : 0;
        }

        return following >= _rules.MajorityOf(after);
    }

    /// <summary>
    /// Peers follow the configuration in force. Who lost its vote hears of it only when that is committed.
    /// </summary>
    private void RefreshPeers()
    {
        foreach (var peer in _peers)
        {
            bool losesVote = peer.IsVoter && !Configuration.IsVoter(peer.Node);
            bool leaves = !peer.IsRemoved && !Configuration.IsMember(peer.Node);
            peer.HoldBackFrom = losesVote || leaves ? _rules.HoldBackFrom(_log.ConfigurationIndex) : peer.HoldBackFrom;
            peer.IsVoter = Configuration.IsVoter(peer.Node);
            peer.IsRemoved = !Configuration.IsMember(peer.Node);
        }

        foreach (var voter in Configuration.Voters)
        {
            AddPeer(voter);
        }

        foreach (var learner in Configuration.Learners)
        {
            AddPeer(learner);
        }
    }

    /// <summary>
    /// A new leader that inherits a change which is not committed holds it back from whoever loses its vote by it, as
    /// the leader before did.
    /// </summary>
    private void HoldBackInherited()
    {
        foreach (var peer in _peers)
        {
            if (ChangeIsPending && _log.PreviousConfiguration.IsVoter(peer.Node) && !Configuration.IsVoter(peer.Node))
            {
                Coverage.Took(RareBranch.HeldBackInherited);
                peer.HoldBackFrom = _rules.HoldBackFrom(_log.ConfigurationIndex);
            }
        }
    }

    private void AddPeer(NodeId node)
    {
        if (node != Self && Find(node) is null)
        {
            _peers.Add(new Progress(node, _log.LastIndex + 1, _now) { IsVoter = Configuration.IsVoter(node) });
        }
    }

    private void ForgetRemoved()
    {
        int forgotten = _peers.RemoveAll(peer =>
            peer.IsRemoved
            && CommitIndex >= peer.HoldBackFrom
            && (peer.Match >= peer.HoldBackFrom || _now - peer.LastContact > ElectionTimeoutMicroseconds)
        );
        if (forgotten > 0)
        {
            Coverage.Took(RareBranch.ForgotRemoved);
        }
    }

    private void OnTransfer(NodeId node)
    {
        if (Role != Role.Leader)
        {
            return;
        }

        var target = node.IsNone ? BestSuccessor() : node;
        if (target != Self && Configuration.IsVoter(target))
        {
            BeginTransfer(target);
        }
    }

    /// <summary>
    /// Who would lead if this node, which leads, went now; none when it does not lead, or nobody could.
    /// </summary>
    public NodeId Successor => Role == Role.Leader ? BestSuccessor() : NodeId.None;

    /// <summary>
    /// The voter that lacks least, among those that answer, whose store is well; of equals the one whose board is best.
    /// </summary>
    private NodeId BestSuccessor(bool mustHaveToldHealth = false)
    {
        Progress? best = null;
        foreach (var peer in _peers)
        {
            bool isFit =
                Configuration.IsVoter(peer.Node)
                && _now - peer.LastContact < ElectionTimeoutMicroseconds
                && !IsStalled(peer.Health)
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

    private void BeginTransfer(NodeId target)
    {
        if (_transferTo.IsNone)
        {
            (_transferTo, _transferEnds) = (target, _now + ElectionTimeoutMicroseconds);
            FinishTransfer();
        }
    }

    /// <summary>
    /// Proposals wait from the beginning of a transfer; when the target has everything durably, it campaigns without
    /// waiting for silence.
    /// </summary>
    private void FinishTransfer()
    {
        if (Role == Role.Leader && Find(_transferTo) is { } peer && peer.Match == _log.LastIndex)
        {
            Send(Make(MessageKind.TimeoutNow, _transferTo));
        }
    }

    /// <summary>Whether a transfer was given up.</summary>
    private bool EndLateTransfer()
    {
        bool isLate = !_transferTo.IsNone && _now >= _transferEnds;
        if (isLate)
        {
            Coverage.Took(RareBranch.TransferGivenUp);
            _transferTo = NodeId.None;
        }

        return isLate;
    }
}
