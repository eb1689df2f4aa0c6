using Rookery.Cluster.Commit;
using Rookery.Cluster.Log;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Storage.Install;

namespace Rookery.Cluster;

/// <summary>
/// A member that misses more than the others' journals hold fetches the state of one of them and puts it in the place
/// of its own.
/// </summary>
public sealed partial class RaftConsensus
{
    private readonly CancellationTokenSource _stopping = new();
    private bool _isFetching;
    private string? _fetchTrouble;
    private long _fetchTroubleTold;
    private long _fetchedThrough;

    private static readonly TimeSpan FetchTroubleInterval = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan FlushInterval = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan ApplyInterval = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// Why the last attempt to fetch the state of another member came to nothing, in sentences; null before one did,
    /// and when one succeeded since.
    /// </summary>
    internal string? FetchTrouble => Volatile.Read(ref _fetchTrouble);

    private void BeginFetchIfOffered()
    {
        if (_host.Output.Fetch is not { } offer)
        {
            return;
        }

        if (_options.FetchState is not null)
        {
            BeginFetch(offer.From, offer.Position.Index);
        }
        else
        {
            _options.TroubleFound?.Invoke(
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
            _isFetching = true;
            _fetchedThrough = through;
            _options.RunBeside(() => _ = FetchAsync(_options.FetchState!, from));
        }
    }

    /// <summary>
    /// An entry needs a row that cannot be read here, so this node's tables go no further: those of the leader take
    /// their place. Single rows would not do: a member has them as of a later entry than these tables can come to. Who
    /// leads is answered for by its store's health: it hands over to whoever can apply. Under the lock.
    /// </summary>
    private void SeekStateIfNeeded()
    {
        if (!_progress.IsBlocked || _host.IsHalted)
        {
            return;
        }

        RefuseUnapplied(through: _progress.Through);
        _queue.Wake();
        if (!MayBeGivenState)
        {
            StopBecause(_progress.Damage!);
        }
        else if (!Leader.IsNone && Leader != Self)
        {
            BeginFetch(Leader, _progress.Applied + 1);
        }
    }

    /// <summary>
    /// This node's state for a member that fell behind: what changed since an etag, when that is much less, or
    /// everything.
    /// </summary>
    /// <param name="since">The etag through which the member has everything; null when it needs everything.</param>
    /// <param name="through">The index through which the member has applied everything: what ends before is of no use
    /// to it.</param>
    /// <returns>Null while it is being written, or this node leads and its tables have not come to
    /// <paramref name="through"/>: to be asked again.</returns>
    /// <exception cref="IOException">There is none to be had; the message says why.</exception>
    public async Task<StateOffer?> OfferStateAsync(long? since, long through)
    {
        if (_progress.IsBlocked || (_store.Durable.Index < through && Leader != Self))
        {
            throw new StateTransferException(
                "This node does not offer its state, because it cannot apply what is committed, or does not "
                    + "lead and is not as far. Ask the member that leads."
            );
        }

        if (_store.Durable.Index < through)
        {
            _store.RequestFlush();
            return null;
        }

        var (offer, write) = await _store.DoInBackgroundAsync(() =>
            since is { } etag
                ? (_store.Offers.MakeSince(etag, out var toWrite, through), toWrite)
                : (_store.Offers.Make(through), null)
        );
        if (write is not null)
        {
            _options.RunBeside(write);
        }

        // After it was made: all that it holds was committed in this term or before.
        return offer is null ? null : offer with { CommittedBy = Term };
    }

    private async Task FetchAsync(Func<NodeId, CancellationToken, Task<FetchedState>> fetch, NodeId from)
    {
        try
        {
            await ApplyOwnAsync();
            var fetched = await fetch(from, _stopping.Token);
            bool? isInstalled;
            while ((isInstalled = await _store.DoInBackgroundAsync(() => Install(fetched))) is null)
            {
                await Task.Delay(ApplyInterval, _time, _stopping.Token);
            }

            if (isInstalled == false && _progress.IsBlocked && !_host.IsHalted)
            {
                TellFetchTrouble(from, "it does not fit to what this node knows by now of its log and of the terms.");
            }
        }
        catch (Exception) when (_stopping.IsCancellationRequested)
        {
            // The node stops.
        }
        catch (Exception failure)
        {
            // Whatever it was: the core waits for this fetch, and asks for no other meanwhile.
            lock (_host.Gate)
            {
                EndFetchInVain();
            }

            TellFetchTrouble(from, failure.Message);
        }
    }

    // Under the lock.
    private void EndFetchInVain()
    {
        _isFetching = false;
        _host.Step(Input.ManifestFailed(_host.Now));
        _host.EndStep();
    }

    /// <summary>
    /// Each second there is an attempt, for days on a card that is full. Whoever asks how this node does, without a
    /// word of who he is, is not told why: there may be addresses, paths and documents in it.
    /// </summary>
    private void TellFetchTrouble(NodeId from, string why)
    {
        string? before;
        string member = Roster.NameAndTagOf(from);
        lock (_host.Gate)
        {
            if (_progress.Applied >= _fetchedThrough)
            {
                // It came by entries meanwhile, and nobody would forget the trouble.
                return;
            }

            before = _fetchTrouble;
            Volatile.Write(
                ref _fetchTrouble,
                $"The state of {member} could not be taken, and is asked for again: the log says why."
            );
        }

        if (before is null || _time.GetElapsedTime(_fetchTroubleTold) >= FetchTroubleInterval)
        {
            _fetchTroubleTold = _time.GetTimestamp();
            _options.TroubleFound?.Invoke($"The state of {member} could not be taken: {why} It is asked for again.");
        }
    }

    /// <summary>What was to be fetched is here, however it came. Under the lock.</summary>
    private void ForgetFetchTrouble()
    {
        if (_fetchTrouble is not null && _progress.Applied >= _fetchedThrough)
        {
            Volatile.Write(ref _fetchTrouble, null);
        }
    }

    /// <summary>
    /// What this node's own journal brings need not come over the network: a start applies for seconds on a slow card,
    /// and 140 MiB were fetched where 32 had changed. Not waited for when apply stands still.
    /// </summary>
    private async Task ApplyOwnAsync()
    {
        for (long before = -1; HasToApply && _progress.Applied is var applied && applied > before; before = applied)
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
        _store.PrepareInstall(fetched);
        while (!_threads.TryPauseApplying(FlushInterval))
        {
            // Who applies may wait for a flush, which is done by this thread.
            _store.FlushIfDue();
        }

        try
        {
            lock (_host.Gate)
            {
                return InstallOrGiveUp(fetched);
            }
        }
        finally
        {
            _threads.ResumeApplying();
        }
    }

    private bool? InstallOrGiveUp(FetchedState fetched)
    {
        var offer = fetched.Offer;
        var position = new LogPosition(offer.Term, offer.Index);
        bool isAhead = !_writer.IsDue && _host.Core.MayInstall(position, offer.CommittedBy);
        bool helps =
            _progress.IsBlocked
            && offer.Index >= _progress.Applied
            && _host.Core.MayReplaceTables(position, offer.CommittedBy);
        if (_writer.IsDue && !helps && !_host.IsHalted && offer.Index > _host.Core.CommitIndex)
        {
            // Another leader has just been voted for, say: it would have to send everything that is here already.
            return null;
        }

        if (_host.IsHalted || !(isAhead || helps))
        {
            EndFetchInVain();
            return false;
        }

        bool tailIsKept = _host.Core.KeepsTailBehind(position);
        try
        {
            _store.Install(fetched, tailIsKept);
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
            _host.Retire(
                $"A state that was fetched from another member could not be put in place: {failure.Message} "
                    + $"Restart the node."
            );
            return false;
        }

        EndReplay();
        var (configuration, index) = ConfigurationEncoding.Read(offer.Configuration);
        // A former leader's: it knows no outcomes of them.
        _log.RefuseBetween(_progress.Applied + 1, offer.Index, ProposalRejections.Overtaken);
        bool wasBlocked = _progress.Install(offer.Index);
        ForgetFetchTrouble();
        if (wasBlocked)
        {
            _options.TroubleFound?.Invoke(
                "The state of another member has taken the place of what could not be read here. Look after "
                    + "this node's card."
            );
        }

        _isFetching = false;
        _log.StepInstalled(
            Input.ManifestInstalled(_host.Now, position, offer.CommittedBy, configuration, index),
            tailIsKept ? null : offer
        );
        _reads.EndThrough(offer.Index);
        _host.EndStep();
        return true;
    }
}
