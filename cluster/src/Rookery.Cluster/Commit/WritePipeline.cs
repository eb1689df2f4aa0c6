using Rookery.Cluster.Log;
using Rookery.Documents.Attachments;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Moves proposals from the queue to the journal. All proposals that queued during the last write become one entry,
/// which is placed in the log and written. Only the thread that holds the write turn calls this.
/// </summary>
/// <remarks>
/// <c>_waiting</c> and <see cref="ExpectedCallers"/> belong to the thread that holds the write turn of the
/// <see cref="ProposalQueue"/>. The lock of <see cref="RaftHost"/> is held to place an entry in the log and after the
/// write, never during it.
/// </remarks>
internal sealed class WritePipeline(
    RaftHost host,
    ReadIndexService reads,
    ClusterTimeSource clusterTime,
    LogReplication log,
    Proposals proposals,
    ProposalIntake intake,
    ReplicatedContents contents
)
{
    // No term has this number, and it marks commands of this node's own clients (Proposal.LeaderTerm).
    private const long NoTerm = 0;

    // Proposals taken from the queue and not yet in an entry.
    private readonly Queue<Proposal> _waiting = new();

    /// <summary>Called after each journal write, on the thread that wrote.</summary>
    public Action? JournalWritten { get; set; }

    /// <summary>
    /// Whether a journal write is due, or dequeued proposals can be proposed, forwarded or refused now.
    /// </summary>
    public bool HasWork => log.Journal.IsDue || (_waiting.Count > 0 && CanHandleWaiting);

    // False only for a leader that may not propose now: until it has applied the first entry of its term, and during a
    // leadership transfer.
    private bool CanHandleWaiting =>
        host.Leadership.MayPropose || !host.Leadership.IsLeader || host.Progress.IsBlocked || host.IsInDiagnosisMode;

    /// <summary>
    /// The number of callers that are likely to send a write soon: the callers of the last written entry plus the
    /// queued ones.
    /// </summary>
    public int ExpectedCallers { get; private set; }

    /// <summary>Whether entries that are written here still wait for other members' acknowledgements.</summary>
    public bool AwaitsOtherMembers => host.Progress.ApplicableThrough < log.Journal.DurableIndex;

    /// <summary>
    /// Proposes the waiting commands as one entry, and writes and syncs the due journal records. Called with the write
    /// turn.
    /// </summary>
    /// <returns>Whether a journal write was made.</returns>
    public bool WriteOnce()
    {
        int proposed = ProposeWaiting();
        if (!log.Journal.IsDue)
        {
            ExpectedCallers = 0;
            return false;
        }

        if (!log.Journal.TryWrite())
        {
            return false;
        }

        ExpectedCallers = proposed + proposals.Queue.Count;
        lock (host.Gate)
        {
            log.Journal.EndWrite();
            reads.RequestIndexIfDue();
        }

        JournalWritten?.Invoke();
        return true;
    }

    /// <summary>
    /// Closes the queue and refuses the waiting proposals, because no thread commits any more. Call it when no thread
    /// holds the turn.
    /// </summary>
    public void Close()
    {
        proposals.Queue.CloseAndMoveAllTo(_waiting);
        proposals.Answers.RefuseAll(_waiting, host.Refusal ?? RaftHost.Stopping);
    }

    /// <summary>
    /// Puts the waiting proposals into an entry and places the entry in the log. Called with the write turn.
    /// </summary>
    /// <returns>The number of commands in the entry; 0 when there is none.</returns>
    private int ProposeWaiting()
    {
        proposals.Queue.MoveAllTo(_waiting);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        if (host.Refusal is { Kind: RejectionKind.Diagnosis } refusal)
        {
            proposals.Answers.RefuseAll(_waiting, refusal);
            return 0;
        }

        if (!host.Leadership.MayPropose)
        {
            HandleUnproposable();
            return 0;
        }

        long term = host.Core.Term;
        RefuseForwarded(exceptInTerm: term);
        if (_waiting.Count == 0)
        {
            return 0;
        }

        CachedEntry entry;
        LogTime time;
        lock (host.Gate)
        {
            entry = log.Memory.Cache.Rent();
            time = clusterTime.NextLogTime();
        }

        try
        {
            entry.Fill(_waiting, time);
        }
        catch (OutOfMemoryException)
        {
            proposals.Answers.Refuse(entry, ProposalRejections.NoMemory);
            return 0;
        }

        return ProposeEntry(entry, time, term);
    }

    private int ProposeEntry(CachedEntry entry, LogTime time, long term)
    {
        int count = entry.ProposalCount;
        lock (host.Gate)
        {
            // The time in the entry is valid only in the term in which it was read.
            bool isSameTerm = clusterTime.HasLogTimeOfCurrentTerm && host.Core.Term == term;
            if (isSameTerm && TryPropose(entry))
            {
                clusterTime.RecordProposed(time);
                if (entry.WantsReceipt)
                {
                    proposals.Receipts.Watch(entry, host.Now);
                }

                return count;
            }

            if (!host.IsHalted && (!isSameTerm || host.Core.Role != Role.Leader || host.Core.IsTransferring))
            {
                // A leadership transfer or a new term began while the entry was filled.
                ReturnToWaiting(entry);
            }
            else
            {
                // The node is halted, or the core takes no proposals because the members' outcomes differ.
                proposals.Answers.Refuse(entry, host.Refusal ?? ProposalRejections.MembersDiffer);
            }

            // An entry that is not in the log has no reference yet. Taking and releasing one returns it to the pool.
            entry.Retain();
            log.Memory.Cache.Release(entry);
            return 0;
        }
    }

    /// <summary>
    /// Proposes the entry to the core; returns whether the core placed it in the log. Under the lock.
    /// </summary>
    private bool TryPropose(CachedEntry entry)
    {
        host.Step(Input.Propose(host.Now, entry.PayloadBytes), proposed: entry);
        if (host.Output.Proposed is not { } position)
        {
            return false;
        }

        if (entry.NamesContents)
        {
            KeepContents(entry, position.Index);
        }

        return !host.IsHalted;
    }

    // Keeps the files of the entry's contents until the entry is applied. The callers' pins do not suffice, because
    // they end when the callers are answered: if the outcome is unknown, that is before the entry is applied.
    private void KeepContents(CachedEntry entry, long index)
    {
        var names = new List<ContentName>();
        entry.AddContentsTo(names);
        foreach (var name in names)
        {
            contents.Keep(name, index);
        }
    }

    private void ReturnToWaiting(CachedEntry entry)
    {
        try
        {
            entry.ReturnProposals(_waiting);
        }
        catch (OutOfMemoryException)
        {
            proposals.Answers.Refuse(entry, ProposalRejections.NoMemory);
        }
    }

    /// <summary>
    /// Handles proposals that may not be proposed here now; none of them is in a log. A node that is or becomes leader
    /// keeps them, unless it cannot apply. A follower forwards its own clients' commands. It refuses forwarded
    /// commands, and their senders send them again.
    /// </summary>
    private void HandleUnproposable()
    {
        lock (host.Gate)
        {
            if (host.Core.Role == Role.Leader && !host.IsHalted && !host.Progress.IsBlocked)
            {
                return;
            }
        }

        if (host.Options.Network is null || host.Refusal is not null)
        {
            proposals.Answers.RefuseAll(_waiting, host.Refusal ?? ProposalRejections.NoLeader);
            return;
        }

        RefuseForwarded(exceptInTerm: NoTerm);

        while (_waiting.TryDequeue(out var proposal))
        {
            _ = ForwardAsync(proposal);
        }
    }

    private async Task ForwardAsync(Proposal proposal)
    {
        proposals.Answers.ReleaseAdmission(proposal);
        CommandOutcome outcome;
        try
        {
            outcome = await intake.ProposeThroughLeaderAsync(proposal.TakeCommand(), CancellationToken.None);
        }
        catch (Exception failure)
        {
            if (failure is InvariantViolationException)
            {
                host.Options.EndProcess(failure);
            }

            // This task is not awaited, so after an escaping exception the proposal's caller would wait forever.
            outcome = new CommandOutcome(
                new Rejection(
                    RejectionKind.OutcomeUnknown,
                    $"The write was forwarded to the leader, and its outcome is unknown: "
                        + $"{failure.Message} Read before you write it again, or use an Idempotency-Key."
                )
            );
        }

        proposals.Answers.AnswerReleased(proposal, outcome);
    }

    /// <summary>
    /// Refuses the waiting commands that other members forwarded to the leader of another term than
    /// <paramref name="exceptInTerm"/>. The commands of this node's own clients stay.
    /// </summary>
    private void RefuseForwarded(long exceptInTerm)
    {
        for (int remaining = _waiting.Count; remaining > 0; remaining--)
        {
            var proposal = _waiting.Dequeue();
            if (proposal.LeaderTerm == NoTerm || proposal.LeaderTerm == exceptInTerm)
            {
                _waiting.Enqueue(proposal);
            }
            else
            {
                proposals.Answers.Refuse(proposal, ProposalRejections.NoLeader);
            }
        }
    }
}
