namespace Rookery.Platform;

/// <summary>The purpose of a disk operation.</summary>
public enum IoKind : byte
{
    /// <summary>A write to the journal.</summary>
    JournalWrite = 1,

    /// <summary>An fdatasync of the journal.</summary>
    JournalSync = 2,

    /// <summary>A flush of the memtable to sorted runs.</summary>
    RunWrite = 3,

    /// <summary>A merge of runs.</summary>
    Compaction = 4,

    /// <summary>A read of a block from a run.</summary>
    Read = 5,

    /// <summary>A write of a manifest slot, or of the note that names the journal's newest segment.</summary>
    Manifest = 6,

    /// <summary>The copying of a backup.</summary>
    Backup = 7,

    /// <summary>A read by the scrub, which checks the checksums of stored data in the background.</summary>
    Scrub = 8,

    /// <summary>A write of an index.</summary>
    Index = 9,

    /// <summary>Writing and syncing zeros for a journal segment, ahead of its use.</summary>
    JournalSpare = 10,
}

/// <summary>One disk operation.</summary>
/// <param name="Kind">The purpose.</param>
/// <param name="StartUnixMicroseconds">When it began, in microseconds since 1970 UTC.</param>
/// <param name="DurationMicroseconds">Its duration, in microseconds.</param>
/// <param name="Bytes">Number of bytes transferred; 0 for a sync.</param>
public readonly record struct IoEvent(IoKind Kind, long StartUnixMicroseconds, long DurationMicroseconds, long Bytes)
{
    /// <summary>When it ended, in microseconds since 1970 UTC.</summary>
    public long EndUnixMicroseconds => StartUnixMicroseconds + DurationMicroseconds;
}

/// <summary>
/// Records disk operations. Called on hot paths: implementations hold no lock across I/O and do not allocate.
/// </summary>
public interface IIoRecorder
{
    /// <summary>
    /// Returns a timestamp to pass to <see cref="Record"/>; see <see cref="TimeProvider.GetTimestamp"/>.
    /// </summary>
    long Begin();

    /// <summary>Records an operation that began at <paramref name="begun"/> and ends now.</summary>
    void Record(IoKind kind, long begun, long bytes);
}
