using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Journal;
using Rookery.Storage;
using Rookery.Storage.Install;

namespace Rookery.Documents.Transfer;

/// <summary>
/// Installs a fetched snapshot: first the storage, with a mark in its manifest, then the journal, then the state of
/// apply in memory. A power cut leaves the old state or the new one (docs/explanation/durability.md, moments 11 to 15).
/// </summary>
internal static class StateInstallation
{
    /// <summary>
    /// Installs a snapshot. Meanwhile the caller must prevent apply, background work and, unless the log's tail is
    /// kept, journal writes.
    /// </summary>
    /// <param name="storage">The storage.</param>
    /// <param name="journal">The journal.</param>
    /// <param name="applier">The applier, which reloads its state.</param>
    /// <param name="fetched">The snapshot; its index must not be lower than the applied index.</param>
    /// <param name="tailIsKept">Whether the journal durably contains the snapshot's last entry and therefore stays as
    /// it is.</param>
    /// <exception cref="ReceivedStateException">The snapshot is older than the applied state, or cannot be read.
    /// Nothing changed.</exception>
    /// <exception cref="Rookery.Platform.DiskException">The disk refused. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">Only the next start shows which state is in force. This node must not
    /// write until then.</exception>
    /// <exception cref="JournalLatchedException">The snapshot is installed, but the journal could not be reset. The
    /// next start resets it.</exception>
    public static void Install(
        StorageEngine storage,
        NodeJournal journal,
        Applier applier,
        FetchedState fetched,
        bool tailIsKept
    )
    {
        storage.Install(fetched.State, tailIsKept ? null : (ReadOnlyMemory<byte>?)NoteOf(fetched.Offer));
        if (PendingResetOf(storage) is { } reset)
        {
            journal.ResetTo(reset);
            Complete(storage);
        }

        applier.Reload();
        Release(journal, storage.Durable.Index);
    }

    /// <summary>Returns the position to which the journal must be reset; null if no reset is pending.</summary>
    /// <exception cref="StorageFormatException">A newer version was interrupted while it installed a
    /// snapshot.</exception>
    public static JournalReset? PendingResetOf(StorageEngine storage)
    {
        if (storage.PendingInstall is not { } pending)
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
    /// Removes the mark, after the journal was reset. A mark that remains because the disk refuses does no harm: the
    /// journal's files carry its number too.
    /// </summary>
    public static void Complete(StorageEngine storage)
    {
        try
        {
            storage.CompleteInstall();
        }
        catch (Platform.DiskException)
        {
            // See above.
        }
    }

    private static void Release(NodeJournal journal, long index)
    {
        try
        {
            journal.ReleaseThrough(index);
        }
        catch (Platform.DiskException)
        {
            // A segment that could not be deleted is out of use anyway; the next start deletes it.
        }
    }

    private static byte[] NoteOf(StateOffer offer)
    {
        byte[] note = new byte[sizeof(long) + offer.Configuration.Length];
        BinaryPrimitives.WriteInt64LittleEndian(note, offer.ConfigurationIndex);
        offer.Configuration.CopyTo(note, sizeof(long));
        return note;
    }
}
