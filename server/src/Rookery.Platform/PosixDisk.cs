using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace Rookery.Platform;

/// <summary>
/// The file systems of this machine, through system calls. .NET's file classes are not used: their flush calls fsync
/// and ignores EROFS, and their exceptions do not distinguish ENOSPC from EDQUOT.
/// </summary>
public sealed class PosixDisk : IDisk
{
    // Only the owner has access, because the files contain the documents and the node's private keys.
    private const uint FileMode = 0b110_000_000;
    private const uint DirectoryMode = 0b111_000_000;

    /// <inheritdoc/>
    public IDiskFile Open(string path, DiskOpen mode)
    {
        if (mode == DiskOpen.Read)
        {
            return OpenToRead(path);
        }

        const int creating = LibC.ReadWrite | LibC.Create | LibC.Exclusive;
        return new PosixFile(
            mode switch
            {
                DiskOpen.ReadWrite => OpenDescriptor("open", path, LibC.ReadWrite),
                DiskOpen.CreateNew => OpenDescriptor("create", path, creating),
                _ => throw new ArgumentOutOfRangeException(nameof(mode)),
            },
            path
        );
    }

    /// <summary>
    /// Opens a file without updating its access time. With relatime the first read after a write updates it, so that
    /// the scrub of an idle node would write.
    /// </summary>
    private static PosixFile OpenToRead(string path)
    {
        try
        {
            return new PosixFile(
                OpenDescriptor("open", path, LibC.ReadOnly | LibC.NonBlocking | LibC.NoAccessTime),
                path
            );
        }
        catch (DiskException refused) when (refused.Error == Errno.NotPermitted)
        {
            // O_NOATIME is not permitted on another user's file, such as a file of a backup
            return new PosixFile(OpenDescriptor("open", path, LibC.ReadOnly | LibC.NonBlocking), path);
        }
    }

    /// <inheritdoc/>
    public bool Exists(string path)
    {
        if (LibC.Access(path, mode: 0) == 0)
        {
            return true;
        }

        var error = LastError();
        if (error is Errno.NoEntry or Errno.NotDirectory)
        {
            return false;
        }

        throw new DiskException("look for", path, error);
    }

    /// <inheritdoc/>
    public IReadOnlyList<string> List(string directory)
    {
        nint stream = LibC.OpenDirectory(directory);
        if (stream == 0)
        {
            throw new DiskException("list", directory, LastError());
        }

        try
        {
            return ReadNames(stream, directory);
        }
        finally
        {
            _ = LibC.CloseDirectory(stream);
        }
    }

    /// <inheritdoc/>
    public void CreateDirectory(string path)
    {
        if (LibC.MakeDirectory(path, DirectoryMode) == 0)
        {
            return;
        }

        var error = LastError();
        if (error == Errno.NoEntry && Path.GetDirectoryName(path) is { Length: > 0 } parent)
        {
            CreateDirectory(parent);
            error = LibC.MakeDirectory(path, DirectoryMode) == 0 ? Errno.None : LastError();
        }

        // Only a directory contains ".".
        bool isThere =
            error == Errno.None || (error == Errno.Exists && LibC.Access(Path.Join(path, "."), mode: 0) == 0);
        if (!isThere)
        {
            throw new DiskException("create the directory", path, error);
        }
    }

    /// <inheritdoc/>
    public void Rename(string from, string to) => Check(LibC.Rename(from, to), "rename to " + to + " the file", from);

    /// <inheritdoc/>
    public void Link(string existing, string added) =>
        Check(LibC.Link(existing, added), "link as " + added + " the file", existing);

    /// <inheritdoc/>
    public void Delete(string path) => Check(LibC.Unlink(path), "delete", path);

    /// <inheritdoc/>
    public void DeleteDirectory(string path) => Check(LibC.RemoveDirectory(path), "delete the directory", path);

    /// <inheritdoc/>
    public void SyncDirectory(string path)
    {
        using var directory = OpenDescriptor("open the directory", path, LibC.ReadOnly);
        int result;
        do
        {
            result = LibC.Sync(directory);
        } while (result != 0 && LastError() == Errno.Interrupted);
        Check(result, "sync the directory", path);
    }

    /// <inheritdoc/>
    public DiskSpace SpaceOf(string path)
    {
        int result;
        LibC.FileSystemStatistics statistics;
        do
        {
            result = LibC.FileSystemStatus(path, out statistics);
        } while (result != 0 && LastError() == Errno.Interrupted);
        Check(result, "ask for the free space at", path);
        long blockBytes = (long)statistics.FragmentBytes;
        return new DiskSpace((long)statistics.Blocks * blockBytes, (long)statistics.AvailableBlocks * blockBytes);
    }

    /// <inheritdoc/>
    public unsafe string DeviceOf(string path)
    {
        byte* status = stackalloc byte[LibC.FileStatusBytes];
        if (LibC.FileStatus(path, status) != 0)
        {
            return "unknown";
        }

        // Decode the numbers as makedev(3) encodes them. /sys/dev/block has a link for each block device under these
        // numbers; its target ends with the device's kernel name.
        ulong device = *(ulong*)status;
        ulong major = ((device >> 8) & 0xfff) | ((device >> 32) & 0xfffff000);
        ulong minor = (device & 0xff) | ((device >> 12) & 0xffffff00);
        byte* link = stackalloc byte[1024];
        nint length = LibC.ReadLink($"/sys/dev/block/{major}:{minor}", link, size: 1024);
        return length <= 0 ? "unknown" : Path.GetFileName(Encoding.UTF8.GetString(link, (int)length));
    }

    /// <inheritdoc/>
    public IDisposable Lock(string path)
    {
        // flock belongs to the open file, not to the process, so a second lock by this process is refused too. The
        // kernel releases the lock when the process ends.
        var file = OpenDescriptor("open the lock file", path, LibC.ReadWrite | LibC.Create);
        if (LibC.Lock(file, LibC.LockExclusive | LibC.LockNonBlocking) == 0)
        {
            return file;
        }

        var error = LastError();
        file.Dispose();
        throw new DiskException("lock", path, error);
    }

    internal static Errno LastError() => (Errno)Marshal.GetLastPInvokeError();

    private static SafeFileHandle OpenDescriptor(string operation, string path, int flags)
    {
        int descriptor;
        do
        {
            descriptor = LibC.Open(path, flags | LibC.CloseOnExec, FileMode);
        } while (descriptor < 0 && LastError() == Errno.Interrupted);
        Check(descriptor, operation, path);
        return new SafeFileHandle(descriptor, ownsHandle: true);
    }

    private static List<string> ReadNames(nint stream, string directory)
    {
        var names = new List<string>();
        while (true)
        {
            nint entry = LibC.ReadDirectory(stream);
            if (entry == 0)
            {
                Check(LastError() == Errno.None ? 0 : -1, "list", directory);
                names.Sort(StringComparer.Ordinal);
                return names;
            }

            string name = Marshal.PtrToStringUTF8(entry + LibC.DirectoryEntryNameOffset)!;
            if (name is not ("." or ".."))
            {
                names.Add(name);
            }
        }
    }

    private static void Check(int result, string operation, string path)
    {
        SocketThreads.CountIfBlocking();
        if (result < 0)
        {
            throw new DiskException(operation, path, LastError());
        }
    }
}
