namespace Rookery.Journal;

/// <summary>
/// Where frames lie in a segment: one behind the other, each journal write from a block of its own, a vote in two
/// blocks.
/// </summary>
internal static class FrameLayout
{
    /// <summary>
    /// Journal writes begin at multiples of this, so that no write touches a block of one acknowledged before it.
    /// </summary>
    public const int BlockBytes = 4096;

    /// <summary>The first frame of a segment, behind its header.</summary>
    public const int FirstFrameOffset = SegmentHeader.Bytes;

    public static long RoundUp(long offset) => (offset + BlockBytes - 1) & -BlockBytes;

    /// <summary>The offset of what follows a frame at <paramref name="offset"/>.</summary>
    public static long After(long offset, FrameType type, int payloadLength, bool endsWrite)
    {
        if (type == FrameType.Vote)
        {
            return offset + (2 * BlockBytes);
        }

        long end = offset + FrameHeader.Bytes + payloadLength;
        return endsWrite ? RoundUp(end) : end;
    }

    /// <summary>Bytes of a write of <paramref name="frames"/> from a block boundary, padding included.</summary>
    public static long BytesOf(ReadOnlySpan<JournalFrame> frames) => RoundUp(FilledBytesOf(frames));

    /// <summary>The same without the padding at the end.</summary>
    public static long FilledBytesOf(ReadOnlySpan<JournalFrame> frames)
    {
        long bytes = 0;
        foreach (ref readonly var frame in frames)
        {
            bytes = After(bytes, frame.Type, frame.Payload.Length, endsWrite: false);
        }

        return bytes;
    }
}
