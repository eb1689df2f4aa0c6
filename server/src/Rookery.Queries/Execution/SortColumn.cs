using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>
/// Writes the values of one segment's entries for one key of <c>order by</c>, as <see cref="SortKeys"/> writes those of
/// documents. Not thread-safe.
/// </summary>
internal abstract class SortColumn
{
    /// <summary>Writes the value of an entry.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="destination">At least <see cref="SortValue.MaxBytes"/> bytes.</param>
    /// <returns>Bytes written; -1 if the value must be read from the document.</returns>
    public abstract int Write(int entry, Span<byte> destination);

    /// <summary>Whether <see cref="Rank"/> decides the order of two entries.</summary>
    public virtual bool IsRanked => false;

    /// <summary>
    /// Returns the rank of an entry's value in the segment. Ranks have the order of the values, and equal values the
    /// same rank. Cheap.
    /// </summary>
    public virtual long Rank(int entry) => throw new InvalidOperationException("These values have no ranks.");

    /// <summary>
    /// The number of the field whose values are ranked, and a number for the kind and the direction of the order. A
    /// segment keeps its sorted entries by both (<see cref="SortedEntriesKey"/>). Null if the column is not of a field.
    /// </summary>
    public virtual (int Field, int Order)? RankSource => null;

    /// <summary>
    /// Returns the entries in the order of their ranks, term by term; null if the field's terms do not have that order.
    /// </summary>
    public virtual TermsInOrder? InOrder(OpenedPostings opened) => null;

    /// <summary>Number of entries to compare before <see cref="SetLast"/> is called again.</summary>
    public virtual int UpdateInterval => 1;

    /// <summary>Sets the value of the last entry of the page so far.</summary>
    public virtual void SetLast(ReadOnlySpan<byte> value) { }

    /// <summary>
    /// Returns whether the value of an entry certainly comes after the value set by <see cref="SetLast"/>. Cheap.
    /// </summary>
    /// <param name="entry">The entry.</param>
    /// <param name="to">The last entry for which the answer is the same.</param>
    public virtual bool IsAfterLast(int entry, out int to)
    {
        to = entry;
        return false;
    }
}

/// <summary>Sort column of a field's values.</summary>
internal sealed class FieldSortColumn : SortColumn
{
    private readonly SegmentReader _segment;
    private readonly IndexedField _field;
    private readonly OrderKind _kind;
    private readonly bool _isDescending;
    private readonly bool _isNullGreatest;

    // The ordinals, plus 1, of each entry's least and greatest term. Least: 0 if the entry has no value. Greatest: 0 if
    // it has at most one.
    private readonly PackedColumn.Reader? _least;
    private readonly PackedColumn.Reader? _greatest;
    private readonly TermCursor? _leastTerms;
    private readonly TermCursor? _greatestTerms;

    // Whether the ordinals of the terms in _ordered have the order of the values.
    private readonly bool _isMonotone;

    // The ordinals of the terms that the order compares: From is included, To is not.
    private readonly (long From, long To) _ordered;
    private readonly AnswerWork _work;

    // The first ordinal with a rank of its own. Null ranks like a missing value.
    private readonly long _rankedFrom;

    // The ordinals of the terms after the last wanted value: From is included, To is not.
    private long _afterFrom;
    private long _afterTo;
    private byte[] _keyBuffer = [];

    /// <summary>Creates a column of a segment.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="field">The field.</param>
    /// <param name="key">How values are compared.</param>
    /// <param name="work">Counts values that are read.</param>
    public FieldSortColumn(SegmentReader segment, IndexedField field, SortKey key, AnswerWork work)
    {
        (_segment, _field, _work) = (segment, field, work);
        _kind = key.Kind;
        (_isDescending, _isNullGreatest) = (key.IsDescending, key.IsNullGreatest);
        var values = segment.Field(field.Values);
        var greatest = segment.Field(field.Greatest);
        _least = ReaderOf(values);
        _greatest = ReaderOf(greatest);
        _leastTerms = _least is null ? null : values!.Terms();
        _greatestTerms = _greatest is null ? null : greatest!.Terms();

        // A numeric order sorts values of other kinds like null, so only the terms of numbers have the wanted order.
        _isMonotone =
            !_isNullGreatest && _least is not null && _kind is OrderKind.Natural or OrderKind.Double or OrderKind.Long;
        if (_isMonotone)
        {
            _ordered = _kind == OrderKind.Natural ? (0, values!.TermCount) : values!.Ordinals(NumbersOnly);
        }

        // Ranks are ordinals of terms. They cannot be used if several terms compare as equal (order as long), if an
        // entry has several values of which only some may be numbers, or if null must come last.
        IsRanked = !_isNullGreatest && (_kind == OrderKind.Natural || (_kind == OrderKind.Double && _greatest is null));
        if (_ordered.To == 0 || _kind != OrderKind.Natural)
        {
            _rankedFrom = _ordered.From;
        }
        else
        {
            // Null is the first term, if it is one.
            bool hasNull = TermKey.KindOf(KeyAt(_leastTerms!, ordinal: 0)) == ValueKind.Null;
            _rankedFrom = hasNull ? 1 : 0;
        }
    }

