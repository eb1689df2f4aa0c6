using System.Collections.Concurrent;
using Rookery.Platform;

namespace Rookery.Storage.Engine;

/// <summary>
/// Files that nothing refers to any more. Any thread may throw one in (often a reader that held the last reference);
/// the background thread deletes them, so that no reader ever waits for that. A name that cannot be deleted now is
/// tried again, at the latest when the directory is next opened.
/// </summary>
internal sealed class GarbageFiles(IDisk disk)
{
    private readonly ConcurrentQueue<string> _paths = new();

    /// <summary>Takes a file that no durable manifest names.</summary>
    public void Add(string path) => _paths.Enqueue(path);

    /// <summary>Deletes what waits.</summary>
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
                // Gone already: what was wanted.
            }
        }
    }
}
