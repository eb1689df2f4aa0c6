namespace Rookery.Platform;

/// <summary>What a piece of disk work was for.</summary>
public enum IoKind : byte
{
    /// <summary>Bytes handed to the journal.</summary>
    JournalWrite = 1,

    /// <summary>The journal's fdatasync.</summary>
    JournalSync = 2,

    /// <summary>A flush of the memtable into sorted runs.</summary>
    RunWrite = 3,

    /// <summary>Merging runs.</summary>
    Compaction = 4,

    /// <summary>A block read from a run.</summary>
    Read = 5,

    /// <summary>A manifest slot flip, or the note of the newest segment of the journal.</summary>
    Manifest = 6,

    /// <summary>A backup's copy.</summary>
    Backup = 7,

    /// <summary>The scrub's read.</summary>
    Scrub = 8,

    /// <summary>Writes of indexes.</summary>
    Index = 9,

    /// <summary>Zeros for a segment of the journal, written and synced ahead of its use.</summary>
    JournalSpare = 10,
}

/// <summary>One piece of disk work.</summary>
/// <param name="Kind">What for.</param>
/// <param name="StartUnixMicroseconds">When it began, UTC.</param>
/// <param name="DurationMicroseconds">How long it took.</param>
/// <param name="Bytes">How many bytes it moved; 0 for a sync.</param>
public readonly record struct IoEvent(IoKind Kind, long StartUnixMicroseconds, long DurationMicroseconds, long Bytes)
{
    /// <summary>When it ended, UTC.</summary>
    public long EndUnixMicroseconds => StartUnixMicroseconds + DurationMicroseconds;
}

/// <summary>
/// Takes notes of disk work. Implementations are called on hot paths: no lock held across I/O, no allocation.
/// </summary>
public interface IIoRecorder
{
    /// <summary>
    /// A monotonic stamp to hand back to <see cref="Record"/> (see <see cref="TimeProvider.GetTimestamp"/>).
    /// </summary>
    long Begin();

    /// <summary>Notes work that began at <paramref name="begun"/> and ends now.</summary>
    void Record(IoKind kind, long begun, long bytes);
}
