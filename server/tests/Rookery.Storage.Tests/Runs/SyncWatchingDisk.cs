using Rookery.Disk;

namespace Rookery.Storage.Tests.Runs;

/// <summary>Watches how much one file holds unsynced.</summary>
internal sealed class SyncWatchingDisk(IDisk inner) : IDisk
{
    public long MostUnsyncedBytes { get; private set; }

    public long Writes { get; private set; }

    public IDiskFile Open(string path, DiskOpen mode) => new WatchedFile(this, inner.Open(path, mode));

    public bool Exists(string path) => inner.Exists(path);

    public IReadOnlyList<string> List(string directory) => inner.List(directory);

    public void CreateDirectory(string path) => inner.CreateDirectory(path);

    public void Rename(string from, string to) => inner.Rename(from, to);

    public void Link(string existing, string added) => inner.Link(existing, added);

    public void Delete(string path) => inner.Delete(path);

    public void DeleteDirectory(string path) => inner.DeleteDirectory(path);

    public void SyncDirectory(string path) => inner.SyncDirectory(path);

    public DiskSpace SpaceOf(string path) => inner.SpaceOf(path);

    public string DeviceOf(string path) => inner.DeviceOf(path);

    public IDisposable Lock(string path) => inner.Lock(path);

    private sealed class WatchedFile(SyncWatchingDisk disk, IDiskFile file) : IDiskFile
    {
        private long _unsynced;

        public string Path => file.Path;

        public long Length => file.Length;

        public void Write(ReadOnlySpan<byte> data, long offset)
        {
            file.Write(data, offset);
            _unsynced += data.Length;
            disk.Writes++;
            disk.MostUnsyncedBytes = Math.Max(disk.MostUnsyncedBytes, _unsynced);
        }

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Sync()
        {
            file.Sync();
            _unsynced = 0;
        }

        public void Dispose() => file.Dispose();
    }
}
