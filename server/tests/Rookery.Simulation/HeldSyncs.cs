using Rookery.Disk;

namespace Rookery.Simulation;

/// <summary>A disk whose syncs of some files do not return for a while, as those of a worn card.</summary>
/// <param name="disk">The disk behind it.</param>
/// <param name="concerns">Whether the syncs of the file at this path are held.</param>
public sealed class HeldSyncs(IDisk disk, Func<string, bool> concerns) : IDisk, IDisposable
{
    private readonly ManualResetEventSlim _free = new(initialState: true);
    private int _held;

    /// <summary>How many syncs are held now.</summary>
    public int Held => Volatile.Read(ref _held);

    /// <summary>Lets no sync return from now on.</summary>
    public void Hold() => _free.Reset();

    /// <summary>Lets them return again.</summary>
    public void Release() => _free.Set();

    public IDiskFile Open(string path, DiskOpen mode)
    {
        var file = disk.Open(path, mode);
        return concerns(path) ? new HeldFile(file, this) : file;
    }

    public bool Exists(string path) => disk.Exists(path);

    public IReadOnlyList<string> List(string directory) => disk.List(directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(path);

    public void Rename(string from, string to) => disk.Rename(from, to);

    public void Link(string existing, string added) => disk.Link(existing, added);

    public void Delete(string path) => disk.Delete(path);

    public void DeleteDirectory(string path) => disk.DeleteDirectory(path);

    public void SyncDirectory(string path) => disk.SyncDirectory(path);

    public DiskSpace SpaceOf(string path) => disk.SpaceOf(path);

    public string DeviceOf(string path) => disk.DeviceOf(path);

    public IDisposable Lock(string path) => disk.Lock(path);

    public void Dispose() => _free.Dispose();

    private void Await()
    {
        Interlocked.Increment(ref _held);
        _free.Wait();
        Interlocked.Decrement(ref _held);
    }

    private sealed class HeldFile(IDiskFile file, HeldSyncs disk) : IDiskFile
    {
        public string Path => file.Path;

        public long Length => file.Length;

        public void Write(ReadOnlySpan<byte> data, long offset) => file.Write(data, offset);

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Sync()
        {
            disk.Await();
            file.Sync();
        }

        public void Dispose() => file.Dispose();
    }
}
