using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Takes commands in: refuses what cannot be stored, waits for room, and puts the command in the queue of this node, or
/// has it sent to the member that leads.
/// </summary>
/// <remarks>
/// Called by many callers at once, without the lock of <see cref="RaftHost"/>; no field needs it.
/// </remarks>
internal sealed class ProposalIntake(
    RaftHost host,
    NodeStore store,
    VoterSpace space,
    ReadIndexService reads,
    Proposals proposals
)
{
    // Callers with more do not write themselves: bulk insert goes on reading.
    private const int LargestCommandToCommitHere = 64 << 10;

    // For a thread that reads a member's connection: while it waited for the disk, other commands would lie unread
    // behind this one, and each would get a sync of its own.
    private const int NothingToCommitHere = 0;

    private int _forwarded;

    /// <summary>Commands of other members' clients that are not answered yet.</summary>
    public int ForwardedInFlight => Volatile.Read(ref _forwarded);

    /// <summary>Called by a caller who found the writing thread asleep and has its turn now.</summary>
    public Action? CommitHere { get; set; }

    /// <summary>Proposes a command of a client of this node, here or at the leader.</summary>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        host.Refusal is null && !host.Leadership.IsReady && proposals.Forwarder is not null
            ? ProposeElsewhereAsync(command, cancellationToken)
            : ProposeHereAsync(command, LargestCommandToCommitHere, cancellationToken);

    /// <summary>
    /// Proposes a command that another member sent: only in the term that the command names, and never passed on. Who
    /// sent it may have given it up when it heard of the next leader, and nothing of it may take effect after that.
    /// </summary>
    public async ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        Interlocked.Increment(ref _forwarded);
        try
        {
            bool leads;
            lock (host.Gate)
            {
                // Older versions send no term.
                command.LeaderTerm = command.LeaderTerm == 0 ? host.Core.Term : command.LeaderTerm;
                leads = host.Core.Role == Role.Leader && host.Core.Term == command.LeaderTerm;
            }

            if (leads)
            {
                return await ProposeHereAsync(command, NothingToCommitHere, cancellationToken);
            }

            command.Dispose();
            return new CommandOutcome(host.Refusal ?? ProposalRejections.NoLeader);
        }
        finally
        {
            Interlocked.Decrement(ref _forwarded);
        }
    }

    /// <summary>Forwards to the leader, or proposes locally if this node has become it.</summary>
    public async ValueTask<CommandOutcome> ProposeElsewhereAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        CommandOutcome? sent;
        try
        {
            sent = await proposals.Forwarder!.SendToLeaderAsync(command, cancellationToken);
        }
        catch
        {
            command.Dispose();
            throw;
        }

        if (sent is not { } outcome)
        {
            return await ProposeHereAsync(command, NothingToCommitHere, cancellationToken);
        }

        command.Dispose();
        if (outcome.Rejection is null)
        {
            // So that who wrote through this node finds it here even in a local read.
            await reads.AppliedAsync(outcome.Index);
        }

        return outcome;
    }

    /// <summary>Proposes locally: leader, becoming leader, or no other member known.</summary>
    /// <param name="command">The command.</param>
    /// <param name="toCommitHere">How many bytes it may have for the caller's thread to write and sync it.</param>
    /// <param name="cancellationToken">Ends the wait for room.</param>
    private ValueTask<CommandOutcome> ProposeHereAsync(
        CommandBuffer command,
        int toCommitHere,
        CancellationToken cancellationToken
    )
    {
        var reader = new CommandReader(command.Written.Span);
        if ((host.Refusal ?? space.GrowthRefusal(command.Written.Span, host.Leadership.Configuration)) is { } refusal)
        {
            command.Dispose();
            return ValueTask.FromResult(new CommandOutcome(refusal));
        }

        return store.Admission.TryEnter(command.Length)
            ? Enqueue(command, reader, toCommitHere)
            : ProposeWhenThereIsRoomAsync(command, toCommitHere, cancellationToken);
    }

    private ValueTask<CommandOutcome> Enqueue(CommandBuffer command, scoped CommandReader reader, int toCommitHere)
    {
        LoadedVersion previous;
        try
        {
            if (store.LookAhead(reader, out previous) is { } refusal)
            {
                return ValueTask.FromResult(GiveUp(command, refusal));
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
        proposals.Answers.Expect();
        if (!proposals.Queue.TryPut(proposal, mayTakeTurn: command.Length <= toCommitHere, out bool hasTurn))
        {
            // The node stopped while this looked ahead: nobody is left to commit it.
            proposals.Answers.Refuse(proposal, host.Refusal ?? RaftHost.Stopping);
        }
        else if (hasTurn)
        {
            CommitHere?.Invoke();
        }

        return outcome;
    }

    private async ValueTask<CommandOutcome> ProposeWhenThereIsRoomAsync(
        CommandBuffer command,
        int toCommitHere,
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
                        $"{admission.Bytes} bytes of writes are in flight, of {admission.LimitBytes} that "
                            + $"may be. Nothing was stored; try again in a second."
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
                    "The request was given up before its write was queued. Nothing was stored."
                )
            );
        }

        if (host.Refusal is { } refusal)
        {
            // It came while this waited. Behind it nobody may be left to commit what is queued.
            return GiveUp(command, refusal);
        }

        return await Enqueue(command, new CommandReader(command.Written.Span), toCommitHere);
    }

    private CommandOutcome GiveUp(CommandBuffer command, Rejection refusal)
    {
        store.Admission.Leave(command.Length);
        command.Dispose();
        return new CommandOutcome(refusal);
    }
}
