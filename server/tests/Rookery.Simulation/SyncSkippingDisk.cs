using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>
/// A disk that skips the syncs of some files or directories without an error, like a program that acknowledges before
/// the sync. Proves that a crash search finds such a mistake.
/// </summary>
/// <param name="disk">The disk that performs all other calls.</param>
/// <param name="skips">Whether the sync of the file or directory at this path is skipped.</param>
public sealed class SyncSkippingDisk(IDisk disk, Func<string, bool> skips) : WrappedDisk(disk)
{
    public override IDiskFile Open(string path, DiskOpen mode)
    {
        var file = base.Open(path, mode);
        return skips(path) ? new SyncSkippingFile(file) : file;
    }

    public override void SyncDirectory(string path)
    {
        if (!skips(path))
        {
            base.SyncDirectory(path);
        }
    }

    private sealed class SyncSkippingFile(IDiskFile file) : WrappedFile(file)
    {
        public override void Sync()
        {
            // Skipped.
        }
    }
}
