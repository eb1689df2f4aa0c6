using System.Buffers.Binary;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Postings;

/// <summary>
/// Walks over the blocks of one term's postings. Has two positions: the current block, and a later block of which only
/// the impact was read.
/// </summary>
internal sealed class PostingsGroups(SegmentPages pages, bool isText)
{
    // Offsets in a table entry: last entry (0), address, positions, highest frequency, smallest length.
    private const int AddressAt = 4;
    private const int PositionsAt = 12;
    private const int MaxFrequencyAt = 20;
    private const int MinLengthAt = 24;

    private BlockHeader _current;
    private BlockHeader _ahead;
    private byte[] _table = [];
    private byte[] _scratch = [];
    private int _groupCount;
    private long _count;

    // The addresses of a term with one group, which has no table.
    private long _onlyAddress;
    private long _onlyPositions;
    private bool _hasCurrent;
    private bool _hasAhead;
    private bool _hasEnded;

    /// <summary>The current block.</summary>
    public ref readonly BlockHeader Current => ref _current;

    /// <summary>Upper bound of what the postings of the term contribute to a score.</summary>
    public Impact WholeImpact { get; private set; }

    /// <summary>Moves before the first block.</summary>
    /// <param name="payload">The term's payload in the dictionary.</param>
    /// <param name="at">The offset of the block addresses in the payload.</param>
    /// <param name="postings">Number of postings of the term.</param>
    public void Open(ReadOnlySpan<byte> payload, int at, long postings)
    {
        _count = postings;
        _hasCurrent = false;
        _hasAhead = false;
        _hasEnded = false;
        _onlyAddress = (long)Varint.Read(payload, ref at);
        if (_onlyAddress != 0)
        {
            _groupCount = 1;
            WholeImpact = isText
                ? new Impact(Varint.ReadInt(payload, ref at), Varint.ReadInt(payload, ref at))
                : new Impact(MaxFrequency: 1, MinLength: 1);
            _onlyPositions = isText ? (long)Varint.Read(payload, ref at) : 0;
            return;
        }

        _groupCount = Varint.ReadInt(payload, ref at);
        if (_groupCount < 2 || _groupCount > _count)
        {
            throw SegmentFormat.Malformed();
        }

        int bytes = checked(_groupCount * PostingsFormat.GroupBytes);
        var read = pages.Read((long)Varint.Read(payload, ref at), bytes, ref _scratch);
        if (_table.Length < bytes)
        {
            _table = new byte[Math.Max(bytes, 2 * _table.Length)];
        }

        read.CopyTo(_table);
        var whole = Impact.None;
        for (int i = 0; i < _groupCount; i++)
        {
            whole = whole.Combine(ImpactOf(i));
        }

        WholeImpact = whole;
    }

    /// <summary>Moves to the next block; returns false after the last.</summary>
    public bool MoveNext()
    {
        if (_hasEnded || !MoveNext(ref _current, _hasCurrent))
        {
            _hasEnded = true;
            return false;
        }

        _hasCurrent = true;
        return true;
    }

    /// <summary>
    /// Moves to the first block whose last entry is at least <paramref name="target"/>, which is after the current
    /// block. Returns false if there is none.
    /// </summary>
    public bool MoveTo(int target)
    {
        if (_hasEnded)
        {
            return false;
        }

        if (_hasAhead && (!_hasCurrent || _ahead.LastEntry > _current.LastEntry) && _ahead.LastBefore < target)
        {
            _current = _ahead;
            _hasCurrent = true;
        }

        if (!MoveTo(ref _current, _hasCurrent, target))
        {
            _hasEnded = true;
            return false;
        }

        _hasCurrent = true;
        return true;
    }

    /// <summary>
    /// Returns the impact and the last entry of the block that would contain <paramref name="target"/>, which is after
    /// the current block. Does not move.
    /// </summary>
    public Impact ImpactAt(int target, out int lastEntry)
    {
        if (!_hasEnded)
        {
            if (!_hasAhead || _ahead.LastBefore >= target || (_hasCurrent && _ahead.LastEntry < _current.LastEntry))
            {
                _ahead = _current;
                _hasAhead = _hasCurrent;
            }

            if (MoveTo(ref _ahead, _hasAhead, target))
            {
                _hasAhead = true;
                lastEntry = _ahead.LastEntry;
                return _ahead.Impact;
            }

            _hasAhead = false;
        }

        lastEntry = EntryCursor.End;
        return new Impact(MaxFrequency: 0, MinLength: 1);
    }

    private bool MoveNext(ref BlockHeader header, bool isOpen)
    {
        if (!isOpen)
        {
            OpenGroup(ref header, group: 0);
        }
        else if (_groupCount == 1 ? header.CountInGroup >= _count : header.LastEntry >= LastOf(header.Group))
        {
            if (header.Group + 1 >= _groupCount)
            {
                return false;
            }

            OpenGroup(ref header, header.Group + 1);
        }

        header.MoveNext(pages, isText);
        return true;
    }

    private bool MoveTo(ref BlockHeader header, bool isOpen, int target)
    {
        int group = isOpen ? header.Group : 0;
        if (_groupCount > 1 && LastOf(group) < target)
        {
            int to = _groupCount;
            while (group < to)
            {
                int middle = (group + to) >>> 1;
                if (LastOf(middle) < target)
                {
                    group = middle + 1;
                }
                else
                {
                    to = middle;
                }
            }

            if (group == _groupCount)
            {
                return false;
            }

            OpenGroup(ref header, group);
            header.MoveNext(pages, isText);
            isOpen = true;
        }

        while (!isOpen || header.LastEntry < target)
        {
            if (!MoveNext(ref header, isOpen))
            {
                return false;
            }

            isOpen = true;
        }

        return true;
    }

    private void OpenGroup(ref BlockHeader header, int group)
    {
        if (_groupCount == 1)
        {
            header.OpenGroup(group: 0, _onlyAddress, _onlyPositions, lastBefore: -1);
        }
        else
        {
            var entry = _table.AsSpan(group * PostingsFormat.GroupBytes);
            header.OpenGroup(
                group,
                BinaryPrimitives.ReadInt64LittleEndian(entry[AddressAt..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry[PositionsAt..]),
                group == 0 ? -1 : LastOf(group - 1)
            );
        }
    }

    private int LastOf(int group) =>
        BinaryPrimitives.ReadInt32LittleEndian(_table.AsSpan(group * PostingsFormat.GroupBytes));

    private Impact ImpactOf(int group)
    {
        var entry = _table.AsSpan(group * PostingsFormat.GroupBytes);
        return new Impact(
            BinaryPrimitives.ReadInt32LittleEndian(entry[MaxFrequencyAt..]),
            BinaryPrimitives.ReadInt32LittleEndian(entry[MinLengthAt..])
        );
    }
}
