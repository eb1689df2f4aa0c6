using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage.Install;

namespace Rookery.Cluster.Transfer;

/// <summary>
/// A member that misses more than the others' journals hold, or whose tables cannot be read, fetches the state of one
/// of them and puts it in the place of its own.
/// </summary>
/// <remarks>
/// The lock of <see cref="RaftHost"/> guards the fields, but for when trouble was told last, which belongs to the one
/// fetch that runs; <see cref="Trouble"/> is read without it. A state is fetched without the lock. It is put in place
/// under it, the one exception to the rule that no file is touched then.
/// </remarks>
internal sealed class SnapshotInstaller(
    RaftHost host,
    NodeStore store,
    MemberRoster roster,
    ReadIndexService reads,
    LogReplication log,
    ApplyPipeline applies,
    CommitThreads threads
) : IDisposable
{
    private static readonly TimeSpan FetchTroubleInterval = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan FlushInterval = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan ApplyInterval = TimeSpan.FromMilliseconds(250);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TimeProvider _time = store.Time;
    private bool _isFetching;
    private string? _trouble;
    private long _troubleTold;
    private long _fetchedThrough;

    /// <summary>
    /// Why the last attempt to fetch the state of another member came to nothing, in sentences; null before one did,
    /// when one succeeded since, and when what it was for came by entries.
    /// </summary>
    public string? Trouble =>
        host.Progress.Applied < Volatile.Read(ref _fetchedThrough) ? Volatile.Read(ref _trouble) : null;

    /// <summary>Begins to fetch a state if the core's last step asked for one. Under the lock.</summary>
    public void BeginIfOffered()
    {
        if (host.Output.Fetch is not { } offer)
        {
            return;
        }

        if (host.Options.FetchState is not null)
        {
            BeginFetch(offer.From, offer.Position.Index);
        }
        else
        {
            host.Options.TroubleFound?.Invoke(
                "This node misses entries that the leader does not have any more, and has no way to fetch its state."
            );
        }
    }

    /// <summary>
    /// One fetch at a time: whatever it was for, its end is what the core waits for too. Under the lock.
    /// </summary>
    private void BeginFetch(NodeId from, long through)
    {
        if (!_isFetching)
        {
            // What the last fetch was for may have come by entries since.
            Volatile.Write(ref _trouble, Trouble);
            _isFetching = true;
            Volatile.Write(ref _fetchedThrough, through);
            host.Options.RunBeside(() => _ = FetchAsync(host.Options.FetchState!, from));
        }
    }

    /// <summary>
    /// An entry needs a row that cannot be read here, so this node's tables go no further: those of the leader take
    /// their place. Single rows would not do: a member has them as of a later entry than these tables can come to. Who
    /// leads is answered for by its store's health: it hands over to whoever can apply. Under the lock.
    /// </summary>
    public void SeekStateIfNeeded()
    {
        if (!host.Progress.IsBlocked || host.IsHalted)
        {
            return;
        }

        applies.RefuseUnapplied(through: host.Progress.Through);
        threads.WakeToWrite();
        if (!applies.MayBeGivenState)
        {
            applies.StopBecause(host.Progress.Damage!);
        }
        else if (!host.Leadership.Leader.IsNone && host.Leadership.Leader != host.Self)
        {
            BeginFetch(host.Leadership.Leader, host.Progress.Applied + 1);
        }
    }

    private async Task FetchAsync(Func<NodeId, CancellationToken, Task<FetchedState>> fetch, NodeId from)
    {
        try
        {
            await ApplyOwnAsync();
            var fetched = await fetch(from, _stopping.Token);
            bool? isInstalled;
            while ((isInstalled = await store.DoInBackgroundAsync(() => Install(fetched))) is null)
            {
                await Task.Delay(ApplyInterval, _time, _stopping.Token);
            }

            if (isInstalled == false && host.Progress.IsBlocked && !host.IsHalted)
            {
                TellTrouble(from, "it does not fit to what this node knows by now of its log and of the terms.");
            }
        }
        catch (Exception) when (_stopping.IsCancellationRequested)
        {
            // The node stops.
        }
        catch (Exception failure)
        {
            // Whatever it was: the core waits for this fetch, and asks for no other meanwhile.
            lock (host.Gate)
            {
                EndFetchInVain();
            }

            TellTrouble(from, failure.Message);
        }
    }

    // Under the lock.
    private void EndFetchInVain()
    {
        _isFetching = false;
        host.Step(Input.ManifestFailed(host.Now));
        host.EndStep();
    }

    /// <summary>
    /// Each second there is an attempt, for days on a card that is full. Whoever asks how this node does, without a
    /// word of who he is, is not told why: there may be addresses, paths and documents in it.
    /// </summary>
    private void TellTrouble(NodeId from, string why)
    {
        string? before;
        string member = roster.NameAndTagOf(from);
        lock (host.Gate)
        {
            if (host.Progress.Applied >= _fetchedThrough)
            {
                // It came by entries meanwhile.
                return;
            }

            before = Trouble;
            Volatile.Write(
                ref _trouble,
                $"The state of {member} could not be taken, and is asked for again: the log says why."
            );
        }

        if (before is null || _time.GetElapsedTime(_troubleTold) >= FetchTroubleInterval)
        {
            _troubleTold = _time.GetTimestamp();
            host.Options.TroubleFound?.Invoke(
                $"The state of {member} could not be taken: {why} It is asked for again."
            );
        }
    }

    /// <summary>
    /// What this node's own journal brings need not come over the network: a start applies for seconds on a slow card,
    /// and 140 MiB were fetched where 32 had changed. Not waited for when apply stands still.
    /// </summary>
    private async Task ApplyOwnAsync()
    {
        for (
            long before = -1;
            applies.HasToApply && host.Progress.Applied is var applied && applied > before;
            before = applied
        )
        {
            await Task.Delay(ApplyInterval, _time, _stopping.Token);
        }
    }

    /// <summary>Puts a fetched state in place, on the thread of background work.</summary>
    /// <remarks>
    /// The lock is held while the manifest and the head of a journal segment are written: until the core knows of it,
    /// it must not take another step. A member that is far behind neither leads nor is missed; one that could not apply
    /// may be missed for as long as some syncs take.
    /// </remarks>
    /// <returns>Whether it was installed; false when entries have overtaken it meanwhile; null while the journal
    /// writes: to be tried again.</returns>
    private bool? Install(FetchedState fetched)
    {
        store.PrepareInstall(fetched);
        while (!threads.TryPauseApplying(FlushInterval))
        {
            // Who applies may wait for a flush, which is done by this thread.
            store.FlushIfDue();
        }

        try
        {
            lock (host.Gate)
            {
                return InstallOrGiveUp(fetched);
            }
        }
        finally
        {
            threads.ResumeApplying();
        }
    }

    private bool? InstallOrGiveUp(FetchedState fetched)
    {
        var offer = fetched.Offer;
        var position = new LogPosition(offer.Term, offer.Index);
        bool isAhead = !log.Journal.IsDue && host.Core.MayInstall(position, offer.CommittedBy);
        bool helps =
            host.Progress.IsBlocked
            && offer.Index >= host.Progress.Applied
            && host.Core.MayReplaceTables(position, offer.CommittedBy);
        if (log.Journal.IsDue && !helps && !host.IsHalted && offer.Index > host.Core.CommitIndex)
        {
            // Another leader has just been voted for, say: it would have to send everything that is here already.
            return null;
        }

        if (host.IsHalted || !(isAhead || helps))
        {
            EndFetchInVain();
            return false;
        }

        bool tailIsKept = host.Core.KeepsTailBehind(position);
        try
        {
            store.Install(fetched, tailIsKept);
        }
        catch (Exception failure)
            when (failure
                    is not (
                        ReceivedStateException
                        or DiskException
                        or InvariantViolationException
                        or OutOfMemoryException
                    )
            )
        {
            // The two that pass left everything as it was, and the fetch is tried again. After anything else storage,
            // journal and tables may not fit together before a restart.
            host.Retire(
                $"A state that was fetched from another member could not be put in place: {failure.Message} "
                    + $"Restart the node."
            );
            return false;
        }

        applies.EndReplay();
        var (configuration, index) = ConfigurationEncoding.Read(offer.Configuration);
        // A former leader's: it knows no outcomes of them.
        log.Memory.RefuseBetween(host.Progress.Applied + 1, offer.Index, ProposalRejections.Overtaken);
        bool wasBlocked = host.Progress.Install(offer.Index);
        if (wasBlocked)
        {
            host.Options.TroubleFound?.Invoke(
                "The state of another member has taken the place of what could not be read here. Look after "
                    + "this node's card."
            );
        }

        _isFetching = false;
        log.Memory.StepInstalled(
            Input.ManifestInstalled(host.Now, position, offer.CommittedBy, configuration, index),
            tailIsKept ? null : offer
        );
        reads.EndThrough(offer.Index);
        host.EndStep();
        return true;
    }

    /// <summary>Ends what is being fetched.</summary>
    public void Dispose() => _stopping.Cancel();
}
