using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;
using Rookery.Storage.Install;
using Rookery.Storage.Repair;

namespace Rookery.Documents.Transfer;

/// <summary>
/// Installs what other members sent: snapshots, changes and rows for repairs. First the storage takes over a snapshot,
/// with a mark in its manifest. Then the journal is reset, and apply reloads its state in memory. A power cut leaves
/// the old state or the new one (docs/explanation/durability.md, moments 11 to 15). Unless said otherwise, call the
/// methods on the background thread, or before that thread runs.
/// </summary>
public sealed class StateInstallation
{
    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly Applier _applier;
    private readonly ClusterRecords _records;
    private readonly StateInbox _inbox;

    internal StateInstallation(
        StorageEngine storage,
        NodeJournal journal,
        Applier applier,
        ClusterRecords records,
        StateInbox inbox
    )
    {
        _storage = storage;
        _journal = journal;
        _applier = applier;
        _records = records;
        _inbox = inbox;
    }

    /// <summary>
    /// The etag after which this node needs changes: it has applied everything through it. Null if the node needs a
    /// full snapshot, because it is empty or cannot read a part of its data. Any thread.
    /// </summary>
    public long? ChangesNeededSince => _storage.Sequence == 0 || _storage.HasDamage ? null : _storage.Sequence;

    /// <summary>
    /// Does the slow work before <see cref="Install"/>, while writes continue: flushes the memtable, because changes
    /// are installed on top of runs.
    /// </summary>
    public void Prepare(FetchedState fetched)
    {
        if (fetched.Offer.Since is not null)
        {
            _storage.Memtables.RequestFlush();
            while (_storage.Memtables.FlushIfDue()) { }
        }
    }

    /// <summary>
    /// Installs a snapshot or changes. Meanwhile the caller must prevent apply and, unless the log's tail is kept,
    /// journal writes.
    /// </summary>
    /// <param name="fetched">The snapshot; its index must not be lower than the applied index.</param>
    /// <param name="tailIsKept">Whether the journal durably contains the snapshot's last entry and therefore stays as
    /// it is.</param>
    /// <returns>The new durable position.</returns>
    /// <exception cref="ReceivedStateException">The snapshot is older than the applied state, or cannot be read.
    /// Nothing changed.</exception>
    /// <exception cref="DiskException">A disk operation failed. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">Only the next start shows whether the old or the new state is valid.
    /// This node must not write until then.</exception>
    /// <exception cref="JournalLatchedException">The snapshot is installed, but the journal could not be reset. The
    /// next start resets it. After this and any other exception the node must stop.</exception>
    public ManifestPosition Install(FetchedState fetched, bool tailIsKept)
    {
        _storage.Installer.Install(fetched.State, tailIsKept ? null : (ReadOnlyMemory<byte>?)EncodeNote(fetched.Offer));
        if (PendingResetOf(_storage) is { } reset)
        {
            _journal.ResetTo(reset);
            Complete(_storage);
        }

        _applier.Reload();
        Release(_storage.Durable.Index);
        _records.AnnounceReplacement();
        bool isWhole = fetched.Offer.Since is null;
        _inbox.Statistics.CountInstalled(isWhole ? StateTransferKind.Files : StateTransferKind.Changes);
        ClearInbox();
        return _storage.Durable;
    }

    /// <summary>Rewrites a damaged file with the rows of another member.</summary>
    /// <returns>False if the rows must be requested again.</returns>
    /// <exception cref="ReceivedStateException">The rows are damaged, or of an index that does not fit. Nothing
    /// changed.</exception>
    /// <exception cref="DiskException">A disk operation failed. Nothing changed.</exception>
    public bool Repair(RepairRequest request, RepairRows rows)
    {
        bool isDone = _storage.Repairs.Repair(request, rows);
        if (isDone)
        {
            _inbox.Statistics.CountInstalled(StateTransferKind.Repairs);
        }

        _inbox.DropRows(rows);
        return isDone;
    }

    /// <summary>Returns the position to which the journal must be reset; null if no reset is pending.</summary>
    /// <exception cref="StorageFormatException">A newer version was interrupted while it installed a
    /// snapshot.</exception>
    internal static JournalReset? PendingResetOf(StorageEngine storage)
    {
        if (storage.Installer.Pending is not { } pending)
        {
            return null;
        }

        var note = pending.Note;
        return note.Length >= sizeof(long)
            ? new JournalReset(
                pending.Number,
                new JournalPosition(storage.Durable.Index, storage.Durable.Term, storage.Durable.Sequence),
                BinaryPrimitives.ReadInt64LittleEndian(note.Span),
                note[sizeof(long)..]
            )
            : throw new StorageFormatException(
                "A newer version of Rookery began to install a state here and did not finish: start that version."
            );
    }

    /// <summary>
    /// Removes the mark after the journal was reset. If the disk operation fails, the mark remains without effect,
    /// because the journal's files contain its number.
    /// </summary>
    internal static void Complete(StorageEngine storage)
    {
        try
        {
            storage.Installer.Complete();
        }
        catch (DiskException)
        {
            // A mark that remains has no effect.
        }
    }

    private void ClearInbox()
    {
        try
        {
            _inbox.Clear();
        }
        catch (DiskException)
        {
            // The next fetch deletes what remains.
        }
    }

    private void Release(long index)
    {
        try
        {
            _journal.ReleaseThrough(index);
        }
        catch (DiskException)
        {
            // A segment that could not be deleted is no longer used. The next start deletes it.
        }
    }

    private static byte[] EncodeNote(SnapshotOffer offer)
    {
        byte[] note = new byte[sizeof(long) + offer.Configuration.Length];
        BinaryPrimitives.WriteInt64LittleEndian(note, offer.ConfigurationIndex);
        offer.Configuration.CopyTo(note, sizeof(long));
        return note;
    }
}
