namespace Rookery.Raft;

/// <summary>
/// Membership changes (thesis 4.1 to 4.3): each changes the role of one member, and is in force once its entry is
/// appended.
/// </summary>
internal sealed class MemberChanges(
    MemberState state,
    ProgressTracker tracker,
    Replication replication,
    LeadershipTransfer transfer,
    OutcomeComparison outcomes
)
{
    /// <summary>Changes a member's role, if the change is safe now.</summary>
    public ChangeAnswer Change(MemberChange change, NodeId node)
    {
        if (!state.IsLeader)
        {
            return ChangeAnswer.NotLeader;
        }

        var answer = Judge(change, node);
        if (answer == ChangeAnswer.Accepted)
        {
            replication.AppendOwn(EntryType.Configuration, ConfigurationAfter(change, node));
            outcomes.HandleVotersChanged();
        }

        return answer;
    }

    private Configuration ConfigurationAfter(MemberChange change, NodeId node) =>
        change switch
        {
            MemberChange.Voter => state.Configuration.WithVoter(node),
            MemberChange.Learner => state.Configuration.WithLearner(node),
            _ => state.Configuration.Without(node),
        };

    private ChangeAnswer Judge(MemberChange change, NodeId node)
    {
        var configuration = state.Configuration;
        bool isVoter = configuration.IsVoter(node);
        bool hasRoleAlready = change switch
        {
            MemberChange.Voter => isVoter,
            MemberChange.Learner => configuration.IsLearner(node),
            _ => !configuration.IsMember(node),
        };
        if (hasRoleAlready)
        {
            return change == MemberChange.Removed ? ChangeAnswer.NoSuchMember : ChangeAnswer.NothingToDo;
        }

        // During a transfer no entry is appended. A voter that received it before the transfer's target would refuse
        // its vote to the target.
        bool mayAppend = state.Rules.MayPropose(state.IsLeader, transfer.IsActive);
        if (!mayAppend || !state.Rules.MayChangeMembers(state.OwnTermIsCommitted, state.Log.ChangeIsPending))
        {
            return ChangeAnswer.ChangePending;
        }

        return change switch
        {
            MemberChange.Voter => JudgePromotion(node),
            _ when node == state.Self => ChangeAnswer.LeaderItself,
            _ when isVoter && !tracker.MajorityFollows(ConfigurationAfter(change, node)) => ChangeAnswer.NoMajority,
            _ => ChangeAnswer.Accepted,
        };
    }

    private ChangeAnswer JudgePromotion(NodeId node)
    {
        if (!state.Configuration.IsLearner(node))
        {
            return ChangeAnswer.NoSuchMember;
        }

        if (state.Configuration.Voters.Length == Configuration.MaxVoters)
        {
            return ChangeAnswer.TooManyVoters;
        }

        if (tracker.Find(node) is not { IsCaughtUp: true } learner || !tracker.Answers(learner))
        {
            return ChangeAnswer.NotCaughtUp;
        }

        if (tracker.MajorityFollows(ConfigurationAfter(MemberChange.Voter, node)))
        {
            return ChangeAnswer.Accepted;
        }

        return ChangeAnswer.NoMajority;
    }
}
