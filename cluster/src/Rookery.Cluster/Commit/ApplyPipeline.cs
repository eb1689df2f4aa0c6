using Rookery.Cluster.Log;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage;

namespace Rookery.Cluster.Commit;

/// <summary>Applies committed entries to the tables, in order, and answers their callers.</summary>
/// <remarks>
/// One thread at a time has the turn to apply (<see cref="CommitThreads"/>). It owns <c>_replay</c>, and it alone
/// writes <c>_frames</c> and <c>_commands</c>, which any thread may read. <c>_hasToRefuse</c> may be set by any thread.
/// The lock of <see cref="RaftHost"/> is taken to find an entry and to end it, never while tables are written.
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
    private JournalReader? _replay;
    private long _frames;
    private long _commands;
    private bool _hasToRefuse;

    /// <summary>Told under the lock when the next entry needs what cannot be read here.</summary>
    public Action? Blocked { get; set; }

    /// <summary>Frames applied that carried commands.</summary>
    public long Frames => Volatile.Read(ref _frames);

    /// <summary>Commands applied that were proposed here.</summary>
    public long Commands => Volatile.Read(ref _commands);

    /// <summary>
    /// Whether there is an entry to apply, or callers to refuse after an error.
    /// </summary>
    public bool HasToApply => host.IsLatched ? Volatile.Read(ref _hasToRefuse) : host.Progress.HasNext;

    /// <summary>Whether to apply may mean to wait for a flush.</summary>
    public bool ApplyMayWait => store.Storage.IsFlushBehind;

    /// <summary>Applies the next committed entry and answers its callers.</summary>
    /// <returns>Whether there was one.</returns>
    public bool ApplyOnce()
    {
        if (host.IsLatched)
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
        catch (Exception damage) when (damage is DamagedException or UnappliedDamageException && MayBeGivenState)
        {
            // Local reads of what it has go on. The entry is not tried again: what came of a part of it is in the
            // outcomes already.
            store.AbandonFrame();
            lock (host.Gate)
            {
                host.Progress.BlockAt((IOException)damage);
                measures.Health.Measure();
                Blocked?.Invoke();
                host.EndStep();
            }

            host.Options.TroubleFound?.Invoke($"{WhyBlocked} {CauseOf(damage)}");
            return false;
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            StopBecause(failure);
            return false;
        }
    }

    /// <summary>Lets those who wait for entries be refused: the node is latched.</summary>
    public void RefuseNext() => Volatile.Write(ref _hasToRefuse, true);

    /// <summary>Stops taking part, because an entry cannot be applied.</summary>
    public void StopBecause(Exception failure)
    {
        host.Latch($"A durable write could not be applied: {CauseOf(failure)} {NextStepAfter(failure)}");
        host.StopTakingPart();
    }

    /// <summary>
    /// That this node cannot apply what is committed, in sentences, for whoever asks: what it is that cannot be read,
    /// the log says. Null when it can.
    /// </summary>
    public string? WhyBlocked =>
        !host.Progress.IsBlocked
            ? null
            : "This node cannot go on applying, because a part of its data cannot be read, and takes the state "
                + "of a member that can, as soon as that leads. Until it has it, what it had can be read here, and "
                + "may be old.";

    /// <summary>Whether there is another member that can lead, and give this one its state.</summary>
    public bool MayBeGivenState =>
        host.Options.FetchState is not null
        && host.Leadership.Configuration.Voters.ToArray().Any(voter => voter != host.Self);

    private static string CauseOf(Exception failure) =>
        (failure is UnappliedDamageException { InnerException: { } damage } ? damage : failure).Message;

    private string NextStepAfter(Exception failure) =>
        failure is not (DamagedException or UnappliedDamageException)
            ? "The node applies it when it is restarted and the cause is removed."
        : host.Leadership.Configuration.Learners.IsEmpty
            ? "Restore a backup, or stop the node, take what can be read with `rookery export`, and import it "
                + "into a new node."
        : "No other member votes: stop this node and its standby, and run `rookery cluster recover` on the "
            + "standby; it says what may be lost.";

    /// <summary>As <see cref="ApplyOnce"/>, for a node that opens: what fails is thrown.</summary>
    public bool ApplyOrThrow()
    {
        if (!HasToApply)
        {
            return false;
        }

        long index = host.Progress.Applied + 1;
        LogFrame? frame;
        lock (host.Gate)
        {
            log.Frames.TryGet(index, out frame);
        }

        if (frame is null)
        {
            ApplyFromJournal(index);
        }
        else
        {
            EndReplay();
            frame.Apply(store);
        }

        EndApply(index, frame);
        return true;
    }

    private void EndApply(long index, LogFrame? frame)
    {
        int count = frame?.Count ?? 0;
        Volatile.Write(ref _frames, _frames + (frame is { Type: FrameType.Batch } ? 1 : 0));
        Volatile.Write(ref _commands, _commands + count);
        if (index == host.Leadership.ReadyIndex)
        {
            measures.Time.TellLogTime();
        }

        host.Progress.AppliedThrough(index);
        if (count > 0)
        {
            proposals.Answers.Answer(frame!);
        }

        lock (host.Gate)
        {
            log.Frames.ReleaseThrough(index, host.Leadership.MayBeAskedForEntries ? host.Options.CachedBytes : 0);
            reads.EndThrough(index);
            if (index == host.Leadership.ReadyIndex)
            {
                proposals.Forwarder?.WakeLeaderWaiters();
            }

            // A node alone has nobody to compare with.
            if (host.Options.Network is not null && store.OutcomeChain != 0)
            {
                host.Step(Input.Applied(host.Now, new OutcomeHash(index, store.OutcomeChain)));
            }
        }

        if (index == host.Leadership.ReadyIndex)
        {
            proposals.Queue.Wake();
        }
    }

    /// <summary>What this start did not bring into memory is read once, in order.</summary>
    private void ApplyFromJournal(long index)
    {
        long term;
        lock (host.Gate)
        {
            term = host.Core.TermAt(index);
        }

        _replay ??= store.Journal.Read(index);
        if (!_replay.Next(out var entry) || entry.Term != term)
        {
            // It ended where the journal ended when it was made, or has entries that were replaced since.
            EndReplay();
            _replay = store.Journal.Read(index);
            Invariant.Holds(_replay.Next(out entry), "what is committed and durable is in the journal");
        }

        Invariant.Holds(
            entry.Index == index && (entry.Term == term || term == 0),
            "entries are applied in their order"
        );
        store.ApplyStored(entry);
        if (index == host.Progress.Through)
        {
            EndReplay();
        }
    }

    /// <summary>The journal is read anew for what is applied next. While nobody applies.</summary>
    public void EndReplay()
    {
        _replay?.Dispose();
        _replay = null;
    }

    /// <summary>
    /// Answers those whose entries are not applied here, or not by now: after the last that was. Under the lock, while
    /// nobody applies.
    /// </summary>
    public void RefuseUnapplied(long through)
    {
        long durable = Math.Max(host.Progress.Through, host.Progress.Applied);
        log.RefuseBetween(
            host.Progress.Applied + 1,
            Math.Min(durable, through),
            ProposalRejections.DurableButUnapplied
        );
        log.RefuseBetween(durable + 1, through, ProposalRejections.Abandoned);
    }

    /// <inheritdoc/>
    public void Dispose() => _replay?.Dispose();
}
