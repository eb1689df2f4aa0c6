using Rookery.Cluster.Commit;
using Rookery.Cluster.Contents;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Documents.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage.Install;

namespace Rookery.Cluster.Transfer;

/// <summary>
/// Fetches another member's state and replaces this node's state with it. Used when this node misses entries that the
/// leader's journal no longer contains, or when an entry cannot be applied to damaged tables.
/// </summary>
/// <remarks>
/// The lock of <see cref="RaftHost"/> guards the fields, except <c>_troubleLoggedAt</c> and <c>_heldContents</c>, which
/// belong to the running fetch, and to the ticker while none runs. <see cref="Trouble"/> is read without the lock. A
/// state is fetched without the lock and installed under it. This is the only I/O that is done under the lock.
/// </remarks>
internal sealed class SnapshotInstaller(
    RaftHost host,
    NodeStore store,
    MemberRoster roster,
    ReadIndexService reads,
    LogReplication log,
    ApplyPipeline applies,
    CommitThreads threads,
    SnapshotContents? contents
) : IDisposable
{
    private static readonly TimeSpan FetchTroubleInterval = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan FlushInterval = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan ApplyInterval = TimeSpan.FromMilliseconds(250);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TimeProvider _time = store.Time;
    private bool _isFetching;
    private string? _trouble;
    private long _troubleLoggedAt;
    private long _fetchedThrough;
    private IDisposable? _heldContents; // from the first attempt until a state is installed, or none is needed

    /// <summary>
    /// Why the last fetch failed, in sentences. Null when no fetch failed since the last success, or when the leader
    /// has sent the missing entries after all.
    /// </summary>
    public string? Trouble =>
        host.Progress.Applied < Volatile.Read(ref _fetchedThrough) ? Volatile.Read(ref _trouble) : null;

    /// <summary>Starts a fetch if the output of the core's last step names one. Under the lock.</summary>
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
                "This node misses entries that the leader no longer has, and it cannot fetch the leader's state."
            );
        }
    }

    /// <summary>
    /// Lets contents be deleted again when the leader has sent the missing entries instead of a state. Under the lock.
    /// </summary>
    public void ReleaseContentsIfCaughtUp()
    {
        if (!_isFetching && host.Progress.Applied >= _fetchedThrough && !host.Progress.IsBlocked)
        {
            ReleaseContents();
        }
    }

    /// <summary>Starts a fetch unless one is running. Under the lock.</summary>
    private void BeginFetch(NodeId from, long through)
    {
        if (!_isFetching)
        {
            // Forgets the trouble of the last fetch once the entries that it was to bring have arrived.
            Volatile.Write(ref _trouble, Trouble);
            _isFetching = true;
            Volatile.Write(ref _fetchedThrough, through);
            host.Options.RunInBackground(() => _ = FetchAsync(host.Options.FetchState!, from));
        }
    }

    /// <summary>
    /// Fetches the leader's state when applying is blocked by a row that cannot be read here. Fetching only that row
    /// would not help: other members hold it as of a later entry than this node can apply. A blocked leader does not
    /// fetch; it transfers leadership to a voter that can apply. Under the lock.
    /// </summary>
    public void FetchStateIfBlocked()
    {
        if (!host.Progress.IsBlocked || host.IsHalted)
        {
            return;
        }

        applies.RefuseUnapplied(through: host.Progress.ApplicableThrough);
        threads.WakeToWrite();
        if (!applies.CanFetchState)
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
            // Held until a state is installed, even if this attempt fails: the leases of the contents that have
            // arrived may end before the next attempt begins.
            _heldContents ??= contents?.Hold();
            if (contents is not null)
            {
                // Fetch most contents before the state, because the entries after the state are kept only for a short
                // time.
                await contents.FetchAsync(from, through: 0, _stopping.Token);
            }

            var fetched = await fetch(from, _stopping.Token);
            if (contents is not null)
            {
                await contents.FetchAsync(from, fetched.Offer.Index, _stopping.Token);
            }

            var isInstalled = await store.Background.DoAsync(() => Install(fetched));
            while (isInstalled is null)
            {
                await Task.Delay(ApplyInterval, _time, _stopping.Token);
                isInstalled = await store.Background.DoAsync(() => Install(fetched));
            }

            contents?.RequestSweep();
            if (isInstalled == false && host.Progress.IsBlocked && !host.IsHalted)
            {
                ReportTrouble(from, "it no longer fits this node's log and term.");
            }
        }
        catch (Exception) when (_stopping.IsCancellationRequested)
        {
            // The node is stopping.
        }
        catch (Exception failure)
        {
            // Catch everything: the core starts no other fetch until this one is reported as ended.
            lock (host.Gate)
            {
                FailFetch();
            }

            ReportTrouble(from, failure.Message);
        }
    }

    private void ReleaseContents() => Interlocked.Exchange(ref _heldContents, null)?.Dispose();

    // Under the lock.
    private void FailFetch()
    {
        _isFetching = false;
        host.Step(Input.SnapshotFailed(host.Now));
        host.EndStep();
    }

    /// <summary>
    /// Logs the failure, at most once a minute, because attempts repeat every second. <see cref="Trouble"/> omits the
    /// cause: unauthenticated clients may read it, and the cause may contain addresses, paths and document ids.
    /// </summary>
    private void ReportTrouble(NodeId from, string reason)
    {
        string? before;
        string member = roster.NameAndTagOf(from);
        lock (host.Gate)
        {
            if (host.Progress.Applied >= _fetchedThrough)
            {
                // Meanwhile the leader has sent the entries.
                return;
            }

            before = Trouble;
            Volatile.Write(
                ref _trouble,
                $"The state of {member} could not be fetched, and is requested again: the log says why."
            );
        }

        if (before is null || _time.GetElapsedTime(_troubleLoggedAt) >= FetchTroubleInterval)
        {
            _troubleLoggedAt = _time.GetTimestamp();
            host.Options.TroubleFound?.Invoke(
                $"The state of {member} could not be fetched: {reason} It is requested again."
            );
        }
    }

    /// <summary>
    /// Waits until this node has applied its own journal, or applying makes no progress. Entries in the journal need
    /// not be fetched. Without this wait, 140 MiB instead of 32 MiB were fetched after a start on a slow SD card.
    /// </summary>
    private async Task ApplyOwnAsync()
    {
        long appliedBefore = -1;
        while (applies.HasToApply)
        {
            long applied = host.Progress.Applied;
            if (applied <= appliedBefore)
            {
                return;
            }

            appliedBefore = applied;
            await Task.Delay(ApplyInterval, _time, _stopping.Token);
        }
    }

    /// <summary>Installs a fetched state, on the background thread.</summary>
    /// <remarks>
    /// The lock is held while the manifest and a segment header are written, because the core must not step before it
    /// knows the new state. The node is unresponsive for that time, which is a few syncs.
    /// </remarks>
    /// <returns>True when installed; false when the state is no longer useful; null to try again, because a journal
    /// write is in flight.</returns>
    private bool? Install(FetchedState fetched)
    {
        store.Installation.Prepare(fetched);
        while (!threads.TryPauseApplying(FlushInterval))
        {
            // The applying thread may wait for a flush, which this thread runs.
            store.Storage.Memtables.FlushIfDue();
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
        bool mayReplaceTables =
            host.Progress.IsBlocked
            && offer.Index >= host.Progress.Applied
            && host.Core.MayReplaceTables(position, offer.CommittedBy);
        if (log.Journal.IsDue && !mayReplaceTables && !host.IsHalted && offer.Index > host.Core.CommitIndex)
        {
            // For example, a vote is being written. If the fetch were abandoned, the leader would send everything
            // again.
            return null;
        }

        if (host.IsHalted || !(isAhead || mayReplaceTables))
        {
            FailFetch();
            return false;
        }

        bool tailIsKept = host.Core.KeepsTailAfter(position);
        try
        {
            store.Installation.Install(fetched, tailIsKept);
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
            // After ReceivedStateException and DiskException nothing has changed, and the fetch is tried again. After
            // other exceptions, tables and journal may be inconsistent until a restart.
            host.HaltInDiagnosisMode(
                $"A state that was fetched from another member could not be installed: {failure.Message} "
                    + $"Restart the node."
            );
            return false;
        }

        applies.CloseJournalReader();
        var (configuration, index) = ConfigurationEncoding.Read(offer.Configuration);
        // Refuse the callers that proposed while this node led earlier: the outcomes of their entries are not known
        // here.
        log.Memory.RefuseBetween(host.Progress.Applied + 1, offer.Index, ProposalRejections.Overtaken);
        bool wasBlocked = host.Progress.Install(offer.Index);
        if (wasBlocked)
        {
            host.Options.TroubleFound?.Invoke(
                "The state of another member replaced this node's state, of which a part could not be read. Check "
                    + "this node's card."
            );
        }

        ReleaseContents();
        _isFetching = false;
        log.Memory.StepInstalled(
            Input.SnapshotInstalled(host.Now, position, offer.CommittedBy, configuration, index),
            tailIsKept ? null : offer
        );
        reads.EndThrough(offer.Index);
        host.EndStep();
        return true;
    }

    /// <summary>Cancels a running fetch.</summary>
    public void Dispose() => _stopping.Cancel();
}
