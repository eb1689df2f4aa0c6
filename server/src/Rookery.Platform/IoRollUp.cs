namespace Rookery.Platform;

/// <summary>The disk work of one kind that ended within a span of time.</summary>
/// <param name="UnixSecond">When the span begins, in seconds since 1970 UTC.</param>
/// <param name="Kind">What for.</param>
/// <param name="Count">Pieces of work.</param>
/// <param name="Bytes">Bytes they moved.</param>
/// <param name="TotalMicroseconds">What they took together; work that overlaps counts each for itself.</param>
/// <param name="MaxMicroseconds">What the longest took.</param>
public readonly record struct IoRollUp(
    long UnixSecond,
    IoKind Kind,
    long Count,
    long Bytes,
    long TotalMicroseconds,
    long MaxMicroseconds
)
{
    /// <summary>Both together, in the span of this one.</summary>
    public IoRollUp Plus(in IoRollUp other) =>
        this with
        {
            Count = Count + other.Count,
            Bytes = Bytes + other.Bytes,
            TotalMicroseconds = TotalMicroseconds + other.TotalMicroseconds,
            MaxMicroseconds = Math.Max(MaxMicroseconds, other.MaxMicroseconds),
        };
}
