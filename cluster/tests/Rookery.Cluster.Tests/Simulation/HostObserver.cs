using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Observes each step of a run and each message sent, and checks the promises of consensus. Does constant work for each
/// event except starts and commits.
/// </summary>
internal sealed class HostObserver(SteppedCluster cluster)
{
    private readonly Dictionary<NodeId, Watched> _members = [];
    private readonly Dictionary<long, NodeId> _leaders = [];
    private readonly Dictionary<(NodeId Voter, long Term), NodeId> _votes = [];

    // The term of each committed entry, by index; index 0 is a placeholder.
    private readonly List<long> _committed = [0];

    // The term of the leader that committed the last entry of _committed.
    private long _committedIn;

    // The first broken promise, as a sentence; null while none is broken.
    private string? _broken;

    /// <summary>The number of terms that had a leader.</summary>
    public int Leaders => _leaders.Count;

    /// <summary>The number of entries that became durable on a majority.</summary>
    public int Commits { get; private set; }

    /// <summary>Checks a message that a member sends against what is durable on that member's disk.</summary>
    public void ObserveMessage(in Message message)
    {
        var watched = WatchedOf(message.From);
        // A request for a pre-vote, and a reply that grants it, contain the term of the election that may follow.
        bool containsOwnTerm =
            message.Kind != MessageKind.PreVote && (message.Kind != MessageKind.PreVoteReply || message.Refused);
        watched.SentTerm = containsOwnTerm ? Math.Max(watched.SentTerm, message.Term) : watched.SentTerm;
        if (watched.Core is { } core && IsRunning(message.From, core))
        {
            // A member that stops cleanly may write more before its process ends.
            watched.Durable = core.DurableIndex;
        }

        if (message is { Kind: MessageKind.VoteReply, Refused: false })
        {
            CheckVote(message.From, message.Term, message.To);
        }
    }

    /// <summary>
    /// Checks the state after an event. Fails when this event, or a message sent during it, broke a promise.
    /// </summary>
    public void ObserveStep()
    {
        foreach (var member in cluster.Members)
        {
            if (member.Consensus is { } consensus)
            {
                CheckMember(member, consensus);
            }
        }

        Assert.True(
            _broken is null,
            $"after {cluster.Now} µs: {_broken}. {(_broken is null ? "" : cluster.DescribeMembers())}"
        );
    }

    private void CheckMember(SteppedMember member, RaftConsensus consensus)
    {
        var watched = WatchedOf(member.Id);
        if (watched.Starts != member.Starts)
        {
            CheckStart(member, watched, CoreOf(consensus));
        }

        var core = watched.Core!;
        Holds(core.Term >= watched.Term, () => $"the term of {member} fell from {watched.Term} to {core.Term}");
        Holds(member.Halt is null, () => $"{member}: {member.Halt}");
        watched.Term = core.Term;
        if (core.Role == Role.Leader && watched.Led != core.Term)
        {
            watched.Led = core.Term;
            CheckLeader(member, core);
        }

        if (core.CommitIndex != watched.Commit)
        {
            CheckCommit(member, watched, core);
        }

        (watched.Durable, watched.Refuses) = (core.DurableIndex, consensus.Refusal is not null);
    }

    /// <summary>
    /// Checks that a started member has the term, vote and durable entries that it had before, or knows that its
    /// journal lost entries.
    /// </summary>
    private void CheckStart(SteppedMember member, Watched watched, RaftCore core)
    {
        var acknowledged = member.Store!.Journal.Recovery.MayHaveAcknowledged;
        var lost = new LogPosition(acknowledged.Term, acknowledged.Index);
        if (watched.Core is { } before && !watched.Refuses)
        {
            var durable = new LogPosition(before.TermAt(watched.Durable), watched.Durable);
            Holds(
                Has(core, core.DurableIndex, durable) || lost >= durable,
                () => $"{member} has not got {durable} any more, which was durable, and does not know that it lost it"
            );
        }

        Holds(
            core.Term >= watched.SentTerm,
            () => $"{member} said that it is in term {watched.SentTerm}, and started again in term {core.Term}"
        );
        Holds(
            !_votes.TryGetValue((member.Id, core.Term), out var candidate) || core.VotedFor == candidate,
            () =>
                $"{member} voted for {candidate} in term {core.Term}, and started again with its vote for "
                + $"{core.VotedFor}"
        );
        (watched.Core, watched.Starts, watched.Lost, watched.Term, watched.Commit) = (
            core,
            member.Starts,
            lost,
            core.Term,
            0
        );
    }

