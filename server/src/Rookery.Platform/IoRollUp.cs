namespace Rookery.Platform;

/// <summary>A summary of the disk operations of one kind that ended within a time span.</summary>
/// <param name="UnixSecond">The start of the span, in seconds since 1970 UTC.</param>
/// <param name="Kind">The purpose of the operations.</param>
/// <param name="Count">Number of operations.</param>
/// <param name="Bytes">Number of bytes transferred.</param>
/// <param name="TotalMicroseconds">The sum of the durations; overlapping operations count separately.</param>
/// <param name="MaxMicroseconds">The longest duration.</param>
public readonly record struct IoRollUp(
    long UnixSecond,
    IoKind Kind,
    long Count,
    long Bytes,
    long TotalMicroseconds,
    long MaxMicroseconds
)
{
    /// <summary>Returns the summary of both, with the start and kind of this one.</summary>
    public IoRollUp Plus(in IoRollUp other) =>
        this with
        {
            Count = Count + other.Count,
            Bytes = Bytes + other.Bytes,
            TotalMicroseconds = TotalMicroseconds + other.TotalMicroseconds,
            MaxMicroseconds = Math.Max(MaxMicroseconds, other.MaxMicroseconds),
        };
}
