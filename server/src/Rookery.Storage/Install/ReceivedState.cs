using Rookery.Storage.Manifest;

namespace Rookery.Storage.Install;

/// <summary>
/// A snapshot that was fetched from another node, or the changes since a sequence. Its files are complete, synced, and
/// verified block by block.
/// </summary>
public sealed class ReceivedState
{
    internal ReceivedState(string directory, ManifestRecord manifest)
    {
        Directory = directory;
        Manifest = manifest;
    }

    /// <summary>Directory of the files.</summary>
    public string Directory { get; }

    /// <summary>Position of the snapshot in the log.</summary>
    public ManifestPosition Position => Manifest.Position;

    /// <summary>
    /// Null for a full snapshot. Otherwise the files contain only rows and deletions from this sequence on.
    /// </summary>
    public long? Since => Manifest.Since;

    /// <summary>Total length of the runs.</summary>
    public long Bytes => Manifest.Files.DistinctBy(file => file.Summary.FileId).Sum(file => file.Summary.FileBytes);

    internal ManifestRecord Manifest { get; }
}
