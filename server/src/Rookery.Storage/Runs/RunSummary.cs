namespace Rookery.Storage.Runs;

/// <summary>Summary of a run, stored in its footer and repeated in the manifest.</summary>
/// <param name="FileId">Number of the file, never reused in this data directory. The file's checksums contain it,
/// unless another node wrote the file.</param>
/// <param name="FileBytes">Length of the file.</param>
/// <param name="Rows">Number of rows of all kinds.</param>
/// <param name="Tombstones">Number of tombstones.</param>
/// <param name="RangeTombstones">Number of range tombstones: 0 in every run that a version wrote. Part of the
/// format.</param>
/// <param name="LogicalBytes">Total length of keys and values, before compression.</param>
/// <param name="SmallestSequence">The lowest sequence of a row; 0 if there is none.</param>
/// <param name="LargestSequence">The highest sequence; 0 if there is none.</param>
/// <param name="SmallestKey">The lowest key of a row.</param>
/// <param name="LargestKey">The highest key of a row.</param>
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
)
{
    /// <summary>
    /// Returns the first fact that differs, as the beginning of a clause ("length is"); null if all but the file's
    /// number agree.
    /// </summary>
    public string? DifferenceFrom(RunSummary other)
    {
        if (FileBytes != other.FileBytes)
        {
            return "length is";
        }

        if ((Rows, Tombstones, RangeTombstones) != (other.Rows, other.Tombstones, other.RangeTombstones))
        {
            return "number of rows is";
        }

        if (LogicalBytes != other.LogicalBytes)
        {
            return "length of rows is";
        }

        if ((SmallestSequence, LargestSequence) != (other.SmallestSequence, other.LargestSequence))
        {
            return "range of sequences is";
        }

        if (
            !SmallestKey.Span.SequenceEqual(other.SmallestKey.Span)
            || !LargestKey.Span.SequenceEqual(other.LargestKey.Span)
        )
        {
            return "range of keys is";
        }

        return null;
    }
}
