using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests.Runs;

/// <summary>Notes the most bytes that any file had unsynced, and the writes to all files.</summary>
internal sealed class SyncWatchingDisk(IDisk inner) : WrappedDisk(inner)
{
    public long MostUnsyncedBytes { get; private set; }

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
            disk.MostUnsyncedBytes = Math.Max(disk.MostUnsyncedBytes, _unsynced);
        }

        public override void Sync()
        {
            base.Sync();
            _unsynced = 0;
        }
    }
}
