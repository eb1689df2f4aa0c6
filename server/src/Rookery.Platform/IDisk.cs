namespace Rookery.Platform;

/// <summary>
/// The interface to a file system. All durable data is read and written through it, so that tests can simulate power
/// cuts, full disks and corrupt bytes. Calls block the thread. Paths are absolute.
/// </summary>
/// <remarks>
/// A change of names (create, rename, link, delete) is durable only after <see cref="SyncDirectory"/> of the directory,
/// and bytes only after <see cref="IDiskFile.Sync"/>. Every method throws <see cref="DiskException"/> on failure. All
/// members are thread-safe.
/// </remarks>
public interface IDisk
{
    /// <summary>
    /// Opens a file. <see cref="DiskOpen.CreateNew"/> fails with EEXIST when the name exists, other modes fail with
    /// ENOENT when it does not.
    /// </summary>
    IDiskFile Open(string path, DiskOpen mode);

    /// <summary>Returns whether a file or directory has this name.</summary>
    bool Exists(string path);

    /// <summary>Returns the names (not paths) of files and directories in a directory, in ordinal order.</summary>
    IReadOnlyList<string> List(string directory);

    /// <summary>Creates a directory and its missing parents; does nothing if it exists.</summary>
    void CreateDirectory(string path);

    /// <summary>Renames a file within one file system, replacing any file of the new name.</summary>
    void Rename(string from, string to);

    /// <summary>Creates a second name for a file (a hard link). Fails with EXDEV across file systems.</summary>
    void Link(string existing, string added);

    /// <summary>Removes a name. The bytes are released with the last name and the last open file.</summary>
    void Delete(string path);

    /// <summary>Removes an empty directory.</summary>
    void DeleteDirectory(string path);

    /// <summary>Makes the names in a directory durable.</summary>
    void SyncDirectory(string path);

    /// <summary>
    /// Returns the size and free space of the file system of <paramref name="path"/>, as seen by an ordinary user.
    /// </summary>
    DiskSpace SpaceOf(string path);

    /// <summary>Returns the block device of <paramref name="path"/> (such as "mmcblk0p2"), or "unknown".</summary>
    string DeviceOf(string path);

    /// <summary>
    /// Takes the exclusive lock on the file at <paramref name="path"/>, and creates the file if it is missing.
    /// Disposing the result releases the lock. The system releases it when the process ends.
    /// </summary>
    /// <exception cref="DiskException">With <see cref="Errno.WouldBlock"/> when another process, or this one, holds the
    /// lock.</exception>
    IDisposable Lock(string path);
}

/// <summary>How to open a file.</summary>
public enum DiskOpen
{
    /// <summary>An existing file, for reading.</summary>
    Read,

    /// <summary>An existing file, for reading and writing.</summary>
    ReadWrite,

    /// <summary>A new file, for reading and writing, which only its owner can access.</summary>
    CreateNew,
}

/// <summary>An open file. Reads and writes specify their offset. Thread-safe.</summary>
public interface IDiskFile : IDisposable
{
    /// <summary>The path with which the file was opened.</summary>
    string Path { get; }

    /// <summary>The current length in bytes.</summary>
    long Length { get; }

    /// <summary>
    /// Writes all of <paramref name="data"/> at <paramref name="offset"/>, extending the file if needed. On failure any
    /// part may have been written.
    /// </summary>
    void Write(ReadOnlySpan<byte> data, long offset);

    /// <summary>
    /// Reads from <paramref name="offset"/> until <paramref name="buffer"/> is full or the file ends.
    /// </summary>
    /// <returns>Number of bytes read; fewer than the buffer's length only at the end of the file.</returns>
    int Read(Span<byte> buffer, long offset);

    /// <summary>
    /// Allocates blocks, so that later writes below <paramref name="length"/> need no allocation. Extends the file to
    /// at least <paramref name="length"/>.
    /// </summary>
    void Allocate(long length);

    /// <summary>Truncates or extends the file; added bytes read as zeros.</summary>
    void SetLength(long length);

    /// <summary>Calls fdatasync: all bytes written before the call survive a power cut once it returns.</summary>
    void Sync();
}

/// <summary>The space of a file system, in bytes.</summary>
/// <param name="TotalBytes">The size of the file system.</param>
/// <param name="FreeBytes">The bytes that an ordinary user can still write.</param>
public readonly record struct DiskSpace(long TotalBytes, long FreeBytes);
