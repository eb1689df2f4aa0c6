using Rookery.Documents.Backups;
using Rookery.Platform;
using Rookery.Storage.Install;

namespace Rookery.Documents.Transfer;

/// <summary>
/// An open snapshot offer: the directory with its files, and a pin on the journal entries after its index.
/// </summary>
/// <param name="directory">Directory of the files.</param>
/// <param name="index">The snapshot's index.</param>
/// <param name="journalPin">Pins the journal entries after the index.</param>
internal sealed class OpenOffer(string directory, long index, IDisposable journalPin)
{
    private readonly Lock _writing = new();
    private bool _isEnded;

    /// <summary>Directory of the files.</summary>
    public string Directory => directory;

    /// <summary>The snapshot's index.</summary>
    public long Index => index;

    /// <summary>The offer; null while its files are being written, and if writing failed.</summary>
    public SnapshotOffer? Offer { get; private set; }

    /// <summary>Why the files could not be written; null if they could.</summary>
    public string? Refusal { get; private set; }

    /// <summary>The changes to write; null for a full snapshot, whose files are hard links.</summary>
    public StateChanges? Changes { get; init; }

    /// <summary>Timestamp of the last request for the offer.</summary>
    public long LastUse { get; set; }

    /// <summary>Makes the offer available.</summary>
    public void Complete(SnapshotOffer offer) => Offer = offer;

    /// <summary>
    /// Writes the files of the changes, unless the offer has ended: then another offer may use the directory. Call it
    /// once, on any thread; it can take long.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="describe">Creates the offer from the written files.</param>
    public void Write(IDisk disk, Func<SnapshotOffer> describe)
    {
        lock (_writing)
        {
            if (_isEnded)
            {
                return;
            }

            try
            {
                if (Changes!.Write(directory, Changes.WholeBytes / 2))
                {
                    Offer = describe();
                }
                else
                {
                    Refusal = "the changes exceed half of all files";
                }
            }
            catch (Exception failure)
            {
                // Any failure is recorded, because members that request the offer must learn that it will not come.
                Refusal = $"the changes could not be written ({failure.Message.TrimEnd('.')})";
            }

            Changes!.Dispose();
            if (Offer is null)
            {
                RemoveFiles(disk, directory);
                journalPin.Dispose();
            }
        }
    }

    /// <summary>Deletes the files and releases the pins, after waiting for <see cref="Write"/> to stop.</summary>
    public void End(IDisk disk)
    {
        Changes?.Dispose();
        lock (_writing)
        {
            _isEnded = true;
            journalPin.Dispose();
            RemoveFiles(disk, directory);
        }
    }

    /// <summary>
    /// Deletes the files of an offer. The next offer in the directory, or the next start, deletes what remains.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directory">Directory of the files.</param>
    public static void RemoveFiles(IDisk disk, string directory)
    {
        try
        {
            NodeBackup.RemoveCheckpoint(disk, directory);
        }
        catch (DiskException)
        {
            // The files that remain are deleted later.
        }
    }
}
