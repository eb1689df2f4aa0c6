using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>An open file of a <see cref="SimulatedDisk"/>.</summary>
internal sealed class SimulatedFileHandle : IDiskFile
{
    /// <summary>EBADF: a change through a file that was opened to read.</summary>
    private const Errno BadDescriptor = (Errno)9;

    private readonly SimulatedDisk _disk;
    private readonly SimulatedFile _file;
    private readonly bool _mayWrite;
    private bool _isClosed;

    internal SimulatedFileHandle(SimulatedDisk disk, SimulatedFile file, string path, bool mayWrite)
    {
        _disk = disk;
        _file = file;
        _mayWrite = mayWrite;
        Path = path;
        file.Handles++;
    }

    public string Path { get; }

    public long Length
    {
        get
        {
            lock (_disk.Gate)
            {
                ObjectDisposedException.ThrowIf(_isClosed, this);
                return _file.Length;
            }
        }
    }

    public void Write(ReadOnlySpan<byte> data, long offset)
    {
        lock (_disk.Gate)
        {
            var fault = Enter(DiskCalls.Write);
            var error = fault?.Error ?? Errno.None;
            var written = fault is null ? data : data[..Math.Min(fault.ShortWriteBytes, data.Length)];
            long end = _disk.Fitting(_file, offset + written.Length);
            if (end < offset + written.Length)
            {
                written = written[..(int)Math.Max(0, end - offset)];
                error = Errno.NoSpace;
            }

            ThrowUnlessWritable("write");
            if (!written.IsEmpty)
            {
                long before = _file.AllocatedBytes;
                _file.Write(_disk.NextOperation(), written, offset);
                _disk.AddUsedBytes(_file.AllocatedBytes - before);
            }

            Finish("write", error);
        }
    }

    public int Read(Span<byte> buffer, long offset)
    {
        lock (_disk.Gate)
        {
            Finish("read", Enter(DiskCalls.Read)?.Error ?? Errno.None);
            return _file.Read(buffer, offset);
        }
    }

    public void Allocate(long length)
    {
        lock (_disk.Gate)
        {
            Finish("reserve space for", Enter(DiskCalls.Allocate)?.Error ?? Errno.None);
            ThrowUnlessWritable("reserve space for");
            Finish("reserve space for", _disk.Fitting(_file, length) < length ? Errno.NoSpace : Errno.None);
            long before = _file.AllocatedBytes;
            _file.Allocate(_disk.NextOperation(), length);
            _disk.AddUsedBytes(_file.AllocatedBytes - before);
        }
    }

    public void SetLength(long length)
    {
        lock (_disk.Gate)
        {
            Finish("set the length of", Enter(DiskCalls.SetLength)?.Error ?? Errno.None);
            ThrowUnlessWritable("set the length of");
            long before = _file.AllocatedBytes;
            _file.SetLength(_disk.NextOperation(), length);
            _disk.AddUsedBytes(_file.AllocatedBytes - before);
        }
    }

    public void Sync()
    {
        lock (_disk.Gate)
        {
            var fault = Enter(DiskCalls.Sync);
            _file.Sync(_disk.NextOperation(), succeeded: fault is null);
            Finish("sync", fault?.Error ?? Errno.None);
        }
    }

    public void Dispose()
    {
        lock (_disk.Gate)
        {
            if (!_isClosed)
            {
                _isClosed = true;
                _disk.Close(this, _file);
            }
        }
    }

    private DiskFault? Enter(DiskCalls call)
    {
        ObjectDisposedException.ThrowIf(_isClosed, this);
        return _disk.NextFault(call, Path);
    }

    private void ThrowUnlessWritable(string operation) => Finish(operation, _mayWrite ? Errno.None : BadDescriptor);

    private void Finish(string operation, Errno error)
    {
        if (error != Errno.None)
        {
            throw new DiskException(operation, Path, error);
        }
    }
}
