using Rookery.Disk;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>A disk whose syncs take their time, as a card's do; what they take differs from one to the next.</summary>
internal class SlowDisk(IDisk disk) : IDisk
{
    private static readonly ManualResetEventSlim Never = new();

    /// <summary>The most that a sync takes.</summary>
    public int MostMilliseconds { get; set; } = 2;

    public IDiskFile Open(string path, DiskOpen mode) => new SlowFile(disk.Open(path, mode), this);

    public bool Exists(string path) => disk.Exists(path);

    public IReadOnlyList<string> List(string directory) => disk.List(directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(path);

    public void Rename(string from, string to) => disk.Rename(from, to);

    public void Link(string existing, string added) => disk.Link(existing, added);

    public void Delete(string path) => disk.Delete(path);

    public void DeleteDirectory(string path) => disk.DeleteDirectory(path);

    public void SyncDirectory(string path)
    {
        Take();
        disk.SyncDirectory(path);
    }

    public DiskSpace SpaceOf(string path) => disk.SpaceOf(path);

    public string DeviceOf(string path) => disk.DeviceOf(path);

    public IDisposable Lock(string path) => disk.Lock(path);

    /// <summary>Returns when a sync may begin.</summary>
    protected virtual void Take() => Never.Wait(Random.Shared.Next(MostMilliseconds + 1));

    private sealed class SlowFile(IDiskFile file, SlowDisk disk) : IDiskFile
    {
        public string Path => file.Path;

        public long Length => file.Length;

        public void Write(ReadOnlySpan<byte> data, long offset) => file.Write(data, offset);

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Sync()
        {
            disk.Take();
            file.Sync();
        }

        public void Dispose() => file.Dispose();
    }
}
