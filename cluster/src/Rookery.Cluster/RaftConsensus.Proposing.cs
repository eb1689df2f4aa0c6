using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>From a caller's command to a frame in the log.</summary>
public sealed partial class RaftConsensus
{
    // A caller with more than this has more to do than to wait for the disk: bulk insert reads on meanwhile.
    private const int LargestCommandToCommitHere = 64 << 10;

    // For a thread that reads a member's connection: while it waited for the disk, other commands would lie unread
    // behind this one, and each would get a sync of its own.
    private const int NothingToCommitHere = 0;

    private readonly ProposalQueue _queue;

    // Of who has the turn: taken from the queue, not yet in a frame.
    private readonly Queue<Proposal> _waiting = new();

    /// <summary>Called by a caller who found the writing thread asleep and has its turn now.</summary>
    internal Action? CommitHere { get; set; }

    internal ProposalQueue Queue => _queue;

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken) =>
        ProposeAsync(command, LargestCommandToCommitHere, cancellationToken);

    private ValueTask<CommandOutcome> ProposeAsync(
        CommandBuffer command,
        int toCommitHere,
        CancellationToken cancellationToken
    ) =>
        Refusal is null && !_leadership.IsReady && _network is not null
            ? ProposeElsewhereAsync(command, cancellationToken)
            : ProposeHereAsync(command, toCommitHere, cancellationToken);

    /// <summary>
    /// Answers what still waits when nobody will commit or apply it here any more. What comes later is refused.
    /// </summary>
    internal void RefuseWaiting()
    {
        _queue.Close(_waiting);
        _answers.RefuseAll(_waiting, Refusal ?? RaftHost.Stopping);
        lock (_host.Gate)
        {
            RefuseUnapplied(through: long.MaxValue);
        }
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
        if ((Refusal ?? _space.GrowthRefusal(command.Written.Span, Configuration)) is { } refusal)
        {
            command.Dispose();
            return ValueTask.FromResult(new CommandOutcome(refusal));
        }

        return _store.Admission.TryEnter(command.Length)
            ? Enqueue(command, reader, toCommitHere)
            : ProposeWhenThereIsRoomAsync(command, toCommitHere, cancellationToken);
    }

    private ValueTask<CommandOutcome> Enqueue(CommandBuffer command, scoped CommandReader reader, int toCommitHere)
    {
        LoadedVersion previous;
        try
        {
            if (_store.LookAhead(reader, out previous) is { } refusal)
            {
                return ValueTask.FromResult(GiveUp(command, refusal));
            }
        }
        catch
        {
            _store.Admission.Leave(command.Length);
            command.Dispose();
            throw;
        }

        var proposal = Proposal.Rent(command, reader.OperationCount, previous);
        var outcome = proposal.Task;
        _answers.Expect();
        if (!_queue.TryPut(proposal, mayTakeTurn: command.Length <= toCommitHere, out bool hasTurn))
        {
            // The node stopped while this looked ahead: nobody is left to commit it.
            _answers.Refuse(proposal, Refusal ?? RaftHost.Stopping);
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
        var admission = _store.Admission;
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

        if (Refusal is { } refusal)
        {
            // It came while this waited. Behind it nobody may be left to commit what is queued.
            return GiveUp(command, refusal);
        }

        return await Enqueue(command, new CommandReader(command.Written.Span), toCommitHere);
    }

    private CommandOutcome GiveUp(CommandBuffer command, Rejection refusal)
    {
        _store.Admission.Leave(command.Length);
        command.Dispose();
        return new CommandOutcome(refusal);
    }

    /// <summary>Takes what waits into a frame and gives it a place in the log. By who has the turn.</summary>
    /// <returns>The commands in the frame; 0 when there is none.</returns>
    private int Propose()
    {
        _queue.TakeAll(_waiting);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        if (Refusal is { Kind: RejectionKind.Diagnosis } refusal)
        {
            _answers.RefuseAll(_waiting, refusal);
            return 0;
        }

        if (!_leadership.MayPropose)
        {
            PassOnUnlessLeader();
            return 0;
        }

        long term = Term;
        RefuseForwarded(exceptIn: term);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        LogFrame frame;
        LogTime time;
        lock (_host.Gate)
        {
            frame = _log.Frames.Rent();
            time = _clusterTime.NextLogTime();
        }

        try
        {
            frame.Fill(_waiting, time);
        }
        catch (OutOfMemoryException)
        {
            _answers.Refuse(frame, ProposalRejections.NoMemory);
            return 0;
        }

        return Place(frame, term);
    }

    private int Place(LogFrame frame, long term)
    {
        int count = frame.Count;
        lock (_host.Gate)
        {
            bool isInTime = _clusterTime.HoldsLogTime && _host.Core.Term == term;
            if (isInTime)
            {
                _host.Step(Input.Propose(_host.Now, frame.Bytes), proposed: frame);
                if (_host.Output.Proposed is not null && !_host.IsHalted)
                {
                    if (frame.WantsReceipt)
                    {
                        _receipts.Watch(frame, _host.Now);
                    }

                    return count;
                }
            }

            if (!_host.IsHalted && (!isInTime || _host.Core.Role != Role.Leader || _host.Core.IsTransferring))
            {
                // Leadership began to go elsewhere while the frame was put together.
                frame.GiveBack(_waiting);
            }
            else
            {
                _answers.Refuse(frame, Refusal ?? ProposalRejections.MembersDiffer);
            }

            frame.Retain();
            _log.Frames.Release(frame);
            return 0;
        }
    }

    /// <summary>
    /// A node that leads, or is about to, keeps what waits until it may propose it, unless it cannot apply. Another
    /// passes on what its own clients sent, within two election timeouts: it was never in a log. Who forwarded
    /// something is told so, and sends it to the next leader himself if he still waits for it.
    /// </summary>
    private void PassOnUnlessLeader()
    {
        lock (_host.Gate)
        {
            if (_host.Core.Role == Role.Leader && !_host.IsHalted && !_progress.IsBlocked)
            {
                return;
            }
        }

        if (_network is null || Refusal is not null)
        {
            _answers.RefuseAll(_waiting, Refusal ?? ProposalRejections.NoLeader);
            return;
        }

        RefuseForwarded(exceptIn: 0);

        while (_waiting.TryDequeue(out var proposal))
        {
            _ = PassOnAsync(proposal);
        }
    }

    private async Task PassOnAsync(Proposal proposal)
    {
        // It is admitted again where it goes, perhaps here.
        _store.Admission.Leave(proposal.Bytes);
        CommandOutcome outcome;
        try
        {
            outcome = await ProposeElsewhereAsync(proposal.TakeCommand(), CancellationToken.None);
        }
        catch (Exception failure)
        {
            if (failure is InvariantViolationException)
            {
                _options.Broken(failure);
            }

            // Nobody awaits this: its caller would wait for ever.
            outcome = new CommandOutcome(
                new Rejection(
                    RejectionKind.OutcomeUnknown,
                    $"The write was passed on to the leader, and what came of it is not known: "
                        + $"{failure.Message} Read before you write it again, or use an Idempotency-Key."
                )
            );
        }

        _answers.AnswerElsewhere(proposal, outcome);
    }

    private void RefuseForwarded(long exceptIn)
    {
        for (int left = _waiting.Count; left > 0; left--)
        {
            var proposal = _waiting.Dequeue();
            if (proposal.LeaderTerm == 0 || proposal.LeaderTerm == exceptIn)
            {
                _waiting.Enqueue(proposal);
            }
            else
            {
                _answers.Refuse(proposal, ProposalRejections.NoLeader);
            }
        }
    }
}
