using Rookery.Documents.Backups;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// A data directory that no node runs on, held so that none starts meanwhile: for what is done to a node before its
/// first start, or between two.
/// </summary>
public sealed class StoppedDirectory : IDisposable
{
    private readonly IDisk _disk;
    private readonly string _path;
    private readonly IDisposable _lock;

    private StoppedDirectory(IDisk disk, string path, IDisposable held) => (_disk, _path, _lock) = (disk, path, held);

    /// <summary>Holds a directory; makes it, durably, when it is missing.</summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on it.</exception>
    /// <exception cref="DiskException">It cannot be made or entered.</exception>
    public static StoppedDirectory Hold(IDisk disk, string path)
    {
        DataDirectory.CreateDurably(disk, path);
        return new StoppedDirectory(disk, path, DataDirectory.Lock(disk, path));
    }

    /// <summary>Deletes everything in it, durably, but what holds it and what is named.</summary>
    /// <exception cref="DiskException">The disk refused; a part may be deleted.</exception>
    public void Empty(params IReadOnlyList<string> kept)
    {
        foreach (
            string name in _disk
                .List(_path)
                .Except([DataDirectory.LockName, DurableFiles.LostAndFound, .. kept], StringComparer.Ordinal)
        )
        {
            DurableFiles.Delete(_disk, Path.Join(_path, name));
        }

        _disk.SyncDirectory(_path);
    }

    /// <inheritdoc/>
    public void Dispose() => _lock.Dispose();
}
