namespace Rookery.Journal;

/// <summary>
/// Type of a frame. Numbers are part of the format. An unknown type stops recovery; it is never skipped.
/// </summary>
public enum FrameType : byte
{
    /// <summary>Commands of one batch: a log entry.</summary>
    Batch = 1,

    /// <summary>The empty entry with which a new leader starts its term: a log entry.</summary>
    NoOp = 2,

    /// <summary>The members of the cluster: a log entry. Segment headers repeat it (at most 2,048 bytes).</summary>
    Configuration = 3,

    /// <summary>
    /// Local: this node's term and vote. Written twice, in separate 4 KiB blocks. Segment headers repeat it (at most 64
    /// bytes).
    /// </summary>
    Vote = 4,

    /// <summary>Local: the log ends at this frame's index and term; later entries no longer count.</summary>
    Truncation = 5,

    /// <summary>
    /// Local: the node stopped cleanly, with no write in progress. Written only by
    /// <see cref="NodeJournal.StopCleanly"/>.
    /// </summary>
    CleanStop = 6,

    /// <summary>
    /// Local: a process was started and continues after a clean stop. Written only by <see cref="NodeJournal.Open"/>.
    /// </summary>
    Start = 7,

    /// <summary>
    /// Local, a commit frame: the node knew that the log is committed through this frame's index. Always last in
    /// its write, and written only into padding that the write has anyway. Since format version 2.
    /// </summary>
    Committed = 8,
}

/// <summary>One frame of the journal.</summary>
/// <param name="Type">Type of the frame.</param>
/// <param name="Index">Index of a log entry, from 1; of a truncation the last index that remains; of a commit frame
/// the committed index; of a vote 0.</param>
/// <param name="Term">Term of the leader that created the entry; of a truncation the term at <paramref name="Index"/>;
/// of a vote the term of the vote.</param>
/// <param name="OperationsBefore">Number of operations (etags) in all earlier frames. The first operation of this frame
/// has the etag <c>OperationsBefore + 1</c>.</param>
/// <param name="OperationCount">Number of operations in the frame; 0 for local frames.</param>
/// <param name="Payload">The replicated bytes, encoded by <see cref="Journal.Payload.Encode"/>, or none.</param>
public readonly record struct JournalFrame(
    FrameType Type,
    long Index,
    long Term,
    long OperationsBefore,
    int OperationCount,
    ReadOnlyMemory<byte> Payload
)
{
    /// <summary>Maximum length of a <see cref="FrameType.Configuration"/> payload; segment headers repeat it.</summary>
    public const int MaxConfigurationBytes = SegmentHeader.MaxConfigurationBytes;

    /// <summary>Whether the frame is a log entry, not a local record of this node.</summary>
    public bool IsReplicated => Type is FrameType.Batch or FrameType.NoOp or FrameType.Configuration;
}
