using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// The postings of one term. To be used for one term after the other (<see cref="Open"/>). Decodes a block when it is
/// reached and jumps over those between; frequencies and positions are decoded only when asked for.
/// </summary>
public sealed class PostingsCursor(SegmentPages pages, bool isText) : EntryCursor
{
    private readonly PostingsBlock _block = new(isText);

    // Most terms stand in few entries, whose postings are in the dictionary: only others need all of it.
    private uint[] _entries = [];
    private PostingsGroups? _groups;
    private PostingPositions? _positions;
    private PackedColumn? _column;
    private ulong _ordinal;
    private int _at;
    private int _blockCount;
    private bool _isInline;

    /// <summary>Postings of the term, dead entries included.</summary>
    public long Count { get; private set; }

    /// <summary>Postings that were decoded since the cursor was made.</summary>
    public long Decoded { get; private set; }

    /// <inheritdoc/>
    public override long Cost => Count;

    /// <summary>How often the term stands in <see cref="EntryCursor.Current"/>.</summary>
    public int Frequency => isText ? _block.Frequency(_at) : 1;

    /// <summary>What no posting of this term can count for more than.</summary>
    public Impact Impact => _isInline ? _block.Impact : _groups!.WholeImpact;

    /// <inheritdoc/>
    public override bool CanTell => _column is not null;

    /// <summary>Says that a column tells which entries have the term, until another is opened.</summary>
    /// <param name="ordinals">By entry, one more than the ordinal of the only term that it has.</param>
    /// <param name="term">The ordinal of the term.</param>
    public void TellBy(PackedColumn ordinals, long term) => (_column, _ordinal) = (ordinals, (ulong)term + 1);

    /// <inheritdoc/>
    public override bool Has(int entry) => _column is null ? base.Has(entry) : _column[entry] == _ordinal;

    /// <summary>Goes before the first posting of a term.</summary>
    /// <param name="payload">What stands beside the term in the dictionary; held until the next call.</param>
    public void Open(ReadOnlyMemory<byte> payload)
    {
        var bytes = payload.Span;
        int read = 0;
        ulong head = Varint.Read(bytes, ref read);
        Count = head <= (ulong)SegmentFormat.EntryLimit * 2 + 1 ? (long)(head >> 1) : throw SegmentFormat.Malformed();
        _isInline = (head & 1) != 0;
        Current = -1;
        _at = -1;
        _blockCount = 0;
        _column = null;
        _positions?.Forget();
        int most = _isInline ? PostingsFormat.InlineLimit : PostingsFormat.BlockLength;
        if (_entries.Length < most)
        {
            _entries = new uint[most];
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
        if (++_at < _blockCount)
        {
            return Current = (int)_entries[_at];
        }

        return Current == End || !NextBlock() ? Finish() : Current = (int)_entries[_at = 0];
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
            if (_isInline || !BlockFor(target))
            {
                return Finish();
            }

            _at = 0;
        }

        _at = FirstNotBelow(_entries.AsSpan(0, _blockCount), (uint)target, Math.Max(_at, 0));
        return Current = (int)_entries[_at];
    }

    /// <summary>
    /// What no posting up to an entry can count for more than, beginning with the block in which
    /// <paramref name="target"/> would stand. Does not move the cursor and decodes nothing.
    /// </summary>
    /// <param name="target">At or behind <see cref="EntryCursor.Current"/>.</param>
    /// <param name="lastEntry">The last entry that it holds for; <see cref="EntryCursor.End"/> when no posting is at or
    /// behind the target.</param>
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
            return new Impact(0, 1);
        }

        return _groups!.ImpactAt(target, out lastEntry);
    }

    /// <summary>
    /// Reads the positions at <see cref="EntryCursor.Current"/>, ascending, <see cref="Frequency"/> of them.
    /// </summary>
    /// <returns>How many there are; the first so many of <paramref name="target"/>, which grows when it is too
    /// short.</returns>
    public int ReadPositions(ref int[] target) => PostingPositions.Read(EncodedPositions(), Frequency, ref target);

    /// <summary>The same, as they are encoded: for a merge, which only moves them.</summary>
    public ReadOnlySpan<byte> EncodedPositions()
    {
        if (!isText)
        {
            return default;
        }

        return _isInline ? _block.InlinePositions(_at) : Positions().Of(_block, _groups!.Current.PositionsAddress, _at);
    }

    /// <inheritdoc/>
    public override int CountRest()
    {
        if (Current == -1)
        {
            Finish();
            return (int)Count;
        }

        return base.CountRest();
    }

    private static int FirstNotBelow(ReadOnlySpan<uint> sorted, uint target, int from)
    {
        // Most advances are short: a few steps before halving.
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

    private int Finish()
    {
        _blockCount = 0;
        _at = 0;
        return Current = End;
    }

    private bool NextBlock() => !_isInline && _groups!.MoveNext() && Load();

    private bool BlockFor(int target) => _groups!.MoveTo(target) && Load();

    private bool Load()
    {
        _positions?.Forget();
        _blockCount = _block.Open(_groups!.Current, _entries);
        Decoded += _blockCount;
        return true;
    }
}