    /// <summary>Checks that a new leader is the only one of its term and has all entries of earlier terms.</summary>
    private void CheckLeader(SteppedMember member, RaftCore core)
    {
        Holds(
            _leaders.TryAdd(core.Term, member.Id) || _leaders[core.Term] == member.Id,
            () => $"term {core.Term} has two leaders: {_leaders[core.Term]} and {member.Id}"
        );
        CheckVote(member.Id, core.Term, member.Id);
        var last = Committed(_committed.Count - 1);
        Holds(
            core.Term <= _committedIn || Has(core, core.Last.Index, last),
            () =>
                $"{member} leads in term {core.Term} and has not got {last}, which was committed in term {_committedIn}"
        );
    }

    /// <summary>Checks that a voter grants its vote of a term to one candidate only.</summary>
    private void CheckVote(NodeId voter, long term, NodeId candidate) =>
        Holds(
            _votes.TryAdd((voter, term), candidate) || _votes[(voter, term)] == candidate,
            () => $"{voter} voted twice in term {term}: for {_votes[(voter, term)]} and {candidate}"
        );

    /// <summary>
    /// Checks that the commit index rises, that all members commit the same entries, and that a majority has them.
    /// </summary>
    private void CheckCommit(SteppedMember member, Watched watched, RaftCore core)
    {
        Holds(
            core.CommitIndex > watched.Commit,
            () => $"the commit index of {member} fell from {watched.Commit} to {core.CommitIndex}"
        );
        for (long index = watched.Commit + 1; index <= core.CommitIndex; index++)
        {
            long term = core.TermAt(index);
            if (index == _committed.Count)
            {
                _committed.Add(term);
                _committedIn = Math.Max(_committedIn, core.Term);
                Commits++;
            }
            else
            {
                // A member does not know the terms of entries that are only in its tables.
                Holds(
                    term == 0 || term == _committed[(int)index],
                    () => $"{member} holds {term}/{index} for committed, another {Committed((int)index)}"
                );
                continue;
            }

            if (index == core.CommitIndex)
            {
                CheckMajority(member, core, Committed((int)index));
            }
        }

        watched.Commit = core.CommitIndex;
    }

    private void CheckMajority(SteppedMember member, RaftCore core, LogPosition position)
    {
        int holders = 0;
        foreach (var voter in core.Configuration.Voters)
        {
            holders += IsDurableOn(voter, position) ? 1 : 0;
        }

        Holds(
            holders >= core.Configuration.Majority,
            () => $"{member} committed {position}, which {holders} of {core.Configuration} have on disk"
        );
    }

    /// <summary>Whether a voter, running or not, has an entry on its disk, or lost it and knows that.</summary>
    private bool IsDurableOn(NodeId voter, LogPosition position)
    {
        var watched = WatchedOf(voter);
        return watched.Core is { } core
            && (
                Has(core, IsRunning(voter, core) ? core.DurableIndex : watched.Durable, position)
                || watched.Lost >= position
            );
    }

    private bool IsRunning(NodeId member, RaftCore core) =>
        cluster.Find(member)?.Consensus is { } consensus && CoreOf(consensus) == core;

    /// <summary>Returns whether a log has an entry at an index up to <paramref name="through"/>.</summary>
    private static bool Has(RaftCore core, long through, LogPosition position)
    {
        // Term 0: the entry is only in the tables. Its term is not known, but it was committed.
        long term = core.TermAt(position.Index);
        bool isSameEntry = term == position.Term || (term == 0 && position.Index <= core.CommitIndex);
        return position.Index <= through && isSameEntry;
    }

    private LogPosition Committed(int index) => new(_committed[index], index);

    private Watched WatchedOf(NodeId member)
    {
        if (!_members.TryGetValue(member, out var watched))
        {
            _members[member] = watched = new Watched();
        }

        return watched;
    }

    // Records a broken promise. ObserveStep reports it after the step: within the step the host would handle an
    // exception as its own.
    private void Holds(bool condition, Func<string> sentence) => _broken ??= condition ? null : sentence();

    // The host's reports do not contain the terms of entries.
    private static RaftCore CoreOf(RaftConsensus consensus) => consensus.Host.Core;

    /// <summary>The last observed state of a member.</summary>
    private sealed class Watched
    {
        /// <summary>The core of its last start; null before the first.</summary>
        public RaftCore? Core { get; set; }

        /// <summary>The number of its last start.</summary>
        public int Starts { get; set; }

        /// <summary>The position of the last entry that the journal may have lost, as its last start found.</summary>
        public LogPosition Lost { get; set; }

        /// <summary>Its term.</summary>
        public long Term { get; set; }

        /// <summary>The highest term that it has sent in a message.</summary>
        public long SentTerm { get; set; }

        /// <summary>The last term in which it led; 0 for none.</summary>
        public long Led { get; set; }

        /// <summary>Its commit index.</summary>
        public long Commit { get; set; }

        /// <summary>The index of its last entry that is on its disk.</summary>
        public long Durable { get; set; }

        /// <summary>
        /// Whether the member refuses writes, for example after a failed journal write: then it is unknown what is
        /// durable.
        /// </summary>
        public bool Refuses { get; set; }
    }
}
