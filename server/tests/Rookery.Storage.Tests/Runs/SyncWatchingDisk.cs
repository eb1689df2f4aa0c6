using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests.Runs;

/// <summary>Counts the writes to files, and the bytes that they leave unsynced.</summary>
internal sealed class SyncWatchingDisk(IDisk inner) : WrappedDisk(inner)
{
    /// <summary>The largest number of bytes that a file had unsynced at any time.</summary>
    public long MaxUnsyncedBytes { get; private set; }

    /// <summary>The number of writes to all files.</summary>
    public long Writes { get; private set; }

    public override IDiskFile Open(string path, DiskOpen mode) => new WatchedFile(this, base.Open(path, mode));

    private sealed class WatchedFile(SyncWatchingDisk disk, IDiskFile file) : WrappedFile(file)
    {
        private long _unsynced;

        public override void Write(ReadOnlySpan<byte> data, long offset)
        {
            base.Write(data, offset);
            _unsynced += data.Length;
            disk.Writes++;
            disk.MaxUnsyncedBytes = Math.Max(disk.MaxUnsyncedBytes, _unsynced);
        }

        public override void Sync()
        {
            base.Sync();
            _unsynced = 0;
        }
    }
}
