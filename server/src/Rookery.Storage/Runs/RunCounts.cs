namespace Rookery.Storage.Runs;

/// <summary>Counts rows, bytes and sequences for the footer.</summary>
internal struct RunCounts
{
    public long Rows { get; private set; }

    public long Tombstones { get; private set; }

    public long LogicalBytes { get; private set; }

    public long SmallestSequence { get; private set; }

    public long LargestSequence { get; private set; }

    public void Add(int keyLength, int valueLength, long sequence, RowKind kind)
    {
        SmallestSequence = Rows == 0 ? sequence : Math.Min(SmallestSequence, sequence);
        LargestSequence = Rows == 0 ? sequence : Math.Max(LargestSequence, sequence);
        Rows++;
        Tombstones += kind == RowKind.Tombstone ? 1 : 0;
        LogicalBytes += keyLength + valueLength;
    }
}
