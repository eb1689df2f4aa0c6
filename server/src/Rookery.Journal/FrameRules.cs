using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>Checks the frames of a write before they reach the disk. A violation is a bug of the caller.</summary>
internal static class FrameRules
{
    /// <summary>Returns the position of the write's truncation among its frames; -1 if there is none.</summary>
    public static int TruncationIn(ReadOnlySpan<JournalFrame> frames)
    {
        // Only a vote may precede the truncation.
        for (int i = 0; i < Math.Min(2, frames.Length); i++)
        {
            if (frames[i].Type == FrameType.Truncation)
            {
                return i;
            }
        }

        return -1;
    }

    /// <summary>Throws if the frames may not follow the log in this order and with these numbers.</summary>
    public static void Check(ReadOnlySpan<JournalFrame> frames, LogMap map)
    {
        Invariant.Holds(!frames.IsEmpty, "a write has frames");
        var position = map.Position;
        for (int i = 0; i < frames.Length; i++)
        {
            ref readonly var frame = ref frames[i];
            Invariant.Holds(
                frame.Payload.IsEmpty || Payload.IsIntact(frame.Payload.Span),
                "a payload reaches the journal as it was encoded"
            );
            if (frame.IsReplicated)
            {
                Invariant.Holds(frame.Index == position.Index + 1, "indexes are consecutive");
                Invariant.Holds(frame.Term >= position.Term, "terms of a log never fall");
                Invariant.Holds(
                    frame.OperationsBefore == position.Operations && frame.OperationCount >= 0,
                    "operations are counted without a gap"
                );
                Invariant.Holds(
                    frame.Type != FrameType.Configuration
                        || frame.Payload.Length <= SegmentHeader.MaxConfigurationBytes,
                    "a configuration fits into a segment header"
                );
                position = new JournalPosition(frame.Index, frame.Term, frame.OperationsBefore + frame.OperationCount);
            }
            else if (frame.Type == FrameType.Vote)
            {
                Invariant.Holds(i == 0, "a vote is the first frame of its write");
                Invariant.Holds(
                    frame.Payload.Length <= SegmentHeader.MaxVoteBytes,
                    "a vote fits into a segment header"
                );
            }
            else if (frame.Type == FrameType.Committed)
            {
                Invariant.Holds(
                    i == frames.Length - 1 && frame.Index > 0 && frame.Index <= position.Index,
                    "a commit frame is the last frame of its write and names an index in the log"
                );
            }
            else
            {
                Invariant.Holds(
                    frame.Type == FrameType.Truncation && i <= 1,
                    "a truncation precedes the entries that replace the truncated ones"
                );
                Invariant.Holds(
                    frame.Index >= map.FirstIndex - 1 && frame.Index <= position.Index,
                    "a truncation ends the log at an existing index"
                );
                position = new JournalPosition(frame.Index, frame.Term, frame.OperationsBefore);
            }
        }
    }
}
