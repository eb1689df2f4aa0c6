using Rookery.Storage.Manifest;

namespace Rookery.Storage.Install;

/// <summary>
/// The state of a store, or what changed of it since a sequence, made by another node and fetched into a directory:
/// complete, synced, and checked block by block.
/// </summary>
public sealed class ReceivedState
{
    internal ReceivedState(string directory, ManifestRecord manifest)
    {
        Directory = directory;
        Manifest = manifest;
    }

    /// <summary>Where its files lie.</summary>
    public string Directory { get; }

    /// <summary>What it holds.</summary>
    public ManifestPosition Position => Manifest.Position;

    /// <summary>
    /// Null for a whole state; otherwise it holds what was written and deleted at this sequence and above.
    /// </summary>
    public long? Since => Manifest.Since;

    /// <summary>Bytes of its runs.</summary>
    public long Bytes => Manifest.Files.DistinctBy(file => file.Summary.FileId).Sum(file => file.Summary.FileBytes);

    internal ManifestRecord Manifest { get; }
}
