using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Reads the frames of one segment in order and checks every byte: checksums, generation, and consecutive write
/// numbers.
/// </summary>
internal sealed class SegmentWalker : IDisposable
{
    private const int WindowBytes = 256 * 1024;

    private readonly Segment _segment;
    private readonly long _end;
    private PooledMemory _window = PooledMemory.Rent(WindowBytes);
    private long _windowStart;
    private int _windowLength;
    private bool _isWithinWrite; // whether the next frame belongs to the write of the last one

    /// <summary>Starts at a frame, which may be in the middle of a journal write.</summary>
    /// <param name="segment">An open segment with a known header.</param>
    /// <param name="start">Offset of the frame.</param>
    /// <param name="end">Offset of the log's end in the segment.</param>
    /// <param name="write">Number of the journal write that the frame belongs to.</param>
    public SegmentWalker(Segment segment, long start, long end, long write)
    {
        _segment = segment;
        _end = end;
        Offset = start;
        Write = write;
        _isWithinWrite = true;
    }

    /// <summary>Offset of the next frame.</summary>
    public long Offset { get; private set; }

    /// <summary>Number of the journal write of the last frame. Before the first frame: the expected number.</summary>
    public long Write { get; private set; }

    /// <summary>Number of the journal write that the next frame must have.</summary>
    public long ExpectedWrite => _isWithinWrite ? Write : Write + 1;

    /// <summary>
    /// Reads the next frame. Returns false if no valid frame follows; then <see cref="Offset"/> is the first unreadable
    /// byte.
    /// </summary>
    /// <exception cref="JournalFormatException">A valid frame of a type that this program does not know.</exception>
    public bool Next(out FrameHeader header, out ReadOnlyMemory<byte> payload)
    {
        if (!TryFrame(Offset, out header, out payload) && !TryVoteCopy(out header, out payload))
        {
            return false;
        }

        if (!Enum.IsDefined(header.Type) || (header.Flags | FrameFlags.All) != FrameFlags.All)
        {
            throw new JournalFormatException(
                $"{_segment.File.Path} holds a frame of type {(int)header.Type} with flags "
                    + $"{(int)header.Flags} at offset {Offset}, which this program does not know: start the "
                    + $"version of Rookery that wrote it."
            );
        }

        Write = header.Write;
        _isWithinWrite = !header.EndsWrite;
        Offset = FrameLayout.OffsetAfter(Offset, header.Type, header.PayloadLength, header.EndsWrite);
        return true;
    }

    public void Dispose()
    {
        _window.Return();
    }

    /// <summary>Reads the second copy of a vote, if the first copy is damaged.</summary>
    private bool TryVoteCopy(out FrameHeader header, out ReadOnlyMemory<byte> payload) =>
        TryFrame(FrameLayout.RoundUp(Offset) + FrameLayout.BlockBytes, out header, out payload)
        && (header.Flags & FrameFlags.VoteCopy) != FrameFlags.None
        && FrameLayout.RoundUp(Offset) == Offset;

    private bool TryFrame(long offset, out FrameHeader header, out ReadOnlyMemory<byte> payload)
    {
        payload = default;
        header = default;
        if (
            offset + FrameHeader.Bytes > _end
            || !FrameHeader.TryRead(Fetch(offset, FrameHeader.Bytes).Span, out header)
            || header.Generation != _segment.Generation
            || header.Write != ExpectedWrite
            || header.PayloadLength < 0
            || header.PayloadLength > _end - offset - FrameHeader.Bytes
        )
        {
            return false;
        }

        if (header.PayloadLength == 0)
        {
            return header.PayloadChecksum == 0;
        }

        payload = Fetch(offset + FrameHeader.Bytes, header.PayloadLength);
        return Payload.IsIntact(payload.Span) && Payload.ChecksumIn(payload.Span) == header.PayloadChecksum;
    }

    /// <summary>Returns bytes of the file; fewer at its end.</summary>
    private ReadOnlyMemory<byte> Fetch(long offset, int count)
    {
        if (offset < _windowStart || offset + count > _windowStart + _windowLength)
        {
            if (count > _window.Length)
            {
                _window.Grow(keptBytes: 0, count);
            }

            _windowStart = offset;
            long bytesLeft = Math.Max(0, _segment.Length - offset);
            _windowLength = _segment.File.Read(_window.Span[..(int)Math.Min(_window.Length, bytesLeft)], offset);
        }

        int from = (int)(offset - _windowStart);
        return _window.Memory.Slice(from, Math.Min(count, _windowLength - from));
    }
}
