namespace Rookery.Storage.Runs;

/// <summary>Counts rows, bytes and sequences for the footer.</summary>
internal struct RunCounts
{
    public long Rows { get; private set; }

    public long Tombstones { get; private set; }

    public long LogicalBytes { get; private set; }

    public long SmallestSequence { get; private set; }

    public long LargestSequence { get; private set; }

    private bool _hasSequence; // without one, the lowest and highest sequence are 0

    public void Add(int keyLength, int valueLength, long sequence, RowKind kind)
    {
        Rows++;
        Tombstones += kind == RowKind.Tombstone ? 1 : 0;
        LogicalBytes += keyLength + valueLength;
        AddSequence(sequence);
    }

    public void AddRangeTombstone(long sequence) => AddSequence(sequence);

    private void AddSequence(long sequence)
    {
        SmallestSequence = _hasSequence ? Math.Min(SmallestSequence, sequence) : sequence;
        LargestSequence = _hasSequence ? Math.Max(LargestSequence, sequence) : sequence;
        _hasSequence = true;
    }
}
