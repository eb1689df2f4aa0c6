using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>
/// Writes what the entries of one segment are sorted by in one key of <c>order by</c>, as <see cref="SortKeys"/> writes
/// it of documents. For one thread.
/// </summary>
internal abstract class SortColumn
{
    /// <summary>Writes the value of an entry.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="destination">At least <see cref="SortValue.MaxBytes"/> bytes.</param>
    /// <returns>Bytes written; -1 where only the document says it.</returns>
    public abstract int Write(int entry, Span<byte> destination);

    /// <summary>Whether <see cref="Rank"/> says all.</summary>
    public virtual bool IsRanked => false;

    /// <summary>
    /// The place of an entry's value among those of the segment: in their order, the same for equal ones. Costs little.
    /// </summary>
    public virtual long Rank(int entry) => throw new InvalidOperationException("These values have no ranks.");

    /// <summary>
    /// The entries in the order of their ranks, to be read term by term; null where terms do not say that.
    /// </summary>
    public virtual TermsInOrder? InOrder(OpenedPostings opened) => null;

    /// <summary>How many entries are better asked before <see cref="SetLast"/> is called again.</summary>
    public virtual int AskedBetween => 1;

    /// <summary>Says which value is the last that is wanted.</summary>
    public virtual void SetLast(ReadOnlySpan<byte> value) { }

    /// <summary>
    /// Whether the value of an entry comes behind the last that is wanted, for certain. Costs little.
    /// </summary>
    /// <param name="entry">The entry.</param>
    /// <param name="to">Up to which entry that is so.</param>
    public virtual bool IsBehindLast(int entry, out int to)
    {
        to = entry;
        return false;
    }
}

/// <summary>By the values of a field.</summary>
internal sealed class FieldSortColumn : SortColumn
{
    private readonly SegmentReader _segment;
    private readonly IndexedField _field;
    private readonly OrderKind _kind;
    private readonly bool _isDescending;
    private readonly bool _isNullGreatest;
    private readonly PackedColumn? _least;
    private readonly PackedColumn? _greatest;
    private readonly TermCursor? _leastTerms;
    private readonly TermCursor? _greatestTerms;
    private readonly bool _isMonotone;
    private readonly (long From, long To) _spoken;
    private readonly AnswerWork _work;
    private readonly long _rankedFrom;
    private long _behindFrom;
    private long _behindTo;
    private byte[] _other = [];

    /// <summary>A column of a segment.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="field">The field.</param>
    /// <param name="key">How its values are compared.</param>
    /// <param name="work">Counts keys that are read.</param>
    public FieldSortColumn(SegmentReader segment, IndexedField field, SortKey key, AnswerWork work)
    {
        (_segment, _field, _work) = (segment, field, work);
        _kind = key.Kind;
        (_isDescending, _isNullGreatest) = (key.IsDescending, key.IsNullGreatest);
        var values = segment.Field(field.Values);
        var ends = segment.Field(field.Greatest);
        _least = values?.SortOrdinals;
        _greatest = ends?.SortOrdinals;
        _leastTerms = _least is null ? null : values!.Terms();
        _greatestTerms = _greatest is null ? null : ends!.Terms();

        // Sorted as numbers, other values stand with null: then the terms of numbers alone are in order.
        _isMonotone =
            !_isNullGreatest && _least is not null && _kind is OrderKind.Natural or OrderKind.Double or OrderKind.Long;
        _spoken =
            !_isMonotone ? default
            : _kind == OrderKind.Natural ? (0, values!.TermCount)
            : values!.Ordinals(NumbersOnly);

        // Several numbers have one whole number, and which of several values counts as a number their terms say, not
        // their places. The least of the terms is null, which has to be the last.
        IsRanked = !_isNullGreatest && (_kind == OrderKind.Natural || (_kind == OrderKind.Double && _greatest is null));
        _rankedFrom =
            _spoken.To == 0 || _kind != OrderKind.Natural ? _spoken.From
            : TermKey.KindOf(KeyAt(_leastTerms!, 0)) == ValueKind.Null ? 1
            : 0;
    }

    /// <inheritdoc/>
    public override bool IsRanked { get; }

    // Finding out anew which entries come behind the last wanted one takes some twenty look-ups.
    /// <inheritdoc/>
    public override int AskedBetween => 128;

    private static TermRange NumbersOnly =>
        new(
            new[] { TermKey.FirstByteOf(ValueKind.Number) },
            true,
            new[] { (byte)(TermKey.LastByteOf(ValueKind.Number) + 1) },
            false
        );

    /// <inheritdoc/>
    public override long Rank(int entry)
    {
        long low = _least is null ? 0 : (long)_least[entry];
        if (low != 0 && _isDescending && _greatest is not null && _greatest[entry] is var high and not 0)
        {
            low = _leastTerms!.SeekExact(KeyAt(_greatestTerms!, (long)high - 1))
                ? _leastTerms.Ordinal + 1
                : throw SegmentFormat.Malformed();
        }

        // What is null or spoken of by another order stands where a missing value does.
        return low > _rankedFrom && low <= _spoken.To ? low : 0;
    }

