using Rookery.Cluster.Log;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage;

namespace Rookery.Cluster.Commit;

/// <summary>Applies committed entries to the tables, in order, and answers the callers that proposed them.</summary>
/// <remarks>
/// One thread at a time holds the apply turn (<see cref="CommitThreads"/>). Only that thread uses
/// <c>_journalReader</c> and writes <c>_appliedEntries</c> and <c>_appliedCommands</c>, which any thread may read. Any
/// thread may set <c>_hasToRefuse</c>. The lock of <see cref="RaftHost"/> is held to look up an entry and to complete
/// it, but not while tables are written.
/// </remarks>
internal sealed class ApplyPipeline(
    RaftHost host,
    NodeStore store,
    ReadIndexService reads,
    NodeMeasures measures,
    ReplicatedLog log,
    Proposals proposals
) : IDisposable
{
    // The journal's last index at the start. Later entries were written since.
    private readonly long _lastIndexBeforeStart = store.Journal.LastIndex;
    private JournalReader? _journalReader;
    private long _appliedEntries;
    private long _appliedCommands;
    private bool _hasToRefuse;

    /// <summary>Invoked under the lock when the next entry needs data that cannot be read here.</summary>
    public Action? Blocked { get; set; }

    /// <summary>The number of applied entries that carried commands and were written since the start.</summary>
    public long AppliedEntries => Volatile.Read(ref _appliedEntries);

    /// <summary>The number of applied commands that were proposed on this node.</summary>
    public long AppliedCommands => Volatile.Read(ref _appliedCommands);

    /// <summary>
    /// Whether the apply thread has work: an entry to apply or, in diagnosis mode, callers to refuse.
    /// </summary>
    public bool HasToApply => host.IsInDiagnosisMode ? Volatile.Read(ref _hasToRefuse) : host.Progress.HasNext;

    /// <summary>Whether a caller waits for an entry that can be applied now.</summary>
    public bool HasAwaitedEntry
    {
        get
        {
            lock (host.Gate)
            {
                return !host.Progress.IsBlocked
                    && log.IsAnyAwaited(host.Progress.Applied + 1, host.Progress.ApplicableThrough);
            }
        }
    }

    /// <summary>Whether applying may block until a flush ends.</summary>
    public bool MayWaitForFlush => store.Storage.Memtables.IsFlushBehind;

    /// <summary>Applies the next committed entry and answers its callers.</summary>
    /// <returns>True when an entry was applied.</returns>
    public bool ApplyOnce()
    {
        if (host.IsInDiagnosisMode)
        {
            Volatile.Write(ref _hasToRefuse, false);
            lock (host.Gate)
            {
                RefuseUnapplied(through: long.MaxValue);
            }

            return false;
        }

        try
        {
            return ApplyOrThrow();
        }
        catch (Exception damage) when ((damage is DamagedException or UnappliedDamageException) && CanFetchState)
        {
            // Local reads of the old state still work. The entry is not retried, because the outcome checksum already
            // covers a part of its results.
            store.Applier.Abandon();
            lock (host.Gate)
            {
                host.Progress.BlockAt((IOException)damage);
                measures.Health.Measure();
                Blocked?.Invoke();
                host.EndStep();
            }

            host.Options.TroubleFound?.Invoke($"{BlockedReason} {CauseOf(damage)}");
            return false;
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            StopBecause(failure);
            return false;
        }
    }

    /// <summary>
    /// Makes the next <see cref="ApplyOnce"/> refuse the waiting callers, because the node is in diagnosis mode.
    /// </summary>
    public void RequestRefusal() => Volatile.Write(ref _hasToRefuse, true);

    /// <summary>Enters diagnosis mode and halts, because an entry cannot be applied.</summary>
    public void StopBecause(Exception failure)
    {
        host.EnterDiagnosisMode($"A durable write could not be applied: {CauseOf(failure)} {AdviceAfter(failure)}");
        host.StepDownAndHalt();
    }

    /// <summary>
    /// The message for callers while applying is blocked; null otherwise. It omits the cause, which is only logged.
    /// </summary>
    public string? BlockedReason =>
        !host.Progress.IsBlocked
            ? null
            : "This node cannot apply further writes, because a part of its data cannot be read. It fetches the state "
                + "of another member as soon as that member leads. Until then its earlier data can be read here, and "
                + "may be outdated.";

    /// <summary>Whether another voter exists that can become leader and send this node its state.</summary>
    public bool CanFetchState =>
        host.Options.FetchState is not null
        && host.Leadership.Configuration.Voters.ToArray().Any(voter => voter != host.Self);

    private static string CauseOf(Exception failure) =>
        (failure is UnappliedDamageException { InnerException: { } damage } ? damage : failure).Message;

    private string AdviceAfter(Exception failure)
    {
        if (failure is not (DamagedException or UnappliedDamageException))
        {
            return "Remove the cause and restart the node, which then applies the write.";
        }

        // A standby is a learner: it has the data, but does not vote, so it cannot become leader.
        bool hasStandby = !host.Leadership.Configuration.Learners.IsEmpty;
        if (!hasStandby)
        {
            return "Restore a backup, or stop the node, take what can be read with `rookery export`, and import it "
                + "into a new node.";
        }

        return "No other member votes: stop this node and its standby, and run `rookery cluster recover` on the "
            + "standby; it says what may be lost.";
    }

    /// <summary>Like <see cref="ApplyOnce"/>, for a node that is opening: errors are thrown.</summary>
    public bool ApplyOrThrow()
    {
        if (!HasToApply)
        {
            return false;
        }

        long index = host.Progress.Applied + 1;
        CachedEntry? entry;
        lock (host.Gate)
        {
            log.Cache.TryGet(index, out entry);

            // The journal thread drops durable entries from a full cache. This reference keeps the entry's memory while
            // the entry is applied and answered here. Otherwise other bytes could be applied.
            entry?.Retain();
        }

        FrameType type;
        try
        {
            type = Apply(index, entry);
        }
        catch
        {
            lock (host.Gate)
            {
                Release(entry);
            }

            throw;
        }

        if (type == FrameType.Batch && index > _lastIndexBeforeStart)
        {
            Volatile.Write(ref _appliedEntries, _appliedEntries + 1);
        }

        CompleteApply(index, entry);
        return true;
    }

    private FrameType Apply(long index, CachedEntry? entry)
    {
        if (entry is null)
        {
            return ApplyFromJournal(index);
        }

        CloseJournalReader();
        entry.Apply(store);
        return entry.Type;
    }

    // Drops the reference that ApplyOrThrow took. Under the lock.
    private void Release(CachedEntry? entry)
    {
        if (entry is not null)
        {
            log.Cache.Release(entry);
        }
    }

    private void CompleteApply(long index, CachedEntry? entry)
    {
        int count = entry?.ProposalCount ?? 0;
        Volatile.Write(ref _appliedCommands, _appliedCommands + count);
        // The ready index is the first entry of this leader's term. Once it is applied, this leader proposes, and its
        // entries must not carry earlier log times than the entries before them.
        if (index == host.Leadership.ReadyIndex)
        {
            measures.Time.ReportLogTime();
        }

        // Sort the new databases here. The next request would otherwise sort them, perhaps on a thread that reads a
        // socket.
        if (index == host.Progress.ApplicableThrough)
        {
            store.Databases.SortCurrent();
        }

        host.Progress.SetAppliedThrough(index);
        if (count > 0)
        {
            proposals.Answers.Answer(entry!);
        }

        lock (host.Gate)
        {
            Release(entry);
            log.Cache.ReleaseThrough(index, host.Leadership.MayBeAskedForEntries ? host.Options.CachedBytes : 0);
            reads.EndThrough(index);
            if (index == host.Leadership.ReadyIndex)
            {
                proposals.Forwarder?.WakeLeaderWaiters();
            }

            // A node without peers has no other member's outcomes to compare with.
            if (host.Options.Network is not null && store.Applier.OutcomeHash != 0)
            {
                host.Step(Input.Applied(host.Now, new OutcomeHash(index, store.Applier.OutcomeHash)));
            }
        }

        if (index == host.Leadership.ReadyIndex)
        {
            proposals.Queue.Wake();
        }
    }

    /// <summary>
    /// Applies an entry that is not cached, from the journal. The reader stays open for the next entry.
    /// </summary>
    private FrameType ApplyFromJournal(long index)
    {
        long term;
        lock (host.Gate)
        {
            term = host.Core.TermAt(index); // 0 if the core has compacted the index
        }

        _journalReader ??= store.Journal.Read(index);
        if (!_journalReader.Next(out var frame) || frame.Term != term)
        {
            // The reader sees the journal as it was when the reader was opened, perhaps with entries that were replaced
            // since.
            CloseJournalReader();
            _journalReader = store.Journal.Read(index);
            Invariant.Holds(_journalReader.Next(out frame), "committed and durable entries are in the journal");
        }

        Invariant.Holds(
            frame.Index == index && (frame.Term == term || term == 0),
            "entries are applied in their order"
        );
        Replay.Apply(frame, store.Applier);
        var type = frame.Type;
        if (index == host.Progress.ApplicableThrough)
        {
            CloseJournalReader();
        }

        return type;
    }

    /// <summary>
    /// Closes the journal reader, so the next entry opens a new one. Call it while no thread applies.
    /// </summary>
    public void CloseJournalReader()
    {
        _journalReader?.Dispose();
        _journalReader = null;
    }

    /// <summary>
    /// Refuses the callers whose entries, up to <paramref name="through"/>, are not applied here. Under the lock, while
    /// no thread applies.
    /// </summary>
    public void RefuseUnapplied(long through)
    {
        long durable = Math.Max(host.Progress.ApplicableThrough, host.Progress.Applied);
        log.RefuseBetween(
            host.Progress.Applied + 1,
            Math.Min(durable, through),
            ProposalRejections.DurableButUnapplied
        );
        log.RefuseBetween(durable + 1, through, ProposalRejections.Abandoned);
    }

    /// <inheritdoc/>
    public void Dispose() => _journalReader?.Dispose();
}
