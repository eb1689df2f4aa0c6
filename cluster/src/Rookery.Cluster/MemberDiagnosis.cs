using Rookery.Cluster.Commit;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Transfer;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Explains to operators, in sentences, why a node does not participate or has no leader, and what to do.
/// </summary>
/// <remarks>Callable from any thread, without the lock. Callers pass a state that was read under the lock.</remarks>
internal sealed class MemberDiagnosis(
    RaftHost host,
    MemberRoster roster,
    ReadIndexService reads,
    ApplyPipeline applies,
    SnapshotInstaller installer
)
{
    private const string LocalReads = "Documents can be read here meanwhile, with --local or consistency=local.";

    // Under load a few entries are always unapplied. More than this many mean that the node was away.
    private const int EntriesToCatchUp = 4096;

    private const string MembersAreUnknown =
        "No leader is known here, because this node does not know yet which nodes belong to the cluster: it "
        + "waits until a member connects to it.";

    /// <summary>
    /// Explains why this node must not serve reads yet; null when it may. A voter may serve the data that it had at its
    /// last stop, even without a majority. A learner that has not caught up since its start lacks documents, and would
    /// answer that they do not exist.
    /// </summary>
    public string? WhyUnready(ConsensusState state)
    {
        if (WhyNoPart(state) is { } exclusion)
        {
            return exclusion;
        }

        if (state.Configuration.Voters.IsEmpty)
        {
            return installer.Trouble ?? MembersAreUnknown;
        }

        if (!state.Configuration.IsVoter(host.Self) && !reads.HasEverCaughtUp)
        {
            return installer.Trouble
                ?? (
                    "This node has joined and catches up: since its start it has not applied all "
                    + "committed entries. Its data can be read here, and may be outdated."
                );
        }

        return null;
    }

    /// <summary>Explains why this node no longer participates in the cluster; null when it does.</summary>
    public string? WhyNoPart(ConsensusState state) =>
        host.Refusal is { Kind: RejectionKind.Diagnosis } halted ? halted.Message : WhyRemoved(state);

    /// <summary>
    /// Explains that this node was removed; null when it was not removed, or when the removal is uncertain. A node that
    /// was off when it was removed never receives the entry that removed it. It learns of the removal from the refusals
    /// of other members. A majority of the other voters must refuse it: a lagging member, or an old copy that became
    /// leader, may know less than this node.
    /// </summary>
    private string? WhyRemoved(ConsensusState state) =>
        state.WasRemoved || (state.Leader.IsNone && MajorityDisownsThisNode(state.Configuration))
            ? "This node is not a member of its cluster any more. Stop it, and let it join anew with an empty data "
                + "directory and a token of `rookery cluster token create`."
            : null;

    private bool MajorityDisownsThisNode(Configuration configuration)
    {
        var answers = host.Options.Network?.Answers ?? [];
        NodeId[] others = [.. configuration.Voters.ToArray().Where(voter => voter != host.Self)];
        return others.Length > 1
            && answers.All(static answer => !answer.LetsIn)
            && 2 * answers.Count(answer => IsNoMember(answer) && others.Contains(answer.Node)) > others.Length;
    }

    private static bool IsNoMember(PeerAnswer answer) => answer.Refusal is { Kind: PeerRefusalKind.NoMember };

    private string WhyNoLeader(ConsensusState state)
    {
        var answers = host.Options.Network?.Answers ?? [];
        string[] disowning = [.. answers.Where(IsNoMember).Select(answer => roster.NameAndTagOf(answer.Node))];
        if (disowning.Length > 0)
        {
            string verb = disowning.Length == 1 ? "says" : "say";
            string advice =
                state.Configuration.Voters.Length > 2
                    ? "most of the other voters must say so. Keep its data, and see that the other "
                        + "voters run and can be reached."
                    : "the other member may run an old card. Keep the data of both, and look on both, with "
                        + "`rookery export`, for what was stored last before the card was changed: how much "
                        + "each has proves nothing if an old card served since.";
            return $"No leader is known here, and {NameList.Of(disowning)} {verb} that this node is not a member of "
                + $"the cluster. That alone does not prove that it was removed: {advice}";
        }

        var refusing = answers
            .Where(static answer => answer.Refusal is not null)
            .MaxBy(static answer => answer.Refusal!.Kind);
        if (refusing is { Refusal: { } refusalOfPeer })
        {
            string member = roster.Of(refusing.Node) is null ? "Another member" : roster.NameAndTagOf(refusing.Node);
            return $"{member} does not let this node in: {refusalOfPeer.Sentence}"
                + DescribeSilent(answers, state.Configuration);
        }

        if (state.Configuration.Voters.IsEmpty)
        {
            return installer.Trouble ?? MembersAreUnknown;
        }

        if (state.Configuration.Voters.Length == 1)
        {
            return WhyOnlyVoterDoesNotLead(state.Configuration.Voters[0], state.IsDamaged);
        }

        return WhyNoneIsElected(state.Configuration);
    }

    /// <summary>
    /// Names the voters that this node cannot reach and that do not refuse it. The refusing member may itself no longer
    /// participate, and then the cluster waits for one of these voters.
    /// </summary>
    private string DescribeSilent(IReadOnlyList<PeerAnswer> answers, Configuration configuration)
    {
        NodeId[] silent =
        [
            .. UnreachedIn(configuration)
                .Where(voter => !answers.Any(answer => answer.Node == voter && answer.Refusal is not null)),
        ];
        return silent.Length == 0
            ? string.Empty
            : $" Nor does this node reach {NameList.Of(silent.Select(roster.NameAndTagOf))}.";
    }

    private string WhyNoneIsElected(Configuration configuration)
    {
        var unreached = UnreachedIn(configuration);
        string names = NameList.Of(unreached.Select(roster.NameAndTagOf));
        int voters = configuration.Voters.Length;
        int connected = voters - unreached.Count;
        string needed = voters == 2 ? "both voters" : $"{configuration.Majority} of {voters} voters";
        string withItself = configuration.IsVoter(host.Self) ? "with itself " : string.Empty;
        string unreachedClause =
            unreached.Count == 0
                ? "."
                : $", but not {names}: after a crash the voters wait up to 20 s for a missing one, and if that "
                    + "voter leads, this node must reach it.";
        string why =
            connected < configuration.Majority
                ? $"No leader is known here: {needed} must reach each other to elect one, and this node does "
                    + $"not reach {names}. Start the nodes that are off, or repair the network: writes then continue."
                : $"No leader is known here yet: {withItself}this "
                    + $"node sees {connected} of {voters} voters, which is enough to elect "
                    + $"one{unreachedClause}";
        return $"{why} {LocalReads}{DescribeStrangers(unreached)}";
    }

    /// <summary>
    /// Explains that a node with a certificate of another cluster answers at a voter's address. This happens after a
    /// recovery that this node was not part of.
    /// </summary>
    private string DescribeStrangers(IReadOnlyList<NodeId> unreached)
    {
        var stranger = unreached
            .Select(voter =>
                (Voter: voter, Attempt: AttemptsAt(voter).FirstOrDefault(static attempt => attempt.IsStranger))
            )
            .FirstOrDefault(static candidate => candidate.Attempt is not null);
        return stranger.Attempt is null
            ? string.Empty
            : $" Where {roster.NameAndTagOf(stranger.Voter)} was, a node that is not a member answers: "
                + $"{stranger.Attempt.Why} If "
                + $"the cluster was recovered without this node (`rookery cluster recover`), this node's data are "
                + $"those of the old cluster. Keep them until nothing is missing from the new one, and let this node "
                + $"join anew with an empty data directory.";
    }

    /// <summary>Returns the other voters to which this node has no connection.</summary>
    public IReadOnlyList<NodeId> UnreachedIn(Configuration configuration)
    {
        var answers = host.Options.Network?.Answers ?? [];
        return
        [
            .. configuration
                .Voters.ToArray()
                .Where(voter => voter != host.Self && !answers.Any(answer => answer.Node == voter && answer.LetsIn)),
        ];
    }

    /// <summary>Lists the addresses at which this node tried to reach a voter, with the failure at each.</summary>
    public string DescribeSearch(NodeId voter)
    {
        var attempts = AttemptsAt(voter);
        return attempts.Count == 0
            ? $"{roster.NameAndTagOf(voter)}: no attempt to reach it has ended yet, or its address is not known."
            : $"{roster.NameAndTagOf(voter)} is looked for at {string.Join("; ", attempts.Select(DescribeAttempt))}.";
    }

    private static string DescribeAttempt(FailedAttempt attempt) => $"{attempt.Address} ({attempt.Why.TrimEnd('.')})";

    private IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => host.Options.Network?.AttemptsAt(member) ?? [];

    private string WhyOnlyVoterDoesNotLead(NodeId voter, bool isDamaged)
    {
        if (voter == host.Self && isDamaged)
        {
            return "This node's journal lost entries that it had acknowledged, and no other member votes, so nobody "
                + "can lead. Delete nothing: stop this node and its standby, and run `rookery cluster recover` on "
                + "the one of them that holds more; it says which, and what may be lost.";
        }

        if (voter == host.Self)
        {
            return "No leader is known here yet: this node is the only voter, and leads as soon as it has read "
                + "its journal.";
        }

        return $"No leader is known here: only {roster.NameAndTagOf(voter)} votes, and this node does not hear from "
            + $"it. Start it, or see that it can be reached; if it is lost for good, `rookery cluster recover` makes "
            + $"this node the only voter. {LocalReads}{DescribeStrangers([voter])}";
    }

    /// <summary>Explains the most important problem of this node; null when there is none.</summary>
    public string? TroubleIn(ConsensusState state)
    {
        if (host.Refusal is { } refusal)
        {
            return refusal.Message;
        }

        if (WhyRemoved(state) is { } removed)
        {
            return removed;
        }

        if (state.Leader.IsNone)
        {
            return WhyNoLeader(state);
        }

        if (applies.BlockedReason is { } unapplied)
        {
            return installer.Trouble is { } fetchTrouble ? $"{unapplied} {fetchTrouble}" : unapplied;
        }

        long lag = state.CommitIndex - state.AppliedIndex;
        return lag > EntriesToCatchUp
            ? $"This node catches up: {lag} entries remain to be applied."
            : WhyUnready(state) ?? installer.Trouble;
    }
}
