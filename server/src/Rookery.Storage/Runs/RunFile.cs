using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// Writes a run's bytes in pieces of 256 KiB, because SD cards erase in such units. Syncs after every 512 KiB if
/// wanted, because the journal's fdatasync waits for everything that the device has queued. The buffer is native
/// memory, because the garbage collector handles large short-lived arrays badly.
/// </summary>
internal sealed class RunFile : IDisposable
{
    private const int WriteBytes = 256 * 1024;
    private const int UnsyncedLimitBytes = 512 * 1024;

    private readonly IDiskFile _file;
    private readonly IoKind _kind;
    private readonly bool _syncsRegularly;
    private readonly IIoRecorder _io;
    private readonly NativeRegion _buffer;
    private int _buffered;
    private long _unsyncedBytes;

    /// <summary>Creates the file.</summary>
    public RunFile(IDisk disk, string path, IoKind kind, bool syncsRegularly, IIoRecorder io)
    {
        _kind = kind;
        _syncsRegularly = syncsRegularly;
        _io = io;

        // The buffer is allocated before the file is created. If the allocation fails, there is no file to delete.
        _buffer = new NativeRegion(WriteBytes + RunFormat.RawLimitBytes + RunFormat.BlockHeaderBytes);
        try
        {
            _file = disk.Open(path, DiskOpen.CreateNew);
        }
        catch
        {
            _buffer.Dispose();
            throw;
        }
    }

    /// <summary>Offset of the next byte in the file.</summary>
    public long Position => WrittenBytes + _buffered;

    /// <summary>Bytes written to disk.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Returns room for <paramref name="bytes"/> at <see cref="Position"/>; at most one block.</summary>
    public Span<byte> Reserve(int bytes) => _buffer.SpanOf(_buffered, bytes);

    /// <summary>Appends the first <paramref name="bytes"/> of the reserved buffer space.</summary>
    public void Advance(int bytes)
    {
        _buffered += bytes;
        if (_buffered >= WriteBytes)
        {
            WriteOut(WriteBytes);
            if (_syncsRegularly && _unsyncedBytes + WriteBytes > UnsyncedLimitBytes)
            {
                Sync();
            }
        }
    }

    /// <summary>Appends <paramref name="data"/> of any length.</summary>
    public void Append(ReadOnlySpan<byte> data)
    {
        while (!data.IsEmpty)
        {
            int part = Math.Min(data.Length, WriteBytes - _buffered);
            data[..part].CopyTo(Reserve(part));
            Advance(part);
            data = data[part..];
        }
    }

    /// <summary>Writes the rest of the buffer and syncs.</summary>
    public void Finish()
    {
        WriteOut(_buffered);
        Sync();
    }

    public void Dispose()
    {
        _file.Dispose();
        _buffer.Dispose();
    }

    private void Sync()
    {
        long begun = _io.Begin();
        _file.Sync();
        _io.Record(_kind, begun, bytes: 0);
        _unsyncedBytes = 0;
    }

    private void WriteOut(int bytes)
    {
        long begun = _io.Begin();
        _file.Write(_buffer.SpanOf(offset: 0, bytes), WrittenBytes);
        _io.Record(_kind, begun, bytes);
        WrittenBytes += bytes;
        _unsyncedBytes += bytes;
        _buffered -= bytes;
        _buffer.SpanOf(bytes, _buffered).CopyTo(_buffer.Span);
    }
}
