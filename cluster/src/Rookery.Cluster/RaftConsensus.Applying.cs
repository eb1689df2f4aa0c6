using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage;

namespace Rookery.Cluster;

/// <summary>Committed entries to the tables, in order, by who has the turn to apply.</summary>
public sealed partial class RaftConsensus
{
    private JournalReader? _replay;
    private long _frames;
    private long _commands;
    private bool _hasToRefuse;

    /// <summary>
    /// Whether there is an entry to apply, or, after an error, somebody to be told that there will be none.
    /// </summary>
    internal bool HasToApply => _host.IsLatched ? Volatile.Read(ref _hasToRefuse) : _progress.HasNext;

    /// <summary>Whether to apply may mean to wait for a flush.</summary>
    internal bool ApplyMayWait => _store.IsFlushBehind;

    /// <summary>Applies the next committed entry and answers its callers.</summary>
    /// <returns>Whether there was one.</returns>
    internal bool ApplyOnce()
    {
        if (_host.IsLatched)
        {
            Volatile.Write(ref _hasToRefuse, false);
            lock (_host.Gate)
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
            _store.AbandonFrame();
            lock (_host.Gate)
            {
                _progress.BlockAt((IOException)damage);
                _health.Measure();
                SeekStateIfNeeded();
                _host.EndStep();
            }

            _options.TroubleFound?.Invoke($"{WhyUnapplied} {CauseOf(damage)}");
            return false;
        }
        catch (Exception failure) when (failure is not (InvariantViolationException or OutOfMemoryException))
        {
            StopBecause(failure);
            return false;
        }
    }

    private void StopBecause(Exception failure)
    {
        _host.Latch($"A durable write could not be applied: {CauseOf(failure)} {NextStepAfter(failure)}");
        _host.StopTakingPart();
    }

    /// <summary>
    /// That this node cannot apply what is committed, in sentences, for whoever asks: what it is that cannot be read,
    /// the log says. Null when it can.
    /// </summary>
    private string? WhyUnapplied =>
        !CannotApply
            ? null
            : "This node cannot go on applying, because a part of its data cannot be read, and takes the state "
                + "of a member that can, as soon as that leads. Until it has it, what it had can be read here, and "
                + "may be old.";

    /// <summary>Whether what is committed needs what this node cannot read, and another member has to help.</summary>
    internal bool CannotApply => _progress.IsBlocked;

    /// <summary>Whether there is another member that can lead, and give this one its state.</summary>
    private bool MayBeGivenState =>
        _options.FetchState is not null && Configuration.Voters.ToArray().Any(voter => voter != Self);

    private static string CauseOf(Exception failure) =>
        (failure is UnappliedDamageException { InnerException: { } damage } ? damage : failure).Message;

    private string NextStepAfter(Exception failure) =>
        failure is not (DamagedException or UnappliedDamageException)
            ? "The node applies it when it is restarted and the cause is removed."
        : Configuration.Learners.IsEmpty
            ? "Restore a backup, or stop the node, take what can be read with `rookery export`, and import it "
                + "into a new node."
        : "No other member votes: stop this node and its standby, and run `rookery cluster recover` on the "
            + "standby; it says what may be lost.";

    private bool ApplyOrThrow()
    {
        if (!HasToApply)
        {
            return false;
        }

        long index = _progress.Applied + 1;
        LogFrame? frame;
        lock (_host.Gate)
        {
            _log.Frames.TryGet(index, out frame);
        }

        if (frame is null)
        {
            ApplyFromJournal(index);
        }
        else
        {
            EndReplay();
            frame.Apply(_store);
        }

        EndApply(index, frame);
        return true;
    }

    private void EndApply(long index, LogFrame? frame)
    {
        int count = frame?.Count ?? 0;
        Volatile.Write(ref _frames, _frames + (frame is { Type: FrameType.Batch } ? 1 : 0));
        Volatile.Write(ref _commands, _commands + count);
        if (index == _leadership.ReadyIndex)
        {
            _clusterTime.TellLogTime();
        }

        _progress.AppliedThrough(index);
        if (count > 0)
        {
            _answers.Answer(frame!);
        }

        lock (_host.Gate)
        {
            _log.Frames.ReleaseThrough(index, MayBeAskedForEntries ? _options.CachedBytes : 0);
            _reads.EndThrough(index);
            ForgetFetchTrouble();
            if (index == _leadership.ReadyIndex)
            {
                _forwarder?.LetLook();
            }

            // A node alone has nobody to compare with.
            if (_network is not null && _store.OutcomeChain != 0)
            {
                _host.Step(Input.Applied(_host.Now, new OutcomeHash(index, _store.OutcomeChain)));
            }
        }

        if (index == _leadership.ReadyIndex)
        {
            _queue.Wake();
        }
    }

    /// <summary>What this start did not bring into memory is read once, in order.</summary>
    private void ApplyFromJournal(long index)
    {
        long term;
        lock (_host.Gate)
        {
            term = _host.Core.TermAt(index);
        }

        _replay ??= _journal.Read(index);
        if (!_replay.Next(out var entry) || entry.Term != term)
        {
            // It ended where the journal ended when it was made, or has entries that were replaced since.
            EndReplay();
            _replay = _journal.Read(index);
            Invariant.Holds(_replay.Next(out entry), "what is committed and durable is in the journal");
        }

        Invariant.Holds(
            entry.Index == index && (entry.Term == term || term == 0),
            "entries are applied in their order"
        );
        _store.ApplyStored(entry);
        if (index == _progress.Through)
        {
            EndReplay();
        }
    }

    private void EndReplay()
    {
        _replay?.Dispose();
        _replay = null;
    }

    /// <summary>
    /// Answers those whose entries are not applied here, or not by now: after the last that was. Under the lock, while
    /// nobody applies.
    /// </summary>
    private void RefuseUnapplied(long through)
    {
        long durable = Math.Max(_progress.Through, _progress.Applied);
        _log.RefuseBetween(_progress.Applied + 1, Math.Min(durable, through), ProposalRejections.DurableButUnapplied);
        _log.RefuseBetween(durable + 1, through, ProposalRejections.Abandoned);
    }
}
