using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// A cursor over the postings of a term. Reusable for further terms (<see cref="Open"/>). Decodes a block only when it
/// is reached, and frequencies and positions on access.
/// </summary>
public sealed class PostingsCursor(SegmentPages pages, bool isText) : EntryCursor
{
    private readonly PostingsBlock _block = new(isText);
    private uint[] _entries = [];

    // Created only for terms with many entries. The postings of most terms are in the dictionary.
    private PostingsGroups? _groups;
    private PostingPositions? _positions;
    private PackedColumn? _column;
    private ulong _ordinal;
    private int _field;
    private int _indexInBlock;
    private int _blockCount;
    private bool _isInline;

    /// <summary>Number of postings of the term, including dead entries.</summary>
    public long Count { get; private set; }

    /// <summary>Number of postings decoded since the cursor was created.</summary>
    public long Decoded { get; private set; }

    /// <inheritdoc/>
    public override long Cost => Count;

    /// <summary>The frequency of the term in <see cref="EntryCursor.Current"/>.</summary>
    public int Frequency => isText ? _block.Frequency(_indexInBlock) : 1;

    /// <summary>Upper bound of what the postings of this term contribute to a score.</summary>
    public Impact Impact => _isInline ? _block.Impact : _groups!.WholeImpact;

    /// <inheritdoc/>
    public override bool CanTest => _column is not null;

    /// <summary>
    /// The opened term, by field number and ordinal, if <see cref="Contains"/> is supported; otherwise null.
    /// </summary>
    public (int Field, long Ordinal)? TestedTerm => _column is null ? null : (_field, (long)_ordinal - 1);

    /// <summary>Sets the column that <see cref="Contains"/> reads, until another term is opened.</summary>
    /// <param name="ordinals">For each entry, 1 + the ordinal of its only term.</param>
    /// <param name="field">Number of the field.</param>
    /// <param name="term">The ordinal of the term.</param>
    public void TestBy(PackedColumn ordinals, int field, long term) =>
        (_column, _field, _ordinal) = (ordinals, field, (ulong)term + 1);

    /// <inheritdoc/>
    public override bool Contains(int entry) => _column is null ? base.Contains(entry) : _column[entry] == _ordinal;

    /// <summary>Moves before the first posting of a term.</summary>
    /// <param name="payload">The term's payload in the dictionary; referenced until the next call.</param>
    public void Open(ReadOnlyMemory<byte> payload)
    {
        var bytes = payload.Span;
        int read = 0;
        ulong head = Varint.Read(bytes, ref read);
        Count = head <= (ulong)SegmentFormat.EntryLimit * 2 + 1 ? (long)(head >> 1) : throw SegmentFormat.Malformed();
        _isInline = (head & 1) != 0;
        Current = -1;
        _indexInBlock = -1;
        _blockCount = 0;
        _column = null;
        _positions?.Discard();
        int max = _isInline ? PostingsFormat.InlineLimit : PostingsFormat.BlockLength;
        if (_entries.Length < max)
        {
            _entries = new uint[max];
        }

        if (_isInline)
        {
            if (Count > PostingsFormat.InlineLimit)
            {
                throw SegmentFormat.Malformed();
            }

            _block.OpenInline(payload[read..], (int)Count, _entries);
            _blockCount = (int)Count;
            Decoded += _blockCount;
        }
        else
        {
            (_groups ??= new PostingsGroups(pages, isText)).Open(bytes, read, Count);
        }
    }

    /// <inheritdoc/>
    public override int MoveNext()
    {
        if (++_indexInBlock < _blockCount)
        {
            return Current = (int)_entries[_indexInBlock];
        }

        return Current == End || !MoveToNextBlock() ? MoveToEnd() : Current = (int)_entries[_indexInBlock = 0];
    }

    /// <inheritdoc/>
    public override int Advance(int target)
    {
        if (target <= Current)
        {
            return Current;
        }

        if (_blockCount == 0 || (uint)target > _entries[_blockCount - 1])
        {
            if (_isInline || !MoveToBlockOf(target))
            {
                return MoveToEnd();
            }

            _indexInBlock = 0;
        }

        _indexInBlock = FirstNotBelow(_entries.AsSpan(0, _blockCount), (uint)target, Math.Max(_indexInBlock, 0));
        return Current = (int)_entries[_indexInBlock];
    }

    /// <summary>
    /// Returns the upper bound of what the postings of the block that would contain <paramref name="target"/>
    /// contribute to a score. Does not move the cursor and decodes no posting.
    /// </summary>
    /// <param name="target">The entry; at least <see cref="EntryCursor.Current"/>.</param>
    /// <param name="lastEntry">The last entry that the bound applies to; <see cref="EntryCursor.End"/> if no posting is
    /// at or after the target.</param>
    public Impact ImpactAt(int target, out int lastEntry)
    {
        if (_blockCount > 0 && (uint)target <= _entries[_blockCount - 1])
        {
            lastEntry = (int)_entries[_blockCount - 1];
            return _block.Impact;
        }

        if (_isInline)
        {
            lastEntry = End;
            return new Impact(MaxFrequency: 0, MinLength: 1);
        }

        return _groups!.ImpactAt(target, out lastEntry);
    }

    /// <summary>
    /// Reads the positions in <see cref="EntryCursor.Current"/>, ascending. Their number is <see cref="Frequency"/>.
    /// </summary>
    /// <returns>The number of positions, which fill the start of <paramref name="target"/>. The array is replaced if it
    /// is too short.</returns>
    public int ReadPositions(ref int[] target) => PostingPositions.Read(EncodedPositions(), Frequency, ref target);

    /// <summary>
    /// Returns the encoded positions in <see cref="EntryCursor.Current"/>, for a merge, which copies them unchanged.
    /// </summary>
    public ReadOnlySpan<byte> EncodedPositions()
    {
        if (!isText)
        {
            return default;
        }

        return _isInline
            ? _block.InlinePositions(_indexInBlock)
            : Positions().Of(_block, _groups!.Current.PositionsAddress, _indexInBlock);
    }

    /// <inheritdoc/>
    public override int CountRest()
    {
        if (Current == -1)
        {
            MoveToEnd();
            return (int)Count;
        }

        return base.CountRest();
    }

    private static int FirstNotBelow(ReadOnlySpan<uint> sorted, uint target, int from)
    {
        // Most advances are short, so a few linear steps precede the binary search.
        int near = Math.Min(sorted.Length, from + 8);
        for (; from < near; from++)
        {
            if (sorted[from] >= target)
            {
                return from;
            }
        }

        int to = sorted.Length - 1;
        while (from < to)
        {
            int middle = (from + to) >>> 1;
            if (sorted[middle] < target)
            {
                from = middle + 1;
            }
            else
            {
                to = middle;
            }
        }

        return from;
    }

    private PostingPositions Positions() => _positions ??= new PostingPositions(pages);

    private int MoveToEnd()
    {
        _blockCount = 0;
        _indexInBlock = 0;
        return Current = End;
    }

    private bool MoveToNextBlock() => !_isInline && _groups!.MoveNext() && Load();

    private bool MoveToBlockOf(int target) => _groups!.MoveTo(target) && Load();

    private bool Load()
    {
        _positions?.Discard();
        _blockCount = _block.Open(_groups!.Current, _entries);
        Decoded += _blockCount;
        return true;
    }
}
