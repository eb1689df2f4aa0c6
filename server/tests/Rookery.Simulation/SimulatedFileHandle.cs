using Rookery.Disk;

namespace Rookery.Simulation;

/// <summary>An open file of a <see cref="SimulatedDisk"/>.</summary>
internal sealed class SimulatedFileHandle : IDiskFile
{
    /// <summary>EBADF: a change through a file that was opened to read.</summary>
    private const Errno BadDescriptor = (Errno)9;

    private readonly SimulatedDisk disk;
    private readonly SimulatedFile file;
    private readonly bool mayWrite;
    private bool isClosed;

    internal SimulatedFileHandle(SimulatedDisk disk, SimulatedFile file, string path, bool mayWrite)
    {
        this.disk = disk;
        this.file = file;
        this.mayWrite = mayWrite;
        Path = path;
        file.Handles++;
    }

    public string Path { get; }

    public long Length
    {
        get
        {
            lock (disk.Access)
            {
                ObjectDisposedException.ThrowIf(isClosed, this);
                return file.Length;
            }
        }
    }

    public void Write(ReadOnlySpan<byte> data, long offset)
    {
        lock (disk.Access)
        {
            var fault = Enter(DiskCalls.Write);
            var error = fault?.Error ?? Errno.None;
            var written = fault is null ? data : data[..Math.Min(fault.ShortWriteBytes, data.Length)];
            long end = disk.Fitting(file, offset + written.Length);
            if (end < offset + written.Length)
            {
                written = written[..(int)Math.Max(0, end - offset)];
                error = Errno.NoSpace;
            }

            ThrowUnlessWritable("write");
            if (!written.IsEmpty)
            {
                long before = file.AllocatedBytes;
                file.Write(disk.NextOperation(), written, offset);
                disk.Take(file.AllocatedBytes - before);
            }

            Finish("write", error);
        }
    }

    public int Read(Span<byte> buffer, long offset)
    {
        lock (disk.Access)
        {
            Finish("read", Enter(DiskCalls.Read)?.Error ?? Errno.None);
            return file.Read(buffer, offset);
        }
    }

    public void Allocate(long length)
    {
        lock (disk.Access)
        {
            Finish("reserve space for", Enter(DiskCalls.Allocate)?.Error ?? Errno.None);
            ThrowUnlessWritable("reserve space for");
            Finish("reserve space for", disk.Fitting(file, length) < length ? Errno.NoSpace : Errno.None);
            long before = file.AllocatedBytes;
            file.Allocate(disk.NextOperation(), length);
            disk.Take(file.AllocatedBytes - before);
        }
    }

    public void SetLength(long length)
    {
        lock (disk.Access)
        {
            Finish("set the length of", Enter(DiskCalls.SetLength)?.Error ?? Errno.None);
            ThrowUnlessWritable("set the length of");
            long before = file.AllocatedBytes;
            file.SetLength(disk.NextOperation(), length);
            disk.Take(file.AllocatedBytes - before);
        }
    }

    public void Sync()
    {
        lock (disk.Access)
        {
            var fault = Enter(DiskCalls.Sync);
            file.Sync(disk.NextOperation(), succeeded: fault is null);
            Finish("sync", fault?.Error ?? Errno.None);
        }
    }

    public void Dispose()
    {
        lock (disk.Access)
        {
            if (!isClosed)
            {
                isClosed = true;
                disk.Close(this, file);
            }
        }
    }

    private DiskFault? Enter(DiskCalls call)
    {
        ObjectDisposedException.ThrowIf(isClosed, this);
        return disk.NextFault(call, Path);
    }

    private void ThrowUnlessWritable(string operation) => Finish(operation, mayWrite ? Errno.None : BadDescriptor);

    private void Finish(string operation, Errno error)
    {
        if (error != Errno.None)
        {
            throw new DiskException(operation, Path, error);
        }
    }
}
