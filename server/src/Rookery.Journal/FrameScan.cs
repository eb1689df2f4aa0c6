using System.Buffers;

namespace Rookery.Journal;

/// <summary>Looks for frames behind a place that could not be read. Journal writes begin at block boundaries, so only those are looked at.</summary>
internal static class FrameScan
{
    private const int WindowBytes = 64 * FrameLayout.BlockBytes;

    /// <summary>Every whole frame header at a block boundary of the file from <paramref name="from"/> to <paramref name="to"/>.</summary>
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
                    if (FrameHeader.TryRead(window.AsSpan(offset, Math.Min(FrameHeader.Bytes, length - offset)), out var header))
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

    /// <summary>The last vote between two places that can be read, whatever cannot; empty when there is none.</summary>
    public static ReadOnlyMemory<byte> LastVote(Segment segment, long from, long to)
    {
        byte[] last = [];
        foreach (var (offset, header) in HeadersAtBlocks(segment, from, to))
        {
            if (header.Incarnation != segment.Incarnation || header.Type != FrameType.Vote || header.PayloadLength is <= 0 or > SegmentHeader.MaxVoteBytes)
            {
                continue;
            }

            byte[] payload = new byte[header.PayloadLength];
            segment.File.Read(payload, offset + FrameHeader.Bytes);
            last = Payload.IsIntact(payload) && Payload.ChecksumIn(payload) == header.PayloadChecksum ? payload : last;
        }

        return last;
    }

    /// <summary>What lies behind the gap at <paramref name="from"/> whose journal write is <paramref name="gapWrite"/>.</summary>
    public static BehindGap Behind(Segment segment, long from, long to, long gapWrite)
    {
        var found = new BehindGap(HasLaterWrite: false, HighestWrite: gapWrite, HighestIndex: 0, ResumeOffset: -1, Resume: default);
        foreach (var (offset, header) in HeadersAtBlocks(segment, from, to))
        {
            if (header.Incarnation != segment.Incarnation || header.Write <= gapWrite)
            {
                continue;
            }

            found = found with
            {
                HasLaterWrite = true,
                HighestWrite = Math.Max(found.HighestWrite, header.Write),
                HighestIndex = header.IsReplicated ? Math.Max(found.HighestIndex, header.Index) : found.HighestIndex,
            };
            if (found.ResumeOffset < 0 && header.IsReplicated)
            {
                found = found with { ResumeOffset = offset, Resume = header };
            }
        }

        return found;
    }
}

/// <summary>Frames of journal writes later than the one that could not be read. Any of them proves that the sync of that one had returned.</summary>
/// <param name="HasLaterWrite">Whether there is any.</param>
/// <param name="HighestWrite">The highest journal write seen, or that of the gap.</param>
/// <param name="HighestIndex">The highest index seen, or 0.</param>
/// <param name="ResumeOffset">The first frame of the replicated log behind the gap, or -1.</param>
/// <param name="Resume">Its header.</param>
internal readonly record struct BehindGap(bool HasLaterWrite, long HighestWrite, long HighestIndex, long ResumeOffset, FrameHeader Resume);
