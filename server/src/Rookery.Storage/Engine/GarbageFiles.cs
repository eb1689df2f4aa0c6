using System.Collections.Concurrent;
using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>
/// Files to delete. Any thread may add a file, often the reader that released the last reference. The background thread
/// deletes them, so that no reader waits. A file that cannot be deleted is retried, at the latest at the next start.
/// </summary>
internal sealed class GarbageFiles(IDisk disk)
{
    private readonly ConcurrentQueue<string> _paths = new();

    /// <summary>Adds a file that no durable manifest names.</summary>
    public void Add(string path) => _paths.Enqueue(path);

    /// <summary>Deletes the added files.</summary>
    public void Collect()
    {
        for (int remaining = _paths.Count; remaining > 0 && _paths.TryDequeue(out string? path); remaining--)
        {
            try
            {
                disk.Delete(path);
            }
            catch (DiskException refused) when (refused.Error != Errno.NoEntry)
            {
                _paths.Enqueue(path);
            }
            catch (DiskException)
            {
                // Already deleted.
            }
        }
    }
}
