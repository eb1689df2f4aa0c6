using Rookery.Documents.Backups;
using Rookery.Platform;
using Rookery.Storage.Install;

namespace Rookery.Documents.Transfer;

/// <summary>
/// An offer that can be fetched, or will be: the directory that its files lie in, and the journal behind it, which is
/// kept.
/// </summary>
/// <param name="directory">The directory.</param>
/// <param name="index">The index that it ends at.</param>
/// <param name="kept">Keeps the journal.</param>
internal sealed class OpenOffer(string directory, long index, IDisposable kept)
{
    private readonly Lock _writing = new();

    /// <summary>Where its files lie.</summary>
    public string Directory => directory;

    /// <summary>The index that it ends at.</summary>
    public long Index => index;

    /// <summary>What it is; null while it is being written, or when it could not be.</summary>
    public StateOffer? Offer { get; private set; }

    /// <summary>Why it could not be written.</summary>
    public string? Refusal { get; private set; }

    /// <summary>What it is written from; null for a whole state, which consists of links.</summary>
    public StateChanges? Changes { get; init; }

    /// <summary>When somebody last asked for it.</summary>
    public long LastUse { get; set; }

    /// <summary>It can be fetched.</summary>
    public void Complete(StateOffer offer) => Offer = offer;

    /// <summary>Writes what changed. Any thread, once; long.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="describe">Makes the offer of what was written.</param>
    public void Write(IDisk disk, Func<StateOffer> describe)
    {
        lock (_writing)
        {
            try
            {
                if (Changes!.Write(directory, Changes.WholeBytes / 2))
                {
                    Offer = describe();
                }
                else
                {
                    Refusal = "what changed is more than half of all files";
                }
            }
            catch (Exception failure)
            {
                // Whatever it was: who asks for it has to hear that it will not come.
                Refusal = $"what changed could not be written ({failure.Message.TrimEnd('.')})";
            }

            Changes!.Dispose();
            if (Offer is null)
            {
                RemoveFiles(disk);
                kept.Dispose();
            }
        }
    }

    /// <summary>Lets go of everything; waits until who writes it has stopped.</summary>
    public void End(IDisk disk)
    {
        Changes?.Dispose();
        lock (_writing)
        {
            kept.Dispose();
            RemoveFiles(disk);
        }
    }

    // What stays is deleted by the next offer that lies there, or at the next start.
    private void RemoveFiles(IDisk disk)
    {
        try
        {
            NodeBackup.RemoveCheckpoint(disk, directory);
        }
        catch (DiskException)
        {
            // As said above.
        }
    }
}
