using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Joining;
using Rookery.Documents.Consensus;
using Rookery.Raft;

namespace Rookery.Cluster.Membership;

/// <summary>
/// Carries out the operator's orders about members. Only the leader carries them out; other nodes forward them to the
/// leader's port for members.
/// </summary>
/// <param name="consensus">This node's consensus.</param>
/// <param name="recordStore">The members' records.</param>
/// <param name="connect">Makes an HTTPS client for another member's port; the caller disposes it. Returns null when no
/// address is known.</param>
/// <param name="time">The clock.</param>
public sealed class MembershipService(
    RaftConsensus consensus,
    IJoinRecordStore recordStore,
    Func<NodeId, HttpClient?> connect,
    TimeProvider time
)
{
    /// <summary>
    /// The path prefix of forwarded orders: POST /members/ORDER?name=&amp;hops=, with the number of forwards left.
    /// </summary>
    internal const string Prefix = "/members/";

    // The maximum number of forwards: one from a follower to the leader, and one to the next leader when the leader
    // itself is to be removed.
    private const int MaxForwards = 2;

    // Repetitions at intervals of RetryDelay: 5 s together.
    private const int Attempts = 50;

    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(30);

    /// <summary>Carries out an order. The name may be a member's name, tag or id.</summary>
    public Task<MemberAnswer> AskAsync(MemberOrder order, string? name, CancellationToken cancellationToken) =>
        AskAsync(order, name, MaxForwards, cancellationToken);

    /// <summary>Answers an order that another member forwards.</summary>
    internal async Task AnswerMemberAsync(HttpContext http)
    {
        // Without short-circuiting, so that the compiler sees all variables assigned.
        bool isOrder =
            Enum.TryParse(http.Request.Path.Value.AsSpan(Prefix.Length), ignoreCase: true, out MemberOrder order)
            & Enum.IsDefined(order)
            & int.TryParse(
                http.Request.Query["hops"],
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out int forwardsLeft
            );
        string? name = http.Request.Query["name"];
        var answer =
            isOrder && forwardsLeft < MaxForwards
                ? await AskAsync(order, name, forwardsLeft, http.RequestAborted)
                : new MemberAnswer(StatusCodes.Status400BadRequest, "This version does not know that order.");
        http.Response.StatusCode = answer.Status;
        await http.Response.WriteAsync(answer.Text, http.RequestAborted);
    }

    private bool IsBecomingLeader() =>
        consensus.Leader == consensus.Self && !consensus.IsLeader && consensus.Refusal is null;

    private async Task<MemberAnswer> AskAsync(
        MemberOrder order,
        string? name,
        int forwardsLeft,
        CancellationToken cancellationToken
    )
    {
        // A new leader first applies the entries of earlier terms.
        for (int attempt = 0; attempt < Attempts && IsBecomingLeader(); attempt++)
        {
            await Task.Delay(RetryDelay, time, cancellationToken);
        }

        if (!consensus.IsLeader)
        {
            return order == MemberOrder.List && (consensus.Leader.IsNone || forwardsLeft == 0)
                ? List()
                : await AskLeaderAsync(order, name, forwardsLeft, cancellationToken);
        }

        if (order == MemberOrder.List)
        {
            return List();
        }

        if (order == MemberOrder.ConfirmClock)
        {
            return ConfirmClock();
        }

        if (order == MemberOrder.FinalizeUpgrade)
        {
            return await UpgradeEnd.FinalizeAsync(consensus, recordStore, cancellationToken);
        }

        bool toAnyVoter = order == MemberOrder.Transfer && string.IsNullOrEmpty(name);
        var member = toAnyVoter ? null : Find(name);
        if (member is null && !toAnyVoter)
        {
            string names = string.Join(", ", consensus.Roster.Entries.Select(static entry => entry.Record.Name));
            return new MemberAnswer(
                StatusCodes.Status404NotFound,
                $"No member is called \"{name}\"; there are {names}."
            );
        }

        return order switch
        {
            MemberOrder.Promote => await PromoteAsync(member!, cancellationToken),
            MemberOrder.Demote => await DemoteAsync(member!, cancellationToken),
            MemberOrder.Remove => await RemoveAsync(member!, forwardsLeft, cancellationToken),
            _ => await TransferAsync(member, cancellationToken),
        };
    }

    private async Task<MemberAnswer> AskLeaderAsync(
        MemberOrder order,
        string? name,
        int forwardsLeft,
        CancellationToken cancellationToken
    )
    {
        var leader = consensus.Leader;
        if (leader.IsNone || leader == consensus.Self || forwardsLeft == 0)
        {
            return Unavailable(
                "No member leads now, or none is known here, so nothing was changed. Ask again in a few "
                    + "seconds; `rookery status` says what is missing."
            );
        }

        using var client = connect(leader);
        if (client is null)
        {
            return Unavailable($"{NameOf(leader)} leads, and this node does not know where it is. Ask another node.");
        }

        using var timeout = new CancellationTokenSource(AnswerTimeout, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var path = new Uri(
                $"{Prefix}{order}?hops={forwardsLeft - 1}&name={Uri.EscapeDataString(name ?? string.Empty)}",
                UriKind.Relative
            );
            using var response = await client.PostAsync(path, content: null, linked.Token);
            return new MemberAnswer((int)response.StatusCode, await response.Content.ReadAsStringAsync(linked.Token));
        }
        catch (Exception failure) when (failure is HttpRequestException or OperationCanceledException)
        {
            return Unavailable(
                order == MemberOrder.List
                    ? $"{NameOf(leader)} was known to lead and does not answer this node, so the members "
                        + $"cannot be listed now. Try again in a second."
                    : $"{NameOf(leader)} leads and did not answer this node, so it is not known whether "
                        + $"anything was changed. Look with `rookery cluster node ls`."
            );
        }
    }

    private MemberAnswer List() => new(StatusCodes.Status200OK, MemberListing.ToJson(consensus.ReadCluster()));

    private MemberAnswer ConfirmClock()
    {
        var (answer, sentence) = consensus.ConfirmClock();
        if (answer == ClockAnswer.Confirmed)
        {
            return new MemberAnswer(StatusCodes.Status200OK, sentence);
        }

        if (answer == ClockAnswer.ClocksDiffer)
        {
            return Refused(sentence);
        }

        return Unavailable(sentence);
    }

    private async Task<MemberAnswer> PromoteAsync(RosterEntry member, CancellationToken cancellationToken)
    {
        var configuration = consensus.ReadState().Configuration;
        int voters = configuration.Voters.Length;
        bool wouldAddNoTolerance = voters is > 2 and < Configuration.MaxVoters && voters % 2 == 1;
        return configuration.IsLearner(member.Member) && wouldAddNoTolerance
            ? Refused(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{voters + 1} voters tolerate no more failures than {voters}, and each write would wait for "
                        + $"{(voters / 2) + 2} disks instead of {configuration.Majority}, so {member.Record.Name} "
                        + $"stays a learner, which receives all data. "
                        + $"Let one more node join, and both get a vote by themselves; or remove a voter, and "
                        + $"{member.Record.Name} gets its vote."
                )
            )
            : await ChangeAsync(
                member,
                MemberChange.Voter,
                configuration.IsVoter(member.Member) ? "votes already" : "votes from now on",
                cancellationToken
            );
    }

    private async Task<MemberAnswer> DemoteAsync(RosterEntry member, CancellationToken cancellationToken)
    {
        var configuration = consensus.ReadState().Configuration;
        bool isLearner = configuration.IsLearner(member.Member);
        if (!isLearner && WhyNotDemoted(member, configuration) is { } reason)
        {
            return Refused(reason);
        }

        // Change the record before demoting; otherwise the leader would promote a mirror again. A member that was never
        // started may still announce that it is a mirror.
        var rejection = await WriteAsync(
            () =>
                recordStore.Find(MemberRecord.KeyOf(member.NodeId)) is { } stored
                && MemberRecord.Parse(stored.Value.Span) is { } record
                && record is { IsMirror: true } or { IsMirror: null, StoreId: null }
                    ? [new RecordChange(stored.Key, (record with { IsMirror = false }).ToJson(), stored.Version)]
                    : null,
            cancellationToken
        );
        return rejection is not null
            ? Unavailable(rejection.Message)
            : await ChangeAsync(
                member,
                MemberChange.Learner,
                isLearner
                    ? "has no vote, and goes on to receive everything"
                    : "does not vote any more, and goes on to receive everything",
                cancellationToken
            );
    }

    private string? WhyNotDemoted(RosterEntry member, Configuration configuration)
    {
        if (configuration.Voters.Length == 1)
        {
            return ExplainOnlyVoter(member.Member, configuration, "without its vote nothing could be written");
        }

        if (
            configuration.Voters.Length
            <= VoterRule.VotersOf(configuration.Voters.Length + configuration.Learners.Length)
        )
        {
            return "A cluster with this number of members needs all its present voters: a demoted member would get its "
                + "vote back at once. Remove it instead.";
        }

        if (member.Member == consensus.Self)
        {
            return $"{member.Record.Name} leads. Hand leadership over first, with `rookery cluster node transfer`.";
        }

        return null;
    }

    /// <summary>
    /// Removes a member: first from the configuration, then its record. (In the other order, a voter would still count
    /// for majorities while its connections are refused.) If this fails in between, repeating the order completes it.
    /// </summary>
    private async Task<MemberAnswer> RemoveAsync(
        RosterEntry member,
        int forwardsLeft,
        CancellationToken cancellationToken
    )
    {
        if (member.Member == consensus.Self)
        {
            return await RemoveSelfAsync(member, forwardsLeft, cancellationToken);
        }

        var removed = await ChangeAsync(member, MemberChange.Removed, "is not a member any more", cancellationToken);
        return removed.Status == StatusCodes.Status200OK
            ? await ForgetAsync(member, removed, cancellationToken)
            : removed;
    }

    private async Task<MemberAnswer> RemoveSelfAsync(
        RosterEntry member,
        int forwardsLeft,
        CancellationToken cancellationToken
    )
    {
        var configuration = consensus.ReadState().Configuration;
        if (configuration.Voters.Length == 1)
        {
            return Refused(ExplainOnlyVoter(member.Member, configuration, "without it nothing could be written"));
        }

        // The core checks this too, but only after the transfer of leadership, which would pause proposals for nothing.
        if (
            configuration.Voters.Length - 1 - Unreachable(configuration).Length
            < configuration.Without(member.Member).Majority
        )
        {
            return Refused(ExplainNoMajority(member.Record.Name));
        }

        var handedOver = await TransferAsync(member: null, cancellationToken);
        if (handedOver.Status != StatusCodes.Status200OK)
        {
            return handedOver with
            {
                Text =
                    $"{member.Record.Name} leads, and a leader does not remove itself, so it was not "
                    + $"removed. {handedOver.Text}",
            };
        }

        var removed = await AskLeaderAsync(MemberOrder.Remove, member.NodeId, forwardsLeft, cancellationToken);
        return removed with
        {
            Text = $"{member.Record.Name} led, so it handed leadership over first. {handedOver.Text} {removed.Text}",
        };
    }

    private async Task<MemberAnswer> ForgetAsync(
        RosterEntry member,
        MemberAnswer removed,
        CancellationToken cancellationToken
    )
    {
        string key = MemberRecord.KeyOf(member.NodeId);
        var rejection = await WriteAsync(
            () =>
                recordStore.Find(key) is { } record
                    ? [new RecordChange(key, Value: null, record.Version), new Seats(recordStore).Guard()]
                    : null,
            cancellationToken
        );
        return rejection is null
            ? removed
            : Unavailable(
                $"{member.Record.Name} is not a member any more, but its record is still there: "
                    + $"{rejection.Message} Remove it again."
            );
    }

    /// <summary>Changes records, and tries again after concurrent changes.</summary>
    /// <param name="changes">Computes the changes from the current records; null for none.</param>
    /// <param name="cancellationToken">Cancels.</param>
    private async Task<Rejection?> WriteAsync(
        Func<IReadOnlyList<RecordChange>?> changes,
        CancellationToken cancellationToken
    )
    {
        for (int attempt = 1; changes() is { } due; attempt++)
        {
            var rejection = await recordStore.ChangeAsync(due, cancellationToken);
            if (rejection is not { Kind: RejectionKind.ConcurrencyConflict } || attempt == Attempts)
            {
                return rejection;
            }

            await Task.Delay(RetryDelay, time, cancellationToken);
        }

        return null;
    }

    private async Task<MemberAnswer> TransferAsync(RosterEntry? member, CancellationToken cancellationToken)
    {
        var configuration = consensus.ReadState().Configuration;
        if (member?.Member == consensus.Self)
        {
            return new MemberAnswer(StatusCodes.Status200OK, $"{member.Record.Name} leads already.");
        }

        if (member is not null && !configuration.IsVoter(member.Member))
        {
            return Refused(
                $"{member.Record.Name} does not vote, so it cannot lead. Let it vote first, with `rookery "
                    + $"cluster node promote {member.Record.Name}`."
            );
        }

        if (configuration.Voters.Length == 1)
        {
            return Refused(ExplainOnlyVoter(consensus.Self, configuration, "nobody could take over"));
        }

        consensus.Transfer(member?.Member ?? NodeId.None);
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            await Task.Delay(RetryDelay, time, cancellationToken);
            if (consensus.Leader is { IsNone: false } leader && leader != consensus.Self)
            {
                return new MemberAnswer(StatusCodes.Status200OK, $"{NameOf(leader)} leads now.");
            }
        }

        return Unavailable(
            $"{member?.Record.Name ?? "No other voter"} did not take over in time; `rookery cluster node "
                + $"ls` shows which members are reachable and how far they lag."
        );
    }

    /// <summary>Changes a member's role, and waits until the change is committed, 5 s at most.</summary>
    /// <param name="member">The member.</param>
    /// <param name="change">The change.</param>
    /// <param name="result">The end of the answer's sentence, after the member's name, such as "votes already".</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    private async Task<MemberAnswer> ChangeAsync(
        RosterEntry member,
        MemberChange change,
        string result,
        CancellationToken cancellationToken
    )
    {
        var answer = ChangeAnswer.ChangePending;
        for (int attempt = 0; attempt < Attempts && answer == ChangeAnswer.ChangePending; attempt++)
        {
            answer = consensus.ChangeMember(change, member.Member);
            if (answer == ChangeAnswer.ChangePending)
            {
                await Task.Delay(RetryDelay, time, cancellationToken);
            }
        }

        bool isDone =
            answer is ChangeAnswer.Accepted or ChangeAnswer.NothingToDo
            || (answer == ChangeAnswer.NoSuchMember && change == MemberChange.Removed);
        if (!isDone)
        {
            return Refuse(answer, member.Record.Name);
        }

        if (await IsCommittedAsync(cancellationToken))
        {
            return new MemberAnswer(
                StatusCodes.Status200OK,
                $"{member.Record.Name} {result}. {ToleranceOf(consensus.ReadState().Configuration)}"
            );
        }

        return Unavailable(
            $"The change is proposed and not committed yet: no majority of the voters answers. "
                + $"See `rookery cluster node ls`, and order the change again."
        );
    }

    private string ToleranceOf(Configuration configuration)
    {
        int voters = configuration.Voters.Length;
        bool willPromote = voters > 1 && VoterRule.VotersOf(voters + configuration.Learners.Length) > voters;
        if (!willPromote)
        {
            return MemberListing.Tolerance(voters);
        }

        string learners = string.Join(" or ", configuration.Learners.ToArray().Select(NameOf));
        return $"{MemberListing.Tolerance(voters)} This holds until {learners} has caught up and gets a vote.";
    }

    private async Task<bool> IsCommittedAsync(CancellationToken cancellationToken)
    {
        for (int attempt = 0; attempt < Attempts && consensus.ReadState().ChangeIsPending; attempt++)
        {
            await Task.Delay(RetryDelay, time, cancellationToken);
        }

        return consensus.ReadState() is { ChangeIsPending: false, Role: Role.Leader };
    }

    private RosterEntry? Find(string? name) =>
        consensus.Roster.Entries.FirstOrDefault(entry =>
            string.Equals(entry.Record.Name, name, StringComparison.Ordinal)
            || string.Equals(entry.Record.Tag, name, StringComparison.Ordinal)
            || string.Equals(entry.NodeId, name, StringComparison.Ordinal)
        );

    private string NameOf(NodeId member) => consensus.Roster.NameOf(member);

    /// <summary>Explains why the only voter must stay a voter, and what to do first.</summary>
    private string ExplainOnlyVoter(NodeId voter, Configuration configuration, string reason)
    {
        string first = configuration.Learners is [var learner, ..]
            ? $"Let another vote first, with `rookery cluster node promote {NameOf(learner)}`."
            : "Let another node join first, with the token that `rookery cluster token create` prints, and give "
                + "it a vote with `rookery cluster node promote NAME`.";
        return $"{NameOf(voter)} is the only voter: {reason}, so nothing was changed. {first}";
    }

    private MemberAnswer Refuse(ChangeAnswer answer, string name) =>
        answer switch
        {
            ChangeAnswer.NotLeader => Unavailable(
                "This node lost its leadership meanwhile, so no member was changed. Ask again in a second."
            ),
            ChangeAnswer.ChangePending => Unavailable(
                "The change of members before this one is not committed yet, or leadership is being handed over, so no "
                    + "member was changed. A majority of the voters has to answer first: ask again in a few seconds."
            ),
            ChangeAnswer.NotCaughtUp => Unavailable(
                $"{name} has not caught up, or does not answer, and as a voter it would hold up every write. "
                    + $"Wait until `rookery cluster node ls` shows that it is reachable and lacks nothing."
            ),
            ChangeAnswer.NoMajority => Refused(ExplainNoMajority(name)),
            ChangeAnswer.LeaderItself => Refused(
                $"{name} leads, and a leader does not take its own vote. Hand leadership over first, with "
                    + $"`rookery cluster node transfer`."
            ),
            ChangeAnswer.TooManyVoters => Refused(
                $"{Configuration.MaxVoters} members vote already, which is the maximum: more would only make "
                    + $"each write wait for more disks. {name} stays a learner, which receives all data; when a voter "
                    + $"is removed, {name} gets its vote."
            ),
            _ => Refused($"The role of {name} in the cluster cannot be changed in this way."),
        };

    private string ExplainNoMajority(string name)
    {
        string[] off = [.. Unreachable(consensus.ReadState().Configuration).Select(consensus.Roster.NameAndTagOf)];
        var (verb, pronoun) = off.Length == 1 ? ("is", "it") : ("are", "one");
        string first =
            off.Length == 0
                ? "Wait until `rookery cluster node ls` shows that the others lack nothing."
                : $"{NameList.Of(off)} {verb} not reachable: bring {pronoun} back first, or remove {pronoun} first if "
                    + "it is lost for good.";
        return $"That would leave fewer than a majority of the voters reachable and up to date, and nothing could "
            + $"be written any more, so {name} stays what it is. {first}";
    }

    private NodeId[] Unreachable(Configuration configuration) =>
        [
            .. consensus
                .Report.ReadPeers()
                .Where(peer => configuration.IsVoter(peer.Node) && !peer.IsReachable)
                .Select(static peer => peer.Node),
        ];

    private static MemberAnswer Refused(string sentence) => new(StatusCodes.Status409Conflict, sentence);

    private static MemberAnswer Unavailable(string sentence) => new(StatusCodes.Status503ServiceUnavailable, sentence);
}