    /// <inheritdoc/>
    public override TermsInOrder? InOrder(OpenedPostings opened)
    {
        if (_segment.Field(_field.Values) is not { HasPlainKeys: true } values)
        {
            return null;
        }

        long withValue = _segment.Field(_field.Presence)?.EntryCount(MappedField.AnyValue) ?? 0;
        bool lacksValues = withValue < _segment.Entries;
        return lacksValues && !_isDescending
            ? null
            : new TermsInOrder(
                values.Terms(),
                opened.New(values),
                (_rankedFrom, Math.Max(_rankedFrom, _spoken.To)),
                _isDescending,
                lacksValues
            );
    }

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        int length = WriteValue(entry, destination);
        return _isNullGreatest ? SortValue.TurnNull(destination, length) : length;
    }

    private int WriteValue(int entry, Span<byte> destination)
    {
        long low = _least is null ? 0 : (long)_least[entry];
        if (low == 0)
        {
            return TermKey.WriteNull(destination);
        }

        var lowKey = KeyAt(_leastTerms!, low - 1);
        long high = _greatest is null ? 0 : (long)_greatest[entry];
        if (high == 0)
        {
            return SortValue.WriteOfKey(_kind, lowKey, destination);
        }

        return WriteOfSeveral(lowKey, KeyAt(_greatestTerms!, high - 1), destination);
    }

    /// <inheritdoc/>
    public override void SetLast(ReadOnlySpan<byte> value)
    {
        if (_isMonotone)
        {
            (_behindFrom, _behindTo) = _isDescending
                ? (_spoken.From, FirstAtLeast(value, isAbove: false))
                : (FirstAtLeast(value, isAbove: true), _spoken.To);
        }
    }

    /// <inheritdoc/>
    public override bool IsBehindLast(int entry, out int to)
    {
        to = entry;
        if (_behindFrom >= _behindTo || (_greatest is not null && _greatest[entry] != 0))
        {
            return false;
        }

        long ordinal = (long)_least![entry] - 1;
        return ordinal >= _behindFrom && ordinal < _behindTo;
    }

    private ReadOnlySpan<byte> KeyAt(TermCursor terms, long ordinal)
    {
        _work.CountSortKey();
        return terms.SeekOrdinal(ordinal) ? terms.Term : throw SegmentFormat.Malformed();
    }

    /// <summary>The value that comes first of several, of which the least and the greatest are known.</summary>
    private int WriteOfSeveral(ReadOnlySpan<byte> low, ReadOnlySpan<byte> high, Span<byte> destination)
    {
        var (lowKind, highKind) = (TermKey.KindOf(low), TermKey.KindOf(high));
        bool isNumeric = _kind is OrderKind.Double or OrderKind.Long;
        if (
            _isNullGreatest
            && (isNumeric ? lowKind != ValueKind.Number || highKind != ValueKind.Number : lowKind == ValueKind.Null)
        )
        {
            return _isDescending ? TermKey.WriteNull(destination) : -1; // which of the others is the least is not known
        }

        if (
            _kind == OrderKind.Natural
            || (isNumeric && lowKind == ValueKind.Number && highKind == ValueKind.Number)
            || (_kind == OrderKind.Text && lowKind == ValueKind.Text && highKind == ValueKind.Text)
        )
        {
            return SortValue.WriteOfKey(_kind, _isDescending ? high : low, destination);
        }

        if (!isNumeric)
        {
            return -1;
        }

        if (!_isDescending || lowKind > ValueKind.Number || highKind < ValueKind.Number)
        {
            return TermKey.WriteNull(destination); // a value that is no number comes first, or there is no number
        }

        return highKind == ValueKind.Number ? SortValue.WriteOfKey(_kind, high, destination) : -1;
    }

    /// <summary>The first term whose value is not below another, or above it.</summary>
    private long FirstAtLeast(ReadOnlySpan<byte> value, bool isAbove)
    {
        var (from, to) = _spoken;
        _other = _other.Length > 0 ? _other : new byte[TermKey.MaxBytes];
        while (from < to)
        {
            long middle = (from + to) / 2;
            int order = _other
                .AsSpan(0, SortValue.WriteOfKey(_kind, KeyAt(_leastTerms!, middle), _other))
                .SequenceCompareTo(value);
            if (order < 0 || (order == 0 && isAbove))
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
}

/// <summary>By the id of the document, or shuffled by it.</summary>
/// <param name="documents">The ids of the segment.</param>
/// <param name="key">How they are compared.</param>
internal sealed class IdSortColumn(DocumentTable documents, SortKey key) : SortColumn
{
    private readonly byte[] _idKey = new byte[TermKey.MaxBytes];

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        var id = documents.Read(entry, out _);
        if (key.Kind == OrderKind.Random)
        {
            return SortKeys.WriteShuffled(id, key.Seed, destination);
        }

        return IdCursors.MayBeDate(id)
            ? -1
            : SortValue.WriteOfKey(
                key.Kind,
                _idKey.AsSpan(0, TermKey.WriteText(id, isExact: false, _idKey)),
                destination
            );
    }
}

/// <summary>By the key of a reduced row, as its bytes are.</summary>
/// <param name="documents">The keys of the segment.</param>
internal sealed class RowKeySortColumn(DocumentTable documents) : SortColumn
{
    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        var key = documents.Read(entry, out _);
        key.CopyTo(destination);
        return key.Length;
    }
}
