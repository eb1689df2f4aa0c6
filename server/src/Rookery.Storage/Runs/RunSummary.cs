namespace Rookery.Storage.Runs;

/// <summary>What a run holds, as its footer says and the manifest repeats.</summary>
/// <param name="FileId">The number in its name, never used again in this data directory. Its checksums name it too,
/// unless another node made the file.</param>
/// <param name="FileBytes">Length of the file.</param>
/// <param name="Rows">Rows of every kind.</param>
/// <param name="Tombstones">Rows that are tombstones.</param>
/// <param name="RangeTombstones">Pieces of range tombstones.</param>
/// <param name="LogicalBytes">Sum of the lengths of keys and values, before compression.</param>
/// <param name="SmallestSequence">The lowest sequence of a row or range tombstone; 0 when there is neither.</param>
/// <param name="LargestSequence">The highest; 0 when there is neither.</param>
/// <param name="SmallestKey">The lowest key that the run says anything about, range tombstones included.</param>
/// <param name="LargestKey">The highest row key, or end of a range tombstone if that is higher.</param>
internal sealed record RunSummary(
    long FileId,
    long FileBytes,
    long Rows,
    long Tombstones,
    long RangeTombstones,
    long LogicalBytes,
    long SmallestSequence,
    long LargestSequence,
    ReadOnlyMemory<byte> SmallestKey,
    ReadOnlyMemory<byte> LargestKey
);
