namespace Rookery.Storage.Runs;

/// <summary>A range tombstone deletes every row with a key in [From, ToExclusive) and a lower sequence.</summary>
/// <param name="From">The first covered key.</param>
/// <param name="ToExclusive">The first key after the range.</param>
/// <param name="Sequence">Etag of the operation that deleted the range.</param>
internal readonly record struct RangeTombstone(
    ReadOnlyMemory<byte> From,
    ReadOnlyMemory<byte> ToExclusive,
    long Sequence
);
