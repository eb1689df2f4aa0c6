using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>A disk that passes all calls to another one. Subclasses override some.</summary>
/// <param name="disk">The wrapped disk.</param>
public abstract class WrappedDisk(IDisk disk) : IDisk
{
    public virtual IDiskFile Open(string path, DiskOpen mode) => disk.Open(path, mode);

    public bool Exists(string path) => disk.Exists(path);

    public IReadOnlyList<string> List(string directory) => disk.List(directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(path);

    public virtual void Rename(string from, string to) => disk.Rename(from, to);

    public void Link(string existing, string added) => disk.Link(existing, added);

    public virtual void Delete(string path) => disk.Delete(path);

    public void DeleteDirectory(string path) => disk.DeleteDirectory(path);

    public virtual void SyncDirectory(string path) => disk.SyncDirectory(path);

    public DiskSpace SpaceOf(string path) => disk.SpaceOf(path);

    public string DeviceOf(string path) => disk.DeviceOf(path);

    public IDisposable Lock(string path) => disk.Lock(path);
}

/// <summary>A file that passes all calls to another one.</summary>
/// <param name="file">The wrapped file.</param>
public abstract class WrappedFile(IDiskFile file) : IDiskFile
{
    public string Path => file.Path;

    public long Length => file.Length;

    public virtual void Write(ReadOnlySpan<byte> data, long offset) => file.Write(data, offset);

    public virtual int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

    public void Allocate(long length) => file.Allocate(length);

    public void SetLength(long length) => file.SetLength(length);

    public virtual void Sync() => file.Sync();

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected virtual void Dispose(bool isDisposing) => file.Dispose();
}
