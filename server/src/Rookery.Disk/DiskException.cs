namespace Rookery.Disk;

/// <summary>A call to the disk failed. The message is one sentence that an owner can act on: what, where, why.</summary>
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

    /// <summary>What was tried, as a verb ("write", "sync", "rename").</summary>
    public string Operation { get; }

    /// <summary>The file or directory.</summary>
    public string Path { get; }

    /// <summary>The system's reason.</summary>
    public Errno Error { get; }

    /// <summary>The reason in words.</summary>
    public static string Describe(Errno error) => error switch
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
        _ => $"error {(int)error}",
    };
}

/// <summary>Error numbers of Linux that Rookery tells apart (asm-generic/errno.h; the same on x64 and arm64). Others keep their number.</summary>
public enum Errno
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>EPERM: only the owner may.</summary>
    NotPermitted = 1,

    /// <summary>ENOENT.</summary>
    NoEntry = 2,

    /// <summary>EINTR.</summary>
    Interrupted = 4,

    /// <summary>EIO.</summary>
    InputOutput = 5,

    /// <summary>EAGAIN, EWOULDBLOCK: a lock is held.</summary>
    WouldBlock = 11,

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

    /// <summary>ENOSPC.</summary>
    NoSpace = 28,

    /// <summary>EROFS.</summary>
    ReadOnly = 30,

    /// <summary>ENOTEMPTY.</summary>
    NotEmpty = 39,

    /// <summary>EDQUOT.</summary>
    Quota = 122,
}
