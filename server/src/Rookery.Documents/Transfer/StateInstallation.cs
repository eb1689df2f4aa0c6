using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Journal;
using Rookery.Storage;
using Rookery.Storage.Install;

namespace Rookery.Documents.Transfer;

/// <summary>
/// Puts a fetched state in the place of a node's own: storage first, with a mark in its manifest, then the journal,
/// then what apply holds in memory. A power cut leaves the old state or the new one (docs/explanation/durability.md,
/// moments 11 to 15).
/// </summary>
internal static class StateInstallation
{
    /// <summary>
    /// Installs. While nothing is applied and no background work is done; nor a journal write outstanding, unless the
    /// tail is kept.
    /// </summary>
    /// <param name="storage">The storage.</param>
    /// <param name="journal">The journal.</param>
    /// <param name="applier">What applied until now.</param>
    /// <param name="fetched">What to install, not behind what is applied.</param>
    /// <param name="tailIsKept">Whether the journal durably has the state's last entry, and so stays as it is.</param>
    /// <exception cref="ReceivedStateException">It is behind what is applied, or cannot be read any more. Nothing
    /// changed.</exception>
    /// <exception cref="Rookery.Platform.DiskException">The disk refused. Nothing changed.</exception>
    /// <exception cref="StateInDoubtException">Which state counts shows at the next start: until then this node must
    /// not write.</exception>
    /// <exception cref="JournalLatchedException">The state is installed, and the journal could not follow: the next
    /// start does it.</exception>
    public static void Install(
        StorageEngine storage,
        NodeJournal journal,
        Applier applier,
        FetchedState fetched,
        bool tailIsKept
    )
    {
        storage.Install(fetched.State, tailIsKept ? null : (ReadOnlyMemory<byte>?)NoteOf(fetched.Offer));
        if (RebaseOf(storage) is { } rebase)
        {
            journal.Rebase(rebase);
            Complete(storage);
        }

        applier.Reload();
        Release(journal, storage.Durable.Index);
    }

    /// <summary>Where the journal has to begin anew, unless it has; null when it goes on as it is.</summary>
    /// <exception cref="StorageFormatException">A newer version installed a state and was stopped half-way.</exception>
    public static JournalRebase? RebaseOf(StorageEngine storage)
    {
        if (storage.PendingInstall is not { } pending)
        {
            return null;
        }

        var note = pending.Note;
        return note.Length >= sizeof(long)
            ? new JournalRebase(
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
    /// Says that the journal has followed. A mark that stays, because the disk refuses, does no harm: the journal
    /// carries it too.
    /// </summary>
    public static void Complete(StorageEngine storage)
    {
        try
        {
            storage.CompleteInstall();
        }
        catch (Platform.DiskException)
        {
            // As said above.
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
            // A segment that could not be deleted is out of use all the same; the next start deletes it.
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
