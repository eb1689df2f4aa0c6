using Rookery.Indexing.Language;
using Rookery.Indexing.Scanning;
using Rookery.Indexing.Segments;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Execution;

/// <summary>Writes what the entries of one segment are sorted by in one key of <c>order by</c>, as <see cref="SortKeys"/> writes it of documents. For one thread.</summary>
internal abstract class SortColumn
{
    /// <summary>Writes the value of an entry.</summary>
    /// <param name="entry">The entry.</param>
    /// <param name="destination">At least <see cref="SortValue.MaxBytes"/> bytes.</param>
    /// <returns>Bytes written; -1 where only the document says it.</returns>
    public abstract int Write(int entry, Span<byte> destination);

    /// <summary>Whether <see cref="Rank"/> says all.</summary>
    public virtual bool IsRanked => false;

    /// <summary>The place of an entry's value among those of the segment: in their order, the same for equal ones. Costs little.</summary>
    public virtual long Rank(int entry) => throw new InvalidOperationException("These values have no ranks.");

    /// <summary>The entries in the order of their ranks, to be read term by term; null where terms do not say that.</summary>
    public virtual TermsInOrder? InOrder(OpenedPostings opened) => null;

    /// <summary>How many entries are better asked before <see cref="SetLast"/> is called again.</summary>
    public virtual int AskedBetween => 1;

    /// <summary>Says which value is the last that is wanted.</summary>
    public virtual void SetLast(ReadOnlySpan<byte> value)
    {
    }

    /// <summary>Whether the value of an entry comes behind the last that is wanted, for certain. Costs little.</summary>
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
    private readonly SegmentReader segment;
    private readonly IndexedField field;
    private readonly OrderKind kind;
    private readonly bool isDescending;
    private readonly bool isNullGreatest;
    private readonly PackedColumn? least;
    private readonly PackedColumn? greatest;
    private readonly TermCursor? leastTerms;
    private readonly TermCursor? greatestTerms;
    private readonly bool isMonotone;
    private readonly (long From, long To) spoken;
    private readonly AnswerWork work;
    private readonly long rankedFrom;
    private long behindFrom;
    private long behindTo;
    private byte[] other = [];

    /// <summary>A column of a segment.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="field">The field.</param>
    /// <param name="key">How its values are compared.</param>
    /// <param name="work">Counts keys that are read.</param>
    public FieldSortColumn(SegmentReader segment, IndexedField field, SortKey key, AnswerWork work)
    {
        (this.segment, this.field, this.work) = (segment, field, work);
        kind = key.Kind;
        (isDescending, isNullGreatest) = (key.IsDescending, key.IsNullGreatest);
        var values = segment.Field(field.Values);
        var ends = segment.Field(field.Greatest);
        least = values?.SortOrdinals;
        greatest = ends?.SortOrdinals;
        leastTerms = least is null ? null : values!.Terms();
        greatestTerms = greatest is null ? null : ends!.Terms();

        // Sorted as numbers, other values stand with null: then the terms of numbers alone are in order.
        isMonotone = !isNullGreatest && least is not null && kind is OrderKind.Natural or OrderKind.Double or OrderKind.Long;
        spoken = !isMonotone ? default : kind == OrderKind.Natural ? (0, values!.TermCount) : values!.Ordinals(NumbersOnly);

        // Several numbers have one whole number, and which of several values counts as a number their terms say, not their places.
        // The least of the terms is null, which has to be the last.
        IsRanked = !isNullGreatest && (kind == OrderKind.Natural || (kind == OrderKind.Double && greatest is null));
        rankedFrom = spoken.To == 0 || kind != OrderKind.Natural ? spoken.From : TermKey.KindOf(KeyAt(leastTerms!, 0)) == ValueKind.Null ? 1 : 0;
    }

    /// <inheritdoc/>
    public override bool IsRanked { get; }

    // Finding out anew which entries come behind the last wanted one takes some twenty look-ups.
    /// <inheritdoc/>
    public override int AskedBetween => 128;

    private static TermRange NumbersOnly => new(new[] { TermKey.FirstByteOf(ValueKind.Number) }, true, new[] { (byte)(TermKey.LastByteOf(ValueKind.Number) + 1) }, false);

    /// <inheritdoc/>
    public override long Rank(int entry)
    {
        long low = least is null ? 0 : (long)least[entry];
        if (low != 0 && isDescending && greatest is not null && greatest[entry] is var high and not 0)
        {
            low = leastTerms!.SeekExact(KeyAt(greatestTerms!, (long)high - 1)) ? leastTerms.Ordinal + 1 : throw Varint.Malformed();
        }

        // What is null or spoken of by another order stands where a missing value does.
        return low > rankedFrom && low <= spoken.To ? low : 0;
    }

