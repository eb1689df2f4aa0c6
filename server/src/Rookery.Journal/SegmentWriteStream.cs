using System.Numerics;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Encodes frames as one journal write: consecutive bytes, padded to a block, passed to the disk in pieces of 1 MiB.
/// </summary>
/// <remarks>
/// The buffer grows to the largest write, at most 1 MiB, and is never released. A larger write is split into pieces,
/// because each completed piece proves that a slow disk still works.
/// </remarks>
internal sealed class SegmentWriteStream(IIoRecorder io)
{
    public const int PieceBytes = 1024 * 1024;

    private byte[] _buffer = new byte[16 * FrameLayout.BlockBytes];
    private IDiskFile? _file;
    private long _fileOffset;
    private int _filled;
    private long _progress;

    /// <summary>Number of pieces written and syncs completed. Thread-safe.</summary>
    public long Progress => Volatile.Read(ref _progress);

    /// <summary>Offset of the next byte in the file.</summary>
    public long Offset => _fileOffset + _filled;

    /// <summary>Starts a write of <paramref name="bytes"/> at an offset.</summary>
    public void Begin(IDiskFile target, long offset, long bytes)
    {
        long wanted = Math.Min(PieceBytes, (long)BitOperations.RoundUpToPowerOf2((ulong)bytes));
        if (wanted > _buffer.Length)
        {
            _buffer = new byte[wanted];
        }

        _file = target;
        _fileOffset = offset;
        _filled = 0;
    }

    public void Add(SegmentHeader header) => header.WriteTo(Reserve(SegmentHeader.Bytes));

    /// <summary>Adds a frame. Adds a vote twice, each copy in its own block.</summary>
    public void Add(in FrameHeader header, ReadOnlySpan<byte> payload)
    {
        AddOnce(header, payload);
        if (header.Type == FrameType.Vote)
        {
            PadToBlock();
            AddOnce(header with { Flags = header.Flags | FrameFlags.VoteCopy }, payload);
            PadToBlock();
        }
    }

    public void AddZeros(long count)
    {
        while (count > 0)
        {
            int part = (int)Math.Min(count, _buffer.Length - _filled);
            Reserve(part).Clear();
            count -= part;
        }
    }

    public void PadToBlock() => AddZeros(FrameLayout.RoundUp(Offset) - Offset);

    /// <summary>Writes the rest of the buffer and syncs the file.</summary>
    public void Sync()
    {
        Flush();
        long begun = io.Begin();
        _file!.Sync();
        io.Record(IoKind.JournalSync, begun, bytes: 0);
        Volatile.Write(ref _progress, _progress + 1);
        _file = null;
    }

    /// <summary>
    /// Writes bytes of a file over themselves and syncs them. After a failed sync of an earlier process, pages in the
    /// cache may be marked clean although the device lacks them.
    /// </summary>
    public void Rewrite(IDiskFile target, long from, long to)
    {
        Begin(target, from, to - from);
        while (Offset < to)
        {
            int count = (int)Math.Min(to - Offset, _buffer.Length - _filled);
            long offset = Offset;
            target.Read(Reserve(count), offset);
        }

        Sync();
    }

    private void AddOnce(in FrameHeader header, ReadOnlySpan<byte> payload)
    {
        Span<byte> encoded = stackalloc byte[FrameHeader.Bytes];
        header.WriteTo(encoded);
        AddBytes(encoded);
        AddBytes(payload);
    }

    private void AddBytes(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int part = Math.Min(bytes.Length, _buffer.Length - _filled);
            bytes[..part].CopyTo(Reserve(part));
            bytes = bytes[part..];
        }
    }

    /// <summary>Reserves the next bytes of the buffer for the caller to fill; writes a full buffer first.</summary>
    private Span<byte> Reserve(int count)
    {
        if (_filled == _buffer.Length)
        {
            Flush();
        }

        var room = _buffer.AsSpan(_filled, count);
        _filled += count;
        return room;
    }

    private void Flush()
    {
        if (_filled == 0)
        {
            return;
        }

        long begun = io.Begin();
        _file!.Write(_buffer.AsSpan(0, _filled), _fileOffset);
        io.Record(IoKind.JournalWrite, begun, _filled);
        Volatile.Write(ref _progress, _progress + 1);
        _fileOffset += _filled;
        _filled = 0;
    }
}