    /// <inheritdoc/>
    public override bool IsRanked { get; }

    /// <inheritdoc/>
    public override (int Field, int Order)? RankSource => (_field.Values, ((int)_kind << 1) | (_isDescending ? 1 : 0));

    // SetLast costs about twenty look-ups of terms.
    /// <inheritdoc/>
    public override int UpdateInterval => 128;

    private static PackedColumn.Reader? ReaderOf(SegmentField? field) =>
        field?.SortOrdinals is { } ordinals ? new PackedColumn.Reader(ordinals) : null;

    private static TermRange NumbersOnly =>
        new(
            new[] { TermKey.FirstByteOf(ValueKind.Number) },
            IncludesFrom: true,
            new[] { (byte)(TermKey.LastByteOf(ValueKind.Number) + 1) },
            IncludesTo: false
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

        // Null, and values of a kind that the order does not compare, rank like a missing value.
        return low > _rankedFrom && low <= _ordered.To ? low : 0;
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
                opened.NewCursor(values),
                (_rankedFrom, Math.Max(_rankedFrom, _ordered.To)),
                _isDescending,
                lacksValues
            );
    }

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        int length = WriteValue(entry, destination);
        return _isNullGreatest ? SortValue.ReplaceNull(destination, length) : length;
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
            (_afterFrom, _afterTo) = _isDescending
                ? (_ordered.From, FirstAtLeast(value, isAbove: false))
                : (FirstAtLeast(value, isAbove: true), _ordered.To);
        }
    }

    /// <inheritdoc/>
    public override bool IsAfterLast(int entry, out int to)
    {
        to = entry;
        if (_afterFrom >= _afterTo || (_greatest is not null && _greatest[entry] != 0))
        {
            return false;
        }

        long ordinal = (long)_least![entry] - 1;
        return ordinal >= _afterFrom && ordinal < _afterTo;
    }

    private ReadOnlySpan<byte> KeyAt(TermCursor terms, long ordinal)
    {
        _work.CountSortKey();
        return terms.SeekOrdinal(ordinal) ? terms.Term : throw SegmentFormat.Malformed();
    }

    /// <summary>
    /// Writes the value that places an entry with several values. Only the least and the greatest of them are known.
    /// </summary>
    private int WriteOfSeveral(ReadOnlySpan<byte> low, ReadOnlySpan<byte> high, Span<byte> destination)
    {
        var (lowKind, highKind) = (TermKey.KindOf(low), TermKey.KindOf(high));
        bool isNumeric = _kind is OrderKind.Double or OrderKind.Long;
        if (
            _isNullGreatest
            && (isNumeric ? lowKind != ValueKind.Number || highKind != ValueKind.Number : lowKind == ValueKind.Null)
        )
        {
            return _isDescending ? TermKey.WriteNull(destination) : -1; // the least of the other values is not known
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
            return TermKey.WriteNull(destination); // a value that is not a number comes first, or there is no number
        }

        return highKind == ValueKind.Number ? SortValue.WriteOfKey(_kind, high, destination) : -1;
    }

    /// <summary>Returns the ordinal of the first term whose value is at least the given one, or above it.</summary>
    private long FirstAtLeast(ReadOnlySpan<byte> value, bool isAbove)
    {
        var (from, to) = _ordered;
        _keyBuffer = _keyBuffer.Length > 0 ? _keyBuffer : new byte[TermKey.MaxBytes];
        while (from < to)
        {
            long middle = (from + to) / 2;
            int order = _keyBuffer
                .AsSpan(0, SortValue.WriteOfKey(_kind, KeyAt(_leastTerms!, middle), _keyBuffer))
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

/// <summary>Sort column of document ids, or of a shuffled order, which is computed from ids.</summary>
/// <param name="documents">The ids of the segment.</param>
/// <param name="key">How ids are compared.</param>
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

/// <summary>Sort column of the keys of reduced rows, compared as bytes.</summary>
/// <param name="documents">The rows' keys.</param>
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