    /// <inheritdoc/>
    public override TermsInOrder? InOrder(OpenedPostings opened)
    {
        if (segment.Field(field.Values) is not { HasPlainKeys: true } values)
        {
            return null;
        }

        long withValue = segment.Field(field.Presence)?.EntryCount(Indexes.MappedField.AnyValue) ?? 0;
        bool lacksValues = withValue < segment.Entries;
        return lacksValues && !isDescending ? null
            : new TermsInOrder(values.Terms(), opened.New(values), (rankedFrom, Math.Max(rankedFrom, spoken.To)), isDescending, lacksValues);
    }

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        int length = WriteValue(entry, destination);
        return isNullGreatest ? SortValue.TurnNull(destination, length) : length;
    }

    private int WriteValue(int entry, Span<byte> destination)
    {
        long low = least is null ? 0 : (long)least[entry];
        if (low == 0)
        {
            return TermKey.WriteNull(destination);
        }

        var lowKey = KeyAt(leastTerms!, low - 1);
        long high = greatest is null ? 0 : (long)greatest[entry];
        if (high == 0)
        {
            return SortValue.WriteOfKey(kind, lowKey, destination);
        }

        return WriteOfSeveral(lowKey, KeyAt(greatestTerms!, high - 1), destination);
    }

    /// <inheritdoc/>
    public override void SetLast(ReadOnlySpan<byte> value)
    {
        if (isMonotone)
        {
            (behindFrom, behindTo) = isDescending ? (spoken.From, FirstAtLeast(value, isAbove: false)) : (FirstAtLeast(value, isAbove: true), spoken.To);
        }
    }

    /// <inheritdoc/>
    public override bool IsBehindLast(int entry, out int to)
    {
        to = entry;
        if (behindFrom >= behindTo || (greatest is not null && greatest[entry] != 0))
        {
            return false;
        }

        long ordinal = (long)least![entry] - 1;
        return ordinal >= behindFrom && ordinal < behindTo;
    }

    private ReadOnlySpan<byte> KeyAt(TermCursor terms, long ordinal)
    {
        work.CountSortKey();
        return terms.SeekOrdinal(ordinal) ? terms.Term : throw Varint.Malformed();
    }

    /// <summary>The value that comes first of several, of which the least and the greatest are known.</summary>
    private int WriteOfSeveral(ReadOnlySpan<byte> low, ReadOnlySpan<byte> high, Span<byte> destination)
    {
        var (lowKind, highKind) = (TermKey.KindOf(low), TermKey.KindOf(high));
        bool isNumeric = kind is OrderKind.Double or OrderKind.Long;
        if (isNullGreatest && (isNumeric ? lowKind != ValueKind.Number || highKind != ValueKind.Number : lowKind == ValueKind.Null))
        {
            return isDescending ? TermKey.WriteNull(destination) : -1; // which of the others is the least is not known
        }

        if (kind == OrderKind.Natural || (isNumeric && lowKind == ValueKind.Number && highKind == ValueKind.Number) || (kind == OrderKind.Text && lowKind == ValueKind.Text && highKind == ValueKind.Text))
        {
            return SortValue.WriteOfKey(kind, isDescending ? high : low, destination);
        }

        if (!isNumeric)
        {
            return -1;
        }

        if (!isDescending || lowKind > ValueKind.Number || highKind < ValueKind.Number)
        {
            return TermKey.WriteNull(destination);      // a value that is no number comes first, or there is no number
        }

        return highKind == ValueKind.Number ? SortValue.WriteOfKey(kind, high, destination) : -1;
    }

    /// <summary>The first term whose value is not below another, or above it.</summary>
    private long FirstAtLeast(ReadOnlySpan<byte> value, bool isAbove)
    {
        var (from, to) = spoken;
        other = other.Length > 0 ? other : new byte[TermKey.MaxBytes];
        while (from < to)
        {
            long middle = (from + to) / 2;
            int order = other.AsSpan(0, SortValue.WriteOfKey(kind, KeyAt(leastTerms!, middle), other)).SequenceCompareTo(value);
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
    private readonly byte[] idKey = new byte[TermKey.MaxBytes];

    /// <inheritdoc/>
    public override int Write(int entry, Span<byte> destination)
    {
        var id = documents.Read(entry, out _);
        if (key.Kind == OrderKind.Random)
        {
            return SortKeys.WriteShuffled(id, key.Seed, destination);
        }

        return IdCursors.MayBeDate(id) ? -1 : SortValue.WriteOfKey(key.Kind, idKey.AsSpan(0, TermKey.WriteText(id, isExact: false, idKey)), destination);
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
