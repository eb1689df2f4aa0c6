namespace Rookery.Platform;

/// <summary>
/// The seam between Rookery and a file system. Everything durable goes through it, so that tests can lose power, fill
/// the disk and rot bytes. Calls block; whoever must not block calls them from a thread of its own. Paths are absolute.
/// </summary>
/// <remarks>
/// A name (create, rename, link, delete) is durable only after <see cref="SyncDirectory"/> of its directory; bytes only
/// after <see cref="IDiskFile.Sync"/>. Every method throws <see cref="DiskException"/> on failure. All members may be
/// called from several threads at once.
/// </remarks>
public interface IDisk
{
    /// <summary>
    /// Opens a file. <see cref="DiskOpen.CreateNew"/> fails with EEXIST when the name is taken, the others with ENOENT
    /// when it is not.
    /// </summary>
    IDiskFile Open(string path, DiskOpen mode);

    /// <summary>Whether a file or directory has this name.</summary>
    bool Exists(string path);

    /// <summary>The names (not paths) of files and directories in a directory, in ordinal order.</summary>
    IReadOnlyList<string> List(string directory);

    /// <summary>Creates a directory and those above it; nothing happens when it is there.</summary>
    void CreateDirectory(string path);

    /// <summary>Renames within one file system, replacing what has the new name.</summary>
    void Rename(string from, string to);

    /// <summary>Gives a file a second name (a hard link). Fails with EXDEV across file systems.</summary>
    void Link(string existing, string added);

    /// <summary>Removes a name; the bytes go with the last name and the last open file.</summary>
    void Delete(string path);

    /// <summary>Removes a directory that is empty.</summary>
    void DeleteDirectory(string path);

    /// <summary>Makes the names in a directory durable.</summary>
    void SyncDirectory(string path);

    /// <summary>
    /// Size and free bytes of the file system that holds <paramref name="path"/>, as an ordinary user sees them.
    /// </summary>
    DiskSpace SpaceOf(string path);

    /// <summary>The block device that holds <paramref name="path"/> (for example "mmcblk0p2"), or "unknown".</summary>
    string DeviceOf(string path);

    /// <summary>
    /// Takes the exclusive lock file at <paramref name="path"/>, creating it; disposing gives it back. The system frees
    /// it when the process ends.
    /// </summary>
    /// <exception cref="DiskException">With <see cref="Errno.WouldBlock"/> when another process (or this one) holds
    /// it.</exception>
    IDisposable Lock(string path);
}

/// <summary>How a file is opened.</summary>
public enum DiskOpen
{
    /// <summary>An existing file, to read.</summary>
    Read,

    /// <summary>An existing file, to read and write.</summary>
    ReadWrite,

    /// <summary>A file that must not exist yet, to read and write; nobody but its owner may read it.</summary>
    CreateNew,
}

/// <summary>An open file. Reads and writes name their offset, so any thread may call at any time.</summary>
public interface IDiskFile : IDisposable
{
    /// <summary>The path it was opened with.</summary>
    string Path { get; }

    /// <summary>Its length in bytes, now.</summary>
    long Length { get; }

    /// <summary>
    /// Writes all of <paramref name="data"/> at <paramref name="offset"/>, growing the file when needed. On failure any
    /// part may have been written.
    /// </summary>
    void Write(ReadOnlySpan<byte> data, long offset);

    /// <summary>Reads at <paramref name="offset"/> until <paramref name="buffer"/> is full or the file ends.</summary>
    /// <returns>Bytes read; fewer than asked only at the end of the file.</returns>
    int Read(Span<byte> buffer, long offset);

    /// <summary>
    /// Reserves blocks so that later writes below <paramref name="length"/> need no allocation; the length becomes at
    /// least <paramref name="length"/>.
    /// </summary>
    void Allocate(long length);

    /// <summary>Cuts or extends the file (extension reads as zeros).</summary>
    void SetLength(long length);

    /// <summary>fdatasync: when it returns, every byte written before it was called survives a power cut.</summary>
    void Sync();
}

/// <summary>Space of a file system, in bytes.</summary>
/// <param name="TotalBytes">Its size.</param>
/// <param name="FreeBytes">What an ordinary user may still write.</param>
public readonly record struct DiskSpace(long TotalBytes, long FreeBytes);
