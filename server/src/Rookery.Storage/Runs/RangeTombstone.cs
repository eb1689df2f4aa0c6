namespace Rookery.Storage.Runs;

/// <summary>
/// Says that every row of another source with a key in [From, ToExclusive) and a lower sequence is deleted.
/// </summary>
/// <param name="From">The first key that is covered.</param>
/// <param name="ToExclusive">The first key after <paramref name="From"/> that is not.</param>
/// <param name="Sequence">The etag of the operation that deleted the range.</param>
internal readonly record struct RangeTombstone(
    ReadOnlyMemory<byte> From,
    ReadOnlyMemory<byte> ToExclusive,
    long Sequence
);
