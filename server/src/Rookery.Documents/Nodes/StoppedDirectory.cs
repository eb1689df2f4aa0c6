using Rookery.Disk;

namespace Rookery.Documents;

/// <summary>A data directory that no node runs on, held so that none starts meanwhile: for what is done to a node before its first start, or between two.</summary>
public sealed class StoppedDirectory : IDisposable
{
    private readonly IDisposable _lock;

    private StoppedDirectory(IDisposable held) => _lock = held;

    /// <summary>Holds a directory; makes it, durably, when it is missing.</summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on it.</exception>
    /// <exception cref="DiskException">It cannot be made or entered.</exception>
    public static StoppedDirectory Hold(IDisk disk, string path)
    {
        DataDirectory.CreateDurably(disk, path);
        return new StoppedDirectory(DataDirectory.Lock(disk, path));
    }

    /// <inheritdoc/>
    public void Dispose() => _lock.Dispose();
}
