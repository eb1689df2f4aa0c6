using Rookery.Platform;
using Rookery.Storage.Install;
using Rookery.Storage.Repair;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>What goes from one store to another: whole states, what changed, and rows for repairs.</summary>
public sealed partial class StorageEngine
{
    /// <summary>
    /// As <see cref="StorageOptions.KeptDeletions"/>. What was not kept before is counted: raising it is safe at any
    /// time.
    /// </summary>
    public long KeptDeletions
    {
        get => _context.KeptDeletions;
        set => _context.KeptDeletions = value;
    }

    /// <summary>
    /// What changed since a store had applied everything below <paramref name="since"/>, as of the durable manifest. On
    /// the background thread. Nothing is read yet.
    /// </summary>
    /// <returns>Null when this store does not know any more all that was deleted since then: the other one needs
    /// everything.</returns>
    public StateChanges? BeginChanges(long since)
    {
        if (_context.Durable.Deletions.ForgottenThrough >= since)
        {
            return null;
        }

        EngineState state = _context.Published.Acquire();
        try
        {
            return new StateChanges(_context, state.Runs, _context.Durable.Manifest, _context.Durable.Deletions, since);
        }
        finally
        {
            state.Release();
        }
    }

    /// <summary>
    /// The mark of an installed state that the journal has not followed yet; null when there is none.
    /// </summary>
    public InstallMark? PendingInstall => _context.Durable.Manifest.Pending;

    /// <summary>
    /// Checks a state that was fetched from another node, every byte of it, and makes it durable. Any thread; other
    /// work goes on.
    /// </summary>
    /// <param name="directory">Where the files of a <see cref="Checkpoint"/> lie, on the file system of this
    /// store.</param>
    /// <param name="progress">Told of the bytes checked.</param>
    /// <exception cref="ReceivedStateException">It is incomplete or damaged, or a newer version made it.</exception>
    /// <exception cref="StorageFormatException">Its manifest has a newer format.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public ReceivedState CheckReceived(string directory, Action<long>? progress = null) =>
        new ReceivedStateCheck(_context, directory).Run(progress);

    /// <summary>
    /// Replaces everything, what is applied and not flushed too, by a received state, or puts on top what changed: one
    /// manifest makes it count, and a power cut leaves the old state or the new one. Snapshots that are open keep what
    /// they see. The store keeps its id. On the background thread, while nothing is applied.
    /// </summary>
    /// <param name="state">What was checked; not behind <see cref="AppliedIndex"/>.</param>
    /// <param name="note">When the journal must follow: what <see cref="PendingInstall"/> says until
    /// <see cref="CompleteInstall"/>, after a crash too. Null when the journal holds the state's last entry and
    /// stays.</param>
    /// <exception cref="ReceivedStateException">It is behind what is applied, or does not follow on it, or cannot be
    /// read any more. Nothing changed.</exception>
    /// <exception cref="DiskException">The disk refused. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">The disk refused so that only a restart shows which state counts:
    /// nothing may be acknowledged before.</exception>
    public void Install(ReceivedState state, ReadOnlyMemory<byte>? note)
    {
        Invariant.Holds(!_batch.IsOpen, "a state is installed while nothing is applied");
        if (state.Position.Index < AppliedIndex)
        {
            throw new ReceivedStateException(
                $"The state holds everything through index {state.Position.Index}, and {AppliedIndex} is "
                    + $"applied here: it is not needed any more."
            );
        }

        if (state.Since is { } since)
        {
            PrepareFor(since);
        }

        new StateInstaller(_context).Install(state, note);
        Volatile.Write(ref _flushRequested, false);
        Volatile.Write(ref _flushFailure, null);
        _flushEnded.Set();
    }

    // What changed is laid over runs: what is applied has to be in them, and all of them have to be whole.
    private void PrepareFor(long since)
    {
        if (since > Sequence || !_context.Sources.Damage.IsEmpty)
        {
            throw new ReceivedStateException(
                since > Sequence
                    ? $"What changed from etag {since} on was fetched, and only {Sequence} is applied here: it "
                        + $"is not enough."
                    : "What changed was fetched, and a part of what it belongs to is damaged here: the whole "
                        + "state is needed."
            );
        }

        FlushAll();
    }

    private void FlushAll()
    {
        lock (_context.Gate)
        {
            if (!_context.Published.Current.Active.IsEmpty)
            {
                Freeze(_context.Published.Current);
            }
        }

        while (_flusher.FlushOldest())
        {
            ManifestDurable?.Invoke(Durable);
        }

        _flushEnded.Set();
    }

    /// <summary>Says that the journal has followed: the mark goes. On the background thread.</summary>
    /// <exception cref="DiskException">The mark stays for now, which does no harm.</exception>
    public void CompleteInstall()
    {
        if (PendingInstall is not null)
        {
            _context.Durable.TakeMarkAway(_context);
        }
    }

    /// <summary>
    /// What has to be fetched from another node to repair the damage that is known. Reads the damaged files whole. On
    /// the background thread.
    /// </summary>
    public IReadOnlyList<RepairRequest> FindRepairs() => _context.Sources.Damage.IsEmpty ? [] : _repair.Find();

    /// <summary>Writes the rows of a range, as they are applied, for a node that lost them. Any thread.</summary>
    /// <param name="request">What is wanted; the file's name is the other node's.</param>
    /// <param name="path">A file that is not there yet; it is the caller's to delete.</param>
    /// <exception cref="ReceivedStateException">They are too many for this: the whole state is quicker.</exception>
    /// <exception cref="DamagedException">They cannot be read here either.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public RepairRows WriteRepair(RepairRequest request, string path) =>
        new RangeExport(_context).Write(path, request.Group, request.From.Span, request.ToExclusive.Span);

    /// <summary>
    /// Writes a damaged file again with the rows of another node in the place of what is lost. On the background
    /// thread.
    /// </summary>
    /// <param name="request">What <see cref="FindRepairs"/> asked for.</param>
    /// <param name="rows">What another node wrote: of an index that <see cref="Durable"/> has reached, so that a replay
    /// after a crash finds no row of its future.</param>
    /// <returns>False when the file is gone by now, or an older run is damaged in the same range: ask again.</returns>
    /// <exception cref="ReceivedStateException">The rows are damaged, or of a time that does not fit. Nothing
    /// changed.</exception>
    /// <exception cref="DiskException">The disk refused. Nothing changed.</exception>
    public bool Repair(RepairRequest request, RepairRows rows) => _repair.Do(request, rows);
}
