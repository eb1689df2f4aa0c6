using System.Collections.Concurrent;
using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>
/// Files to delete. Any thread may add one, often a reader that released the last reference; the background thread
/// deletes them, so that no reader waits for it. A file that cannot be deleted is retried, at the latest when the
/// directory is opened.
/// </summary>
internal sealed class GarbageFiles(IDisk disk)
{
    private readonly ConcurrentQueue<string> _paths = new();

    /// <summary>Adds a file that no durable manifest names.</summary>
    public void Add(string path) => _paths.Enqueue(path);

    /// <summary>Deletes the added files.</summary>
    public void Collect()
    {
        for (int left = _paths.Count; left > 0 && _paths.TryDequeue(out string? path); left--)
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
