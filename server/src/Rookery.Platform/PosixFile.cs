using Microsoft.Win32.SafeHandles;

namespace Rookery.Platform;

/// <summary>An open file of <see cref="PosixDisk"/>.</summary>
internal sealed class PosixFile(SafeFileHandle handle, string path) : IDiskFile
{
    public string Path => path;

    public long Length
    {
        get
        {
            // Seek to get the length: nothing uses the descriptor's position, and the structure of fstat differs
            // between processors.
            long length = LibC.Seek(handle, offset: 0, LibC.SeekEnd);
            return length switch
            {
                < 0 => throw Failure("measure"),

                // A directory can be opened to read, and ext4 gives this as its length.
                long.MaxValue => throw new DiskException("measure", path, Errno.IsDirectory),
                _ => length,
            };
        }
    }

    public unsafe void Write(ReadOnlySpan<byte> data, long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        SocketThreads.CountIfBlocking();
        fixed (byte* start = data)
        {
            int done = 0;
            while (done < data.Length)
            {
                nint written = LibC.Write(handle, start + done, (nuint)(data.Length - done), offset + done);
                if (written > 0)
                {
                    done += (int)written;
                }
                else if (written == 0)
                {
                    throw new DiskException("write", path, Errno.InputOutput);
                }
                else if (PosixDisk.LastError() != Errno.Interrupted)
                {
                    throw Failure("write");
                }
            }
        }
    }

    public unsafe int Read(Span<byte> buffer, long offset)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        SocketThreads.CountIfBlocking();
        fixed (byte* start = buffer)
        {
            int done = 0;
            while (done < buffer.Length)
            {
                nint read = LibC.Read(handle, start + done, (nuint)(buffer.Length - done), offset + done);
                if (read > 0)
                {
                    done += (int)read;
                }
                else if (read == 0)
                {
                    break;
                }
                else if (PosixDisk.LastError() != Errno.Interrupted)
                {
                    throw Failure("read");
                }
            }

            return done;
        }
    }

    public void Allocate(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        Errno error;
        do
        {
            error = (Errno)LibC.Allocate(handle, offset: 0, length);
        } while (error == Errno.Interrupted);
        if (error != Errno.None)
        {
            throw new DiskException("reserve space for", path, error);
        }
    }

    public void SetLength(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        while (LibC.Truncate(handle, length) != 0)
        {
            if (PosixDisk.LastError() != Errno.Interrupted)
            {
                throw Failure("set the length of");
            }
        }
    }

    public void Sync()
    {
        SocketThreads.CountIfBlocking();
        // EINTR does not clear an error that the kernel has recorded for this file, so the call can be repeated. Any
        // other failure is final for this descriptor.
        while (LibC.SyncData(handle) != 0)
        {
            if (PosixDisk.LastError() != Errno.Interrupted)
            {
                throw Failure("sync");
            }
        }
    }

    public void Dispose() => handle.Dispose();

    private DiskException Failure(string operation) => new(operation, path, PosixDisk.LastError());
}
