using Rookery.Cluster.Contents;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Accepts commands of clients and other members. Refuses commands that cannot be stored, waits until their bytes are
/// admitted, and queues them on this node or forwards them to the leader.
/// </summary>
/// <remarks>
/// Callable from any number of threads, without the lock of <see cref="RaftHost"/>, which guards no field here.
/// </remarks>
internal sealed class ProposalIntake(
    RaftHost host,
    NodeStore store,
    VoterSpace space,
    ReadIndexService reads,
    Proposals proposals,
    ContentSharing? sharing
)
{
    // The largest command, in bytes, that the thread of its caller commits. The journal thread commits larger commands,
    // so that a bulk insert can read its next documents meanwhile.
    private const int MaxBytesCommittedByCaller = 64 << 10;

    // The caller does not commit commands that another member forwarded, or that waited for this node to become leader.
    // Such commands often arrive together, so the journal thread commits all queued ones with one sync.
    private const int NoBytesCommittedByCaller = 0;

    private int _forwardedInFlight;

    /// <summary>The number of commands of other members' clients that are not answered yet.</summary>
    public int ForwardedInFlight => Volatile.Read(ref _forwardedInFlight);

    /// <summary>
    /// Commits on the calling thread. Invoked by a caller that took the write turn, the right to write the journal
    /// (<see cref="ProposalQueue"/>), while the journal thread slept.
    /// </summary>
    public Action? CommitOnCallingThread { get; set; }

    /// <summary>
    /// Proposes a command of this node's client, here or through the leader. If the command names attachment contents,
    /// the other members are offered them first.
    /// </summary>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        sharing is not null && CommandReader.NamesContentsIn(command.Written.Span)
            ? ProposeSharedAsync(command, cancellationToken)
            : ProposeHereOrThroughLeaderAsync(command, cancellationToken);

    private ValueTask<CommandOutcome> ProposeHereOrThroughLeaderAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    ) =>
        host.Refusal is null && !host.Leadership.IsReady && proposals.Forwarder is not null && !IsTooLong(command)
            ? ProposeThroughLeaderAsync(command, cancellationToken)
            : ProposeHereAsync(command, MaxBytesCommittedByCaller, cancellationToken);

    /// <summary>
    /// Offers the attachment contents that a command names to the other members, and then proposes the command. Does
    /// both again if a leader that was elected meanwhile lacks one of these contents.
    /// </summary>
    private async ValueTask<CommandOutcome> ProposeSharedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        const int MaxAttempts = 3;
        var names = new List<ContentName>();
        ContentName.AddOfCommand(command.Written.Span, names);
        using (command)
        {
            for (int attempt = 1; ; attempt++)
            {
                if (host.Refusal is { } stopping)
                {
                    return new CommandOutcome(stopping);
                }

                if (await sharing!.ShareAsync(names, cancellationToken) is { } refused)
                {
                    return new CommandOutcome(refused);
                }

                var outcome = await ProposeHereOrThroughLeaderAsync(CopyOf(command), cancellationToken);
                if (outcome.Rejection is not { Kind: RejectionKind.ContentMissing } || attempt == MaxAttempts)
                {
                    return outcome;
                }
            }
        }
    }

    private static CommandBuffer CopyOf(CommandBuffer command)
    {
        var copy = CommandBuffer.Rent(command.Length);
        command.Written.Span.CopyTo(copy.GetSpan(command.Length));
        copy.Advance(command.Length);
        copy.WantsReceipt = command.WantsReceipt;
        return copy;
    }

    /// <summary>
    /// Proposes a command that another member forwarded. Proposes it only in the term that the command names, and never
    /// forwards it again: the sender may have abandoned the command when it learned of a later leader.
    /// </summary>
    public async ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        Interlocked.Increment(ref _forwardedInFlight);
        try
        {
            bool leadsInNamedTerm;
            lock (host.Gate)
            {
                // Older versions send no term.
                command.LeaderTerm = command.LeaderTerm == 0 ? host.Core.Term : command.LeaderTerm;
                leadsInNamedTerm = host.Core.Role == Role.Leader && host.Core.Term == command.LeaderTerm;
            }

            if (leadsInNamedTerm)
            {
                return await ProposeHereAsync(command, NoBytesCommittedByCaller, cancellationToken);
            }

            command.Dispose();
            return new CommandOutcome(host.Refusal ?? ProposalRejections.NoLeader);
        }
        finally
        {
            Interlocked.Decrement(ref _forwardedInFlight);
        }
    }

    /// <summary>Forwards to the leader, or proposes locally if this node has become leader.</summary>
    public async ValueTask<CommandOutcome> ProposeThroughLeaderAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        CommandOutcome? forwarded;
        try
        {
            forwarded = await proposals.Forwarder!.SendToLeaderAsync(command, cancellationToken);
        }
        catch
        {
            command.Dispose();
            throw;
        }

        if (forwarded is not { } outcome)
        {
            return await ProposeHereAsync(command, NoBytesCommittedByCaller, cancellationToken);
        }

        command.Dispose();
        if (outcome.Rejection is null)
        {
            // Wait, so that the client finds its write in later local reads on this node.
            await reads.WaitUntilAppliedAsync(outcome.Index);
        }

        return outcome;
    }

    /// <summary>
    /// Proposes on this node, or refuses here. Called if this node is or becomes leader, has no peers, or refuses all
    /// writes, or if the command is too long.
    /// </summary>
    /// <param name="command">The command.</param>
    /// <param name="maxBytesToCommitHere">The largest command that the calling thread commits itself.</param>
    /// <param name="cancellationToken">Cancels the wait for admission.</param>
    private ValueTask<CommandOutcome> ProposeHereAsync(
        CommandBuffer command,
        int maxBytesToCommitHere,
        CancellationToken cancellationToken
    )
    {
        store.ChooseNumbering(command);
        var reader = new CommandReader(command.Written.Span);
        var refused =
            host.Refusal
            ?? (IsTooLong(command) ? TooLong(command) : null)
            ?? space.CheckGrowth(command.Written.Span, host.Leadership.Configuration)
            ?? store.DatabaseQuota.Check(reader);
        if (refused is { } refusal)
        {
            command.Dispose();
            return ValueTask.FromResult(new CommandOutcome(refusal));
        }

        // In a cluster, the leader pins the contents. On a single node, the uploads keep their contents pinned.
        if (reader.NamesContents && sharing is not null)
        {
            return ProposePinnedAsync(command, cancellationToken);
        }

        return store.Admission.TryEnter(command.Length)
            ? Enqueue(command, reader, maxBytesToCommitHere)
            : ProposeAfterAdmissionAsync(command, maxBytesToCommitHere, cancellationToken);
    }

    /// <summary>
    /// Pins the contents that a command names until the command is answered. Refuses the command if a content is
    /// missing: no member appends an entry before it has the contents that the entry names.
    /// </summary>
    private async ValueTask<CommandOutcome> ProposePinnedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        var names = new List<ContentName>();
        ContentName.AddOfCommand(command.Written.Span, names);
        var pinned = new List<PinnedContent>(names.Count);
        try
        {
            if (await PinAsync(names, pinned) is { } refused)
            {
                command.Dispose();
                return new CommandOutcome(refused);
            }

            // From here on the command belongs to the callee, even if it throws.
            return store.Admission.TryEnter(command.Length)
                ? await Enqueue(command, new CommandReader(command.Written.Span), NoBytesCommittedByCaller)
                : await ProposeAfterAdmissionAsync(command, NoBytesCommittedByCaller, cancellationToken);
        }
        finally
        {
            pinned.ForEach(static content => content.Dispose());
        }
    }

    private async Task<Rejection?> PinAsync(List<ContentName> names, List<PinnedContent> pinned)
    {
        try
        {
            foreach (var name in names)
            {
                if (await store.Attachments.Replicated.TryPinAsync(name) is not { } content)
                {
                    return ProposalRejections.ContentMissing(name.Hash);
                }

                pinned.Add(content);
            }

            return null;
        }
        catch (DiskException refused)
        {
            return new Rejection(RejectionKind.Damaged, $"Nothing was stored. {refused.Message}");
        }
        catch (OperationCanceledException)
        {
            return RaftHost.Stopping;
        }
    }

    // Applies to all kinds of commands: a longer one in the log would stop the replication of all later entries.
    private static bool IsTooLong(CommandBuffer command) => command.Length > DocumentLimits.MaxCommandBytes;

    private static Rejection TooLong(CommandBuffer command)
    {
        var (actual, max) = Amount.BytesOver(command.Length, DocumentLimits.MaxCommandBytes);
        return new Rejection(
            RejectionKind.TooLarge,
            $"The command of this request takes {actual}, and at most {max} are allowed. Nothing was stored; send "
                + "several requests."
        );
    }

    private ValueTask<CommandOutcome> Enqueue(
        CommandBuffer command,
        scoped CommandReader reader,
        int maxBytesToCommitHere
    )
    {
        LoadedVersion previous;
        try
        {
            if (store.LoadPrevious(reader, out previous) is { } refusal)
            {
                return ValueTask.FromResult(RefuseAdmitted(command, refusal));
            }
        }
        catch
        {
            store.Admission.Leave(command.Length);
            command.Dispose();
            throw;
        }

        var proposal = Proposal.Rent(command, reader.OperationCount, previous);
        var outcome = proposal.Task;
        proposals.Answers.AddUnanswered();
        if (
            !proposals.Queue.TryEnqueue(proposal, mayTakeTurn: command.Length <= maxBytesToCommitHere, out bool hasTurn)
        )
        {
            // The node stopped meanwhile: no thread is left to commit the command.
            proposals.Answers.Refuse(proposal, host.Refusal ?? RaftHost.Stopping);
        }
        else if (hasTurn)
        {
            CommitOnCallingThread?.Invoke();
        }

        return outcome;
    }

    private async ValueTask<CommandOutcome> ProposeAfterAdmissionAsync(
        CommandBuffer command,
        int maxBytesToCommitHere,
        CancellationToken cancellationToken
    )
    {
        var admission = store.Admission;
        try
        {
            if (!await admission.EnterAsync(command.Length, cancellationToken))
            {
                command.Dispose();
                return new CommandOutcome(
                    new Rejection(
                        RejectionKind.Overloaded,
                        $"{Amount.Bytes(admission.Bytes)} of writes are in flight; the limit is "
                            + $"{Amount.Bytes(admission.LimitBytes)}. Nothing was stored; try again in a second."
                    )
                );
            }
        }
        catch (OperationCanceledException)
        {
            command.Dispose();
            return new CommandOutcome(
                new Rejection(
                    RejectionKind.Canceled,
                    "The request was canceled before its write was queued. Nothing was stored."
                )
            );
        }

        if (host.Refusal is { } refusal)
        {
            // The node began to refuse writes during the wait, and may have no thread left to commit queued commands.
            return RefuseAdmitted(command, refusal);
        }

        return await Enqueue(command, new CommandReader(command.Written.Span), maxBytesToCommitHere);
    }

    private CommandOutcome RefuseAdmitted(CommandBuffer command, Rejection refusal)
    {
        store.Admission.Leave(command.Length);
        command.Dispose();
        return new CommandOutcome(refusal);
    }
}
