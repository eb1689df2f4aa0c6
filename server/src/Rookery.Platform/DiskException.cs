using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>A disk operation failed. The message is one sentence for the operator: what, where, why.</summary>
public sealed class DiskException : IOException
{
    /// <summary>Describes the failure of <paramref name="operation"/> on <paramref name="path"/>.</summary>
    public DiskException(string operation, string path, Errno error)
        : base($"Could not {operation} {path}: {Describe(error)}.")
    {
        Operation = operation;
        Path = path;
        Error = error;
    }

    /// <summary>The failed operation, as a verb ("write", "sync", "rename").</summary>
    public string Operation { get; }

    /// <summary>The path of the file or directory.</summary>
    public string Path { get; }

    /// <summary>The error number of the system.</summary>
    public Errno Error { get; }

    /// <summary>
    /// Whether the system lacks files or memory for the operation. Such an error does not mean that the file is
    /// damaged.
    /// </summary>
    public bool IsResourceShortage => Error is Errno.TooManyFiles or Errno.TooManyFilesInSystem or Errno.NoMemory;

    /// <summary>Returns the error in words.</summary>
    public static string Describe(Errno error) =>
        error switch
        {
            Errno.NoEntry => "there is no such file or directory",
            Errno.InputOutput => "the device reported an input/output error",
            Errno.WouldBlock => "another process holds it",
            Errno.AccessDenied => "permission denied",
            Errno.Exists => "the name is taken",
            Errno.CrossDevice => "source and target are on different file systems",
            Errno.NotDirectory => "a part of the path is not a directory",
            Errno.IsDirectory => "it is a directory",
            Errno.NoSpace => "no space is left on the device",
            Errno.ReadOnly => "the file system is read-only",
            Errno.NotEmpty => "the directory is not empty",
            Errno.Quota => "the disk quota is used up",
            Errno.NotPermitted => "the system does not permit it",
            Errno.Invalid => "the file or its file system does not support it",
            Errno.TooManyFiles => "this process has too many files open",
            Errno.NotSeekable => "it is a pipe or a socket, which has no positions",
            Errno.NameTooLong => "a name in the path is too long",
            Errno.SymbolicLinks => "the path has too many symbolic links, or they form a circle",
            _ => InWordsOfTheSystem(error),
        };

    // The C library has words for every error number of the kernel, such as those of network file systems.
    private static string InWordsOfTheSystem(Errno error)
    {
        string words = Marshal.GetPInvokeErrorMessage((int)error);

        // An abbreviation, such as "RPC", keeps its capitals.
        bool beginsWithWord = words.Length > 1 && char.IsAsciiLetterLower(words[1]);
        return beginsWithWord ? char.ToLowerInvariant(words[0]) + words[1..] : words;
    }
}

/// <summary>
/// The error numbers of Linux that Rookery distinguishes (asm-generic/errno.h; the same on x64 and arm64). The C
/// library describes the others.
/// </summary>
public enum Errno
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>EPERM: only the owner of the file is permitted.</summary>
    NotPermitted = 1,

    /// <summary>ENOENT.</summary>
    NoEntry = 2,

    /// <summary>EINTR.</summary>
    Interrupted = 4,

    /// <summary>EIO.</summary>
    InputOutput = 5,

    /// <summary>EAGAIN, EWOULDBLOCK: a lock is held.</summary>
    WouldBlock = 11,

    /// <summary>ENOMEM.</summary>
    NoMemory = 12,

    /// <summary>EACCES.</summary>
    AccessDenied = 13,

    /// <summary>EEXIST.</summary>
    Exists = 17,

    /// <summary>EXDEV.</summary>
    CrossDevice = 18,

    /// <summary>ENOTDIR.</summary>
    NotDirectory = 20,

    /// <summary>EISDIR.</summary>
    IsDirectory = 21,

    /// <summary>EINVAL.</summary>
    Invalid = 22,

    /// <summary>ENFILE: all processes together have too many files open.</summary>
    TooManyFilesInSystem = 23,

    /// <summary>EMFILE.</summary>
    TooManyFiles = 24,

    /// <summary>ENOSPC.</summary>
    NoSpace = 28,

    /// <summary>ESPIPE.</summary>
    NotSeekable = 29,

    /// <summary>EROFS.</summary>
    ReadOnly = 30,

    /// <summary>ENAMETOOLONG.</summary>
    NameTooLong = 36,

    /// <summary>ENOTEMPTY.</summary>
    NotEmpty = 39,

    /// <summary>ELOOP.</summary>
    SymbolicLinks = 40,

    /// <summary>EDQUOT.</summary>
    Quota = 122,
}
