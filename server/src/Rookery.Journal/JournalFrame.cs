namespace Rookery.Journal;

/// <summary>
/// What a frame is. The numbers are on disk; a number that is not listed stops the journal, it is never skipped.
/// </summary>
public enum FrameType : byte
{
    /// <summary>Commands of one batch; replicated, has an index.</summary>
    Batch = 1,

    /// <summary>The empty entry a new leader begins its term with; replicated, has an index.</summary>
    NoOp = 2,

    /// <summary>
    /// The members of the cluster; replicated, has an index, repeated in each segment header (at most 2,048 bytes).
    /// </summary>
    Configuration = 3,

    /// <summary>
    /// This node's term and vote; local, no index, written twice in separate 4 KiB blocks, repeated in each segment
    /// header (at most 64 bytes).
    /// </summary>
    Vote = 4,

    /// <summary>
    /// Local: the log ends at this frame's (index, term); what was written after that index no longer counts.
    /// </summary>
    Truncation = 5,

    /// <summary>
    /// Local: the node stopped in order; nothing was being written. Made by <see cref="NodeJournal.StopCleanly"/> only.
    /// </summary>
    CleanStop = 6,

    /// <summary>
    /// Local: a process goes on behind a clean stop, so that stop is no longer the end. Made by
    /// <see cref="NodeJournal.Open"/> only.
    /// </summary>
    Start = 7,

    /// <summary>
    /// Local: the node knew that the log is committed through this frame's index, which its log has. Last in its write,
    /// and only where that costs the card nothing. Since format version 2.
    /// </summary>
    Committed = 8,
}

/// <summary>One entry of the journal.</summary>
/// <param name="Type">What it is.</param>
/// <param name="Index">Its place in the replicated log, from 1; of a truncation the last index that stays; of a note of
/// commitment the index; 0 of a vote.</param>
/// <param name="Term">The term of the leader that made it; of a truncation the term at <paramref name="Index"/>; of a
/// vote the term voted in.</param>
/// <param name="OperationsBefore">Operations (etags) in all frames before it, so that its first operation has the etag
/// <c>OperationsBefore + 1</c>.</param>
/// <param name="OperationCount">Operations in it; 0 of local frames.</param>
/// <param name="Payload">The replicated bytes as <see cref="Journal.Payload.Encode"/> made them, or none.</param>
public readonly record struct JournalFrame(
    FrameType Type,
    long Index,
    long Term,
    long OperationsBefore,
    int OperationCount,
    ReadOnlyMemory<byte> Payload
)
{
    /// <summary>
    /// The longest payload of a <see cref="FrameType.Configuration"/>, in bytes: it is repeated in segment headers.
    /// </summary>
    public const int MaxConfigurationBytes = SegmentHeader.MaxConfigurationBytes;

    /// <summary>Whether the frame is an entry of the replicated log and not a note of this node.</summary>
    public bool IsReplicated => Type is FrameType.Batch or FrameType.NoOp or FrameType.Configuration;
}
