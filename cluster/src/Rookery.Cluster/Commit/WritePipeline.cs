using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// From the queue to the journal: what queued while the last write was in flight becomes one frame, gets a place in the
/// log, and is written. One frame after the other, by who has the turn of the queue.
/// </summary>
/// <remarks>
/// <c>_waiting</c> and <see cref="Callers"/> belong to the holder of the turn of the <see cref="ProposalQueue"/>. The
/// lock of <see cref="RaftHost"/> is taken for a place in the log and after the write, never during it.
/// </remarks>
internal sealed class WritePipeline(
    RaftHost host,
    Leadership leadership,
    ApplyProgress progress,
    ReadIndexService reads,
    ClusterTimeSource clusterTime,
    ReplicatedLog log,
    JournalWriter writer,
    ReceiptKeeper receipts,
    ProposalQueue queue,
    ProposalIntake intake,
    ProposalAnswers answers,
    ConsensusOptions options
)
{
    // Taken from the queue, not yet in a frame.
    private readonly Queue<Proposal> _waiting = new();

    // When this node lost a leadership whose last frames may not be committed. Their callers learn from the next leader
    // what became of them, or, after a while, that nobody knows. Under the lock.
    private long? _leadershipLostAt;

    /// <summary>Called after each journal write, on the thread that wrote.</summary>
    public Action? FrameWritten { get; set; }

    /// <summary>Whether who has the turn has something to do that is not in the queue.</summary>
    public bool HasWork =>
        writer.IsDue
        || (
            _waiting.Count > 0
            && (leadership.MayPropose || !leadership.IsLeader || progress.IsBlocked || host.IsLatched)
        );

    /// <summary>
    /// Callers of the last frame that was written and those in the queue: so many are likely to come back soon.
    /// </summary>
    public int Callers { get; private set; }

    /// <summary>Whether what is written here waits for other members.</summary>
    public bool AwaitsOthers => progress.Through < writer.WrittenThrough;

    /// <summary>Puts what waits into the log, and makes durable what is not. By who has the turn.</summary>
    /// <returns>Whether there was something to do.</returns>
    public bool WriteOnce()
    {
        int proposed = Propose();
        if (!writer.IsDue)
        {
            Callers = 0;
            return false;
        }

        if (!writer.TryWrite())
        {
            return false;
        }

        Callers = proposed + queue.Count;
        lock (host.Gate)
        {
            writer.EndWrite();
            reads.AskForNextIfDue();
        }

        FrameWritten?.Invoke();
        return true;
    }

    /// <summary>
    /// Answers what still waits when nobody will commit it here any more. What comes later is refused. When nobody has
    /// the turn any more.
    /// </summary>
    public void Close()
    {
        queue.Close(_waiting);
        answers.RefuseAll(_waiting, host.Refusal ?? RaftHost.Stopping);
    }

    /// <summary>Notes whether this node lost its leadership. Under the lock.</summary>
    public void SeeRole(LeadershipChange change) =>
        _leadershipLostAt =
            change.HasFlag(LeadershipChange.Lost) ? host.Now
            : leadership.IsLeader ? null
            : _leadershipLostAt;

    /// <summary>
    /// The next leader commits a frame or puts another in its place, mostly at once: after a hand-over it has them all.
    /// Who waits longer is answered as unknown. Under the lock.
    /// </summary>
    public void GiveUpUncommitted()
    {
        if (
            _leadershipLostAt is not { } lost
            || host.Now - lost <= (ReadIndexService.PatienceInTimeouts + 1) * host.Core.ElectionTimeoutMicroseconds
        )
        {
            return;
        }

        _leadershipLostAt = null;
        log.RefuseBetween(host.Core.ApplyThrough + 1, long.MaxValue, ProposalRejections.Overtaken);
    }

    /// <summary>Takes what waits into a frame and gives it a place in the log. By who has the turn.</summary>
    /// <returns>The commands in the frame; 0 when there is none.</returns>
    private int Propose()
    {
        queue.TakeAll(_waiting);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        if (host.Refusal is { Kind: RejectionKind.Diagnosis } refusal)
        {
            answers.RefuseAll(_waiting, refusal);
            return 0;
        }

        if (!leadership.MayPropose)
        {
            PassOnUnlessLeader();
            return 0;
        }

        long term = host.Core.Term;
        RefuseForwarded(exceptIn: term);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        LogFrame frame;
        LogTime time;
        lock (host.Gate)
        {
            frame = log.Frames.Rent();
            time = clusterTime.NextLogTime();
        }

        try
        {
            frame.Fill(_waiting, time);
        }
        catch (OutOfMemoryException)
        {
            answers.Refuse(frame, ProposalRejections.NoMemory);
            return 0;
        }

        return Place(frame, term);
    }

    private int Place(LogFrame frame, long term)
    {
        int count = frame.Count;
        lock (host.Gate)
        {
            bool isInTime = clusterTime.HoldsLogTime && host.Core.Term == term;
            if (isInTime)
            {
                host.Step(Input.Propose(host.Now, frame.Bytes), proposed: frame);
                if (host.Output.Proposed is not null && !host.IsHalted)
                {
                    if (frame.WantsReceipt)
                    {
                        receipts.Watch(frame, host.Now);
                    }

                    return count;
                }
            }

            if (!host.IsHalted && (!isInTime || host.Core.Role != Role.Leader || host.Core.IsTransferring))
            {
                // Leadership began to go elsewhere while the frame was put together.
                frame.GiveBack(_waiting);
            }
            else
            {
                answers.Refuse(frame, host.Refusal ?? ProposalRejections.MembersDiffer);
            }

            frame.Retain();
            log.Frames.Release(frame);
            return 0;
        }
    }

    /// <summary>
    /// A node that leads, or is about to, keeps what waits until it may propose it, unless it cannot apply. A follower
    /// forwards its own clients' commands and refuses forwarded ones, which their senders resend. None of them was in a
    /// log.
    /// </summary>
    private void PassOnUnlessLeader()
    {
        lock (host.Gate)
        {
            if (host.Core.Role == Role.Leader && !host.IsHalted && !progress.IsBlocked)
            {
                return;
            }
        }

        if (options.Network is null || host.Refusal is not null)
        {
            answers.RefuseAll(_waiting, host.Refusal ?? ProposalRejections.NoLeader);
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
        answers.GiveRoomBack(proposal);
        CommandOutcome outcome;
        try
        {
            outcome = await intake.ProposeElsewhereAsync(proposal.TakeCommand(), CancellationToken.None);
        }
        catch (Exception failure)
        {
            if (failure is InvariantViolationException)
            {
                options.Broken(failure);
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

        answers.AnswerElsewhere(proposal, outcome);
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
                answers.Refuse(proposal, ProposalRejections.NoLeader);
            }
        }
    }
}
