using Rookery.Disk;

namespace Rookery.Simulation;

/// <summary>
/// A disk that says some files or directories are synced and does nothing: whoever works on it is one who acknowledges
/// before the sync. To prove that a search can fail.
/// </summary>
/// <param name="disk">The disk behind it.</param>
/// <param name="skips">Whether the sync of the file or directory at this path is skipped.</param>
public sealed class SyncSkippingDisk(IDisk disk, Func<string, bool> skips) : IDisk
{
    public IDiskFile Open(string path, DiskOpen mode)
    {
        var file = disk.Open(path, mode);
        return skips(path) ? new SyncSkippingFile(file) : file;
    }

    public bool Exists(string path) => disk.Exists(path);

    public IReadOnlyList<string> List(string directory) => disk.List(directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(path);

    public void Rename(string from, string to) => disk.Rename(from, to);

    public void Link(string existing, string added) => disk.Link(existing, added);

    public void Delete(string path) => disk.Delete(path);

    public void DeleteDirectory(string path) => disk.DeleteDirectory(path);

    public void SyncDirectory(string path)
    {
        if (!skips(path))
        {
            disk.SyncDirectory(path);
        }
    }

    public DiskSpace SpaceOf(string path) => disk.SpaceOf(path);

    public string DeviceOf(string path) => disk.DeviceOf(path);

    public IDisposable Lock(string path) => disk.Lock(path);

    private sealed class SyncSkippingFile(IDiskFile file) : IDiskFile
    {
        public string Path => file.Path;

        public long Length => file.Length;

        public void Write(ReadOnlySpan<byte> data, long offset) => file.Write(data, offset);

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Sync()
        {
            // Not now.
        }

        public void Dispose() => file.Dispose();
    }
}
