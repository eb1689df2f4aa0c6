using System.Buffers;

namespace Rookery.Journal;

/// <summary>Searches for frames after a place that could not be read.</summary>
internal static class FrameScan
{
    private const int WindowBytes = 64 * FrameLayout.BlockBytes;

    /// <summary>
    /// Returns every valid frame header at a block boundary from <paramref name="from"/> to <paramref name="to"/>.
    /// </summary>
    public static IEnumerable<(long Offset, FrameHeader Header)> HeadersAtBlocks(Segment segment, long from, long to)
    {
        byte[] window = ArrayPool<byte>.Shared.Rent(WindowBytes);
        try
        {
            for (long start = FrameLayout.RoundUp(from); start < to; start += WindowBytes)
            {
                int length = segment.File.Read(window.AsSpan(0, (int)Math.Min(WindowBytes, to - start)), start);
                for (int offset = 0; offset < length; offset += FrameLayout.BlockBytes)
                {
                    if (
                        FrameHeader.TryRead(
                            window.AsSpan(offset, Math.Min(FrameHeader.Bytes, length - offset)),
                            out var header
                        )
                    )
                    {
                        yield return (start + offset, header);
                    }
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(window);
        }
    }

    /// <summary>
    /// Returns every valid frame header from <paramref name="from"/> to <paramref name="to"/>, at any offset. Skips the
    /// payloads of frames, so that bytes in a payload are not taken for a header.
    /// </summary>
    public static IEnumerable<(long Offset, FrameHeader Header)> HeadersAnywhere(Segment segment, long from, long to)
    {
        byte[] window = ArrayPool<byte>.Shared.Rent(WindowBytes);
        try
        {
            long start = from;
            while (start < to)
            {
                int length = segment.File.Read(window.AsSpan(0, (int)Math.Min(WindowBytes, to - start)), start);
                int at = window.AsSpan(0, length).IndexOf(FrameHeader.Magic);
                if (at < 0 || length < FrameHeader.Bytes)
                {
                    // A header may begin in the last bytes of this window and continue in the next.
                    start += length == WindowBytes ? WindowBytes - FrameHeader.Magic.Length + 1 : to - start;
                }
                else if (at > length - FrameHeader.Bytes && start + length < to)
                {
                    start += at;
                }
                else if (
                    FrameHeader.TryRead(window.AsSpan(at, Math.Min(FrameHeader.Bytes, length - at)), out var header)
                )
                {
                    yield return (start + at, header);

                    // The payload of an older generation may be overwritten by newer frames, so it is not skipped.
                    int payloadLength = header.Generation == segment.Generation ? Math.Max(header.PayloadLength, 0) : 0;
                    start += at + FrameHeader.Bytes + payloadLength;
                }
                else
                {
                    start += at + 1;
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(window);
        }
    }

    /// <summary>
    /// Searches for frames of later journal writes after the gap at <paramref name="from"/>;
    /// <paramref name="gapWrite"/> is the number of the unreadable write. Looks only at block boundaries, where journal
    /// writes begin.
    /// </summary>
    public static FramesAfterGap FindFramesAfter(Segment segment, long from, long to, long gapWrite)
    {
        var frames = new FramesAfterGap(
            HasLaterWrite: false,
            HighestWrite: gapWrite,
            ResumeOffset: -1,
            Resume: default
        );
        foreach (var (offset, header) in HeadersAtBlocks(segment, from, to))
        {
            if (header.Generation != segment.Generation || header.Write <= gapWrite)
            {
                continue;
            }

            frames = frames with { HasLaterWrite = true, HighestWrite = Math.Max(frames.HighestWrite, header.Write) };
            if (frames.ResumeOffset < 0 && header.IsReplicated)
            {
                frames = frames with { ResumeOffset = offset, Resume = header };
            }
        }

        return frames;
    }
}

/// <summary>
/// The readable frames of journal writes after the unreadable one. A later write proves that the unreadable write was
/// durable, because writes do not overlap.
/// </summary>
/// <param name="HasLaterWrite">Whether a later write was found.</param>
/// <param name="HighestWrite">The highest write number found, at least the gap's.</param>
/// <param name="ResumeOffset">Offset of the first entry after the gap; -1 if there is none.</param>
/// <param name="Resume">Header of that entry.</param>
internal readonly record struct FramesAfterGap(
    bool HasLaterWrite,
    long HighestWrite,
    long ResumeOffset,
    FrameHeader Resume
);
