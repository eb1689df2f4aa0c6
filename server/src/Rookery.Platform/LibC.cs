using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Rookery.Platform;

/// <summary>
/// The functions of libc that <see cref="PosixDisk"/> calls. Declares only constants and structures that are the same
/// on linux-x64 and linux-arm64: O_DIRECTORY, O_DIRECT and struct stat differ and are avoided.
/// </summary>
internal static partial class LibC
{
    internal const int ReadOnly = 0;
    internal const int ReadWrite = 2;
    internal const int Create = 0x40;
    internal const int Exclusive = 0x80;
    internal const int CloseOnExec = 0x80000;
    internal const int NoAccessTime = 0x40000;

    // Opening a pipe must not wait for a writer; on files the flag has no effect.
    internal const int NonBlocking = 0x800;

    internal const int SeekEnd = 2;

    internal const int LockExclusive = 2;
    internal const int LockNonBlocking = 4;

    /// <summary>
    /// The offset of d_name in struct dirent of 64-bit glibc: after d_ino (8), d_off (8), d_reclen (2) and d_type (1).
    /// </summary>
    internal const int DirectoryEntryNameOffset = 19;

    private const string Library = "libc";

    [LibraryImport(Library, EntryPoint = "open", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int Open(string path, int flags, uint mode);

    [LibraryImport(Library, EntryPoint = "pread", SetLastError = true)]
    internal static unsafe partial nint Read(SafeFileHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport(Library, EntryPoint = "pwrite", SetLastError = true)]
    internal static unsafe partial nint Write(SafeFileHandle file, byte* buffer, nuint count, long offset);

    [LibraryImport(Library, EntryPoint = "lseek", SetLastError = true)]
    internal static partial long Seek(SafeFileHandle file, long offset, int whence);

    [LibraryImport(Library, EntryPoint = "ftruncate", SetLastError = true)]
    internal static partial int Truncate(SafeFileHandle file, long length);

    /// <summary>Returns the error number itself and does not set errno.</summary>
    [LibraryImport(Library, EntryPoint = "posix_fallocate")]
    internal static partial int Allocate(SafeFileHandle file, long offset, long length);

    [LibraryImport(Library, EntryPoint = "fdatasync", SetLastError = true)]
    internal static partial int SyncData(SafeFileHandle file);

    [LibraryImport(Library, EntryPoint = "fsync", SetLastError = true)]
    internal static partial int Sync(SafeFileHandle file);

    [LibraryImport(Library, EntryPoint = "flock", SetLastError = true)]
    internal static partial int Lock(SafeFileHandle file, int operation);

    [LibraryImport(Library, EntryPoint = "access", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int Access(string path, int mode);

    [LibraryImport(Library, EntryPoint = "mkdir", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int MakeDirectory(string path, uint mode);

    [LibraryImport(Library, EntryPoint = "rmdir", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int RemoveDirectory(string path);

    [LibraryImport(Library, EntryPoint = "rename", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int Rename(string from, string to);

    [LibraryImport(Library, EntryPoint = "link", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int Link(string existing, string added);

    [LibraryImport(Library, EntryPoint = "unlink", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int Unlink(string path);

    [LibraryImport(Library, EntryPoint = "opendir", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial nint OpenDirectory(string path);

    [LibraryImport(Library, EntryPoint = "readdir", SetLastError = true)]
    internal static partial nint ReadDirectory(nint directory);

    [LibraryImport(Library, EntryPoint = "closedir")]
    internal static partial int CloseDirectory(nint directory);

    [LibraryImport(Library, EntryPoint = "readlink", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static unsafe partial nint ReadLink(string path, byte* buffer, nuint size);

    [LibraryImport(Library, EntryPoint = "statvfs", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static partial int FileSystemStatus(string path, out FileSystemStatistics statistics);

    /// <summary>
    /// Calls stat(2) with an opaque buffer. Its layout differs between processors, but st_dev is the first eight bytes
    /// on both.
    /// </summary>
    [LibraryImport(Library, EntryPoint = "stat", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static unsafe partial int FileStatus(string path, byte* status);

    /// <summary>
    /// Calls statx(2) with an opaque buffer, whose layout is the same on all processors: stx_mode are the two bytes at
    /// <see cref="ExtendedModeOffset"/>.
    /// </summary>
    [LibraryImport(Library, EntryPoint = "statx", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    internal static unsafe partial int ExtendedStatus(int directory, string path, int flags, uint mask, byte* status);

    /// <summary>The size of struct statx.</summary>
    internal const int ExtendedStatusBytes = 256;

    /// <summary>The offset of stx_mode in struct statx.</summary>
    internal const int ExtendedModeOffset = 28;

    /// <summary>Stands for the working directory (AT_FDCWD).</summary>
    internal const int WorkingDirectory = -100;

    /// <summary>Asks statx(2) for the type of a file (STATX_TYPE).</summary>
    internal const uint StatusOfType = 1;

    /// <summary>Larger than any struct stat (144 bytes on x64, 128 on arm64).</summary>
    internal const int FileStatusBytes = 256;

    /// <summary>struct statvfs of 64-bit glibc.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct FileSystemStatistics
    {
        internal ulong BlockBytes;
        internal ulong FragmentBytes;
        internal ulong Blocks;
        internal ulong FreeBlocks;
        internal ulong AvailableBlocks;
        internal ulong Files;
        internal ulong FreeFiles;
        internal ulong AvailableFiles;
        internal ulong Id;
        internal ulong Flags;
        private fixed int _unused[8]; // the longest name of a file, and spare fields
    }
}
