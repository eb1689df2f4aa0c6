using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>
/// The way of a run's bytes to disk: in writes of 256 KiB, because a card erases in such units, and synced in between
/// when asked to, because a journal's fdatasync waits for whatever the device has queued. The buffer is native: it is
/// large, short-lived and not the garbage collector's business.
/// </summary>
internal sealed class RunFile(IDiskFile file, IoKind kind, bool paced, IIoRecorder io) : IDisposable
{
    private const int WriteBytes = 256 * 1024;
    private const int UnsyncedLimitBytes = 512 * 1024;

    private readonly NativeRegion _buffer = new(WriteBytes + RunFormat.RawLimitBytes + RunFormat.BlockHeaderBytes);
    private int _buffered;
    private long _unsyncedBytes;

    /// <summary>Where the next byte will lie in the file.</summary>
    public long Position => WrittenBytes + _buffered;

    /// <summary>Bytes handed to the disk.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Room for <paramref name="bytes"/> at <see cref="Position"/>; at most a block.</summary>
    public Span<byte> Reserve(int bytes) => _buffer.SpanOf(_buffered, bytes);

    /// <summary>Takes the first <paramref name="bytes"/> of what was reserved.</summary>
    public void Advance(int bytes)
    {
        _buffered += bytes;
        if (_buffered >= WriteBytes)
        {
            WriteOut(WriteBytes);
            if (paced && _unsyncedBytes + WriteBytes > UnsyncedLimitBytes)
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

    /// <summary>Writes what is buffered and syncs.</summary>
    public void Finish()
    {
        WriteOut(_buffered);
        Sync();
    }

    public void Dispose()
    {
        file.Dispose();
        _buffer.Dispose();
    }

    private void Sync()
    {
        long begun = io.Begin();
        file.Sync();
        io.Record(kind, begun, 0);
        _unsyncedBytes = 0;
    }

    private void WriteOut(int bytes)
    {
        long begun = io.Begin();
        file.Write(_buffer.SpanOf(0, bytes), WrittenBytes);
        io.Record(kind, begun, bytes);
        WrittenBytes += bytes;
        _unsyncedBytes += bytes;
        _buffered -= bytes;
        _buffer.SpanOf(bytes, _buffered).CopyTo(_buffer.Span);
    }
}
