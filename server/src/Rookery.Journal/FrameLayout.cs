namespace Rookery.Journal;

/// <summary>
/// The layout of frames in a segment. Frames follow each other; each journal write starts at a block boundary; a vote
/// is written twice, in two blocks.
/// </summary>
internal static class FrameLayout
{
    /// <summary>
    /// Journal writes begin at multiples of this, so no write touches a block of an acknowledged write.
    /// </summary>
    public const int BlockBytes = 4096;

    /// <summary>Offset of the first frame of a segment, after the segment's header.</summary>
    public const int FirstFrameOffset = SegmentHeader.Bytes;

    /// <summary>Rounds an offset up to a block boundary.</summary>
    public static long RoundUp(long offset) => (offset + BlockBytes - 1) & -BlockBytes;

    /// <summary>Returns the offset after a frame at <paramref name="offset"/>.</summary>
    public static long OffsetAfter(long offset, FrameType type, int payloadLength, bool endsWrite)
    {
        if (type == FrameType.Vote)
        {
            return offset + (2 * BlockBytes);
        }

        long end = offset + FrameHeader.Bytes + payloadLength;
        return endsWrite ? RoundUp(end) : end;
    }

    /// <summary>Returns the length of a write of <paramref name="frames"/>, including its padding.</summary>
    public static long BytesOf(ReadOnlySpan<JournalFrame> frames) => RoundUp(FilledBytesOf(frames));

    /// <summary>Returns the length of a write of <paramref name="frames"/>, without its padding.</summary>
    public static long FilledBytesOf(ReadOnlySpan<JournalFrame> frames)
    {
        long bytes = 0;
        foreach (ref readonly var frame in frames)
        {
            bytes = OffsetAfter(bytes, frame.Type, frame.Payload.Length, endsWrite: false);
        }

        return bytes;
    }
}
