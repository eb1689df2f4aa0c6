using System.Buffers;

namespace Rookery.Journal;

/// <summary>Looks for frames behind a place that could not be read.</summary>
internal static class FrameScan
{
    private const int WindowBytes = 64 * FrameLayout.BlockBytes;

    /// <summary>
    /// Every whole frame header at a block boundary of the file from <paramref name="from"/> to <paramref name="to"/>.
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
    /// Every whole frame header in the file from <paramref name="from"/> to <paramref name="to"/>, wherever it is, and
    /// not those that the payload of another seems to hold.
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
                    // A header may begin in the last bytes of this window and end in the next.
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
                    start +=
                        at
                        + FrameHeader.Bytes
                        + (header.Incarnation == segment.Incarnation ? Math.Max(header.PayloadLength, 0) : 0);
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
    /// What lies behind the gap at <paramref name="from"/> whose journal write is <paramref name="gapWrite"/>. Journal
    /// writes begin at block boundaries, so only those are looked at.
    /// </summary>
    public static BehindGap Behind(Segment segment, long from, long to, long gapWrite)
    {
        var found = new BehindGap(HasLaterWrite: false, HighestWrite: gapWrite, ResumeOffset: -1, Resume: default);
        foreach (var (offset, header) in HeadersAtBlocks(segment, from, to))
        {
            if (header.Incarnation != segment.Incarnation || header.Write <= gapWrite)
            {
                continue;
            }

            found = found with { HasLaterWrite = true, HighestWrite = Math.Max(found.HighestWrite, header.Write) };
            if (found.ResumeOffset < 0 && header.IsReplicated)
            {
                found = found with { ResumeOffset = offset, Resume = header };
            }
        }

        return found;
    }
}

/// <summary>
/// Frames of journal writes later than the one that could not be read. Any of them proves that the sync of that one had
/// returned.
/// </summary>
/// <param name="HasLaterWrite">Whether there is any.</param>
/// <param name="HighestWrite">The highest journal write seen, or that of the gap.</param>
/// <param name="ResumeOffset">The first frame of the replicated log behind the gap, or -1.</param>
/// <param name="Resume">Its header.</param>
internal readonly record struct BehindGap(bool HasLaterWrite, long HighestWrite, long ResumeOffset, FrameHeader Resume);
