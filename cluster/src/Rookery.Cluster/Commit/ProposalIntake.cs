using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
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
    Proposals proposals
)
{
    // In bytes. A caller with a larger command leaves the write to the journal thread, so that bulk insert can go on
    // reading.
    private const int LargestCommandToCommitHere = 64 << 10;

    // For a thread that reads a member's connection. If it wrote to the disk itself, the commands after this one would
    // stay unread, and each would get its own sync.
    private const int NothingToCommitHere = 0;

    private int _forwarded;

    /// <summary>The number of commands of other members' clients that are not answered yet.</summary>
    public int ForwardedInFlight => Volatile.Read(ref _forwarded);

    /// <summary>
    /// Commits on the calling thread. Invoked by a caller that took the write turn while the journal thread slept.
    /// </summary>
    public Action? CommitHere { get; set; }

    /// <summary>Proposes a command of this node's client, locally or through the leader.</summary>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        host.Refusal is null && !host.Leadership.IsReady && proposals.Forwarder is not null
            ? ProposeElsewhereAsync(command, cancellationToken)
            : ProposeHereAsync(command, LargestCommandToCommitHere, cancellationToken);

    /// <summary>
    /// Proposes a command that another member forwarded. Proposes it only in the term that the command names, and never
    /// forwards it again: the sender may have abandoned it when it learned of a later leader.
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
            // Wait, so that the client finds its write in later local reads on this node.
            await reads.WaitUntilAppliedAsync(outcome.Index);
        }

        return outcome;
    }

    /// <summary>Proposes on this node: it is or becomes leader, refuses all writes, or has no peers.</summary>
    /// <param name="command">The command.</param>
    /// <param name="toCommitHere">The largest command, in bytes, that the calling thread writes and syncs
    /// itself.</param>
    /// <param name="cancellationToken">Cancels the wait for admission.</param>
    private ValueTask<CommandOutcome> ProposeHereAsync(
        CommandBuffer command,
        int toCommitHere,
        CancellationToken cancellationToken
    )
    {
        var reader = new CommandReader(command.Written.Span);
        if ((host.Refusal ?? space.CheckGrowth(command.Written.Span, host.Leadership.Configuration)) is { } refusal)
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
            // The node stopped meanwhile: no thread is left to commit the command.
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
            // The node began to refuse writes during the wait, and may have no thread left to commit queued commands.
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
