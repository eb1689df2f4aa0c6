using Rookery.Documents.Backups;
using Rookery.Platform;

namespace Rookery.Documents.Nodes;

/// <summary>
/// Locks the data directory of a stopped node, so that no node starts while a command changes it: before the first
/// start or between two starts.
/// </summary>
public sealed class StoppedDirectory : IDisposable
{
    private readonly IDisk _disk;
    private readonly string _path;
    private readonly IDisposable _lock;

    private StoppedDirectory(IDisk disk, string path, IDisposable held) => (_disk, _path, _lock) = (disk, path, held);

    /// <summary>Locks a directory; creates it durably if it is missing.</summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on it.</exception>
    /// <exception cref="DiskException">The directory cannot be created or entered.</exception>
    public static StoppedDirectory Hold(IDisk disk, string path)
    {
        DataDirectory.CreateDurably(disk, path);
        return new StoppedDirectory(disk, path, DataDirectory.Lock(disk, path));
    }

    /// <summary>
    /// Deletes the directory's content durably, except for the lock, <c>lost+found</c> and <paramref name="kept"/>.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed; some files may be deleted.</exception>
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
