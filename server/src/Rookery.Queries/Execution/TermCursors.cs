using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds the entries of one segment by their values. Returns null for a field that is not indexed, whose documents must
/// be evaluated.
/// </summary>
/// <param name="segment">The segment.</param>
/// <param name="fields">The numbers of the indexed fields.</param>
/// <param name="opened">Opens postings.</param>
/// <param name="work">The answer's limits.</param>
internal sealed class TermCursors(SegmentReader segment, IndexedFields fields, OpenedPostings opened, AnswerWork work)
{
    // More terms are collected in a set, because each open cursor takes memory and a step for each entry.
    private const int MaxCursors = 16;

    /// <summary>Returns the entries that have the field.</summary>
    public Candidates? Open(ExistsPredicate condition) =>
        fields.Find(condition.Reader) is { } field ? WithTerm(field.Presence, MappedField.AnyValue) : null;

    /// <summary>Returns the entries that have any of several values.</summary>
    public Candidates? Open(TermsPredicate condition)
    {
        if (NumberOf(condition.Reader, condition.IsExact) is not { } number)
        {
            return null;
        }

        byte[][] keys = condition.Terms.Keys;
        if (keys.Length == 1)
        {
            return WithTerm(number, keys[0]);
        }

        if (segment.Field(number) is not { } field)
        {
            return Candidates.None;
        }

        if (keys.Length <= MaxCursors)
        {
            List<EntryCursor> cursors = [.. keys.Select(key => opened.Open(field, key)).OfType<EntryCursor>()];
            return cursors.Count == 0
                ? Candidates.None
                : new Candidates(ConditionCursors.AnyOf(cursors), IsExact: true);
        }

        var union = new EntryUnion(segment.Entries, work);
        var terms = field.Terms();
        var postings = opened.NewCursor(field);
        foreach (byte[] key in keys)
        {
            work.Step(1);
            if (terms.SeekExact(key))
            {
                postings.Open(terms.Postings);
                union.Add(postings);
            }
        }

        return new Candidates(union.ToCursor(), IsExact: true);
    }

    /// <summary>Returns the entries that have all of several values.</summary>
    public Candidates? Open(AllTermsPredicate condition)
    {
        if (IndexedFields.IsId(condition.Reader) || NumberOf(condition.Reader, condition.IsExact) is not { } number)
        {
            return null;
        }

        if (segment.Field(number) is not { } field)
        {
            return Candidates.None;
        }

        var terms = field.Terms();
        var counts = new List<(byte[] Key, long Count)>(condition.Terms.Count);
        foreach (byte[] key in condition.Terms.Keys)
        {
            work.Step(1);
            if (!terms.SeekExact(key))
            {
                return Candidates.None;
            }

            counts.Add((key, terms.EntryCount));
        }

        counts.Sort(static (one, other) => one.Count.CompareTo(other.Count));
        List<EntryCursor> rarest =
        [
            .. counts.Take(MaxCursors).Select(one => opened.Open(field, one.Key)).OfType<EntryCursor>(),
        ];
        var all =
            rarest.Count < Math.Min(MaxCursors, counts.Count) ? EmptyCursor.Instance : ConditionCursors.AllOf(rarest);
        return all is EmptyCursor
            ? Candidates.None
            : new Candidates(
                counts.Count <= MaxCursors
                    ? all
                    : Narrow(all, field, [.. counts.Skip(MaxCursors).Select(static one => one.Key)]),
                IsExact: true
            );
    }

    /// <summary>Returns the entries that have a value in a range.</summary>
    public Candidates? Open(RangePredicate condition)
    {
        if (IndexedFields.IsId(condition.Reader) || NumberOf(condition.Reader, condition.IsExact) is not { } number)
        {
            return null;
        }

        return Open(number, TermRangeOf(condition.Range));
    }

    /// <summary>Returns the entries that have a text that matches a pattern.</summary>
    public Candidates? Open(TextPredicate condition)
    {
        if (NumberOf(condition.Reader, condition.IsExact) is not { } number)
        {
            return null;
        }

        var pattern = condition.Pattern;
        byte first = condition.IsExact ? TermKey.ExactTextByte : TermKey.TextByte;
        byte[] beginning = [first, .. pattern.Prefix[..Math.Min(pattern.Prefix.Length, TermKey.MaxTextBytes)]];
        return pattern.IsPrefix && pattern.Prefix.Length <= TermKey.MaxTextBytes
            ? Open(number, TermRange.Prefix(beginning))
            : WithTexts(
                number,
                beginning,
                pattern,
                static (text, pattern, work) => pattern.Matches(text, work.Scan),
                mayMatchTruncated: true
            );
    }

    /// <summary>Returns the entries that have a similar text.</summary>
    public Candidates? Open(FuzzyField condition) =>
        NumberOf(condition.Reader, isExact: false) is { } number
            ? WithTexts(
                number,
                [TermKey.TextByte],
                condition.Wanted,
                static (text, wanted, work) => wanted.Matches(text, work.Scan),
                condition.Wanted.MaxSimilarBytes > TermKey.MaxTextBytes
            )
            : null;

    private static TermRange TermRangeOf(KeyRange range)
    {
        if (range is { Low: null, High: null })
        {
            return new TermRange(
                new[] { TermKey.FirstByteOf(ValueKind.Boolean) },
                IncludesFrom: true,
                To: null,
                IncludesTo: false
            );
        }

        byte[] low = range.Low ?? [TermKey.FirstByteOf(TermKey.KindOf(range.High))];
        byte[] high = range.High ?? [(byte)(TermKey.LastByteOf(TermKey.KindOf(range.Low)) + 1)];
        return new TermRange(
            low,
            range.Low is null || range.IsLowIncluded,
            high,
            range.High is not null && range.IsHighIncluded
        );
    }

    private int? NumberOf(FieldReader reader, bool isExact)
    {
        if (fields.Find(reader) is { } field)
        {
            if (isExact)
            {
                return field.ExactValues;
            }

            return field.Values;
        }

        return null;
    }

    private Candidates WithTerm(int number, ReadOnlySpan<byte> term) =>
        segment.Field(number) is { } field && opened.Open(field, term) is { } postings
            ? new Candidates(postings, IsExact: true)
            : Candidates.None;

    private Candidates Open(int number, in TermRange range)
    {
        if (segment.Field(number) is not { } field)
        {
            return Candidates.None;
        }

        var (from, to) = field.Ordinals(range);
        if (from == to)
        {
            return Candidates.None;
        }

        // If the range has many terms and each entry one value, testing the ordinal of every entry costs less than
        // reading the postings of all terms.
        if (field.HasPlainKeys && to - from > segment.Entries / 16 && field.SortOrdinals is { } column)
        {
            work.Step(segment.Entries);
            return new Candidates(new OrdinalRangeCursor(column, from, to), IsExact: true);
        }

        var terms = field.Terms();
        terms.SeekOrdinal(from);
        if (to - from == 1)
        {
            var single = opened.NewCursor(field);
            single.Open(terms.Postings);
            return new Candidates(single, IsExact: true);
        }

        var union = new EntryUnion(segment.Entries, work);
        var postings = opened.NewCursor(field);
        for (bool isThere = true; isThere && terms.Ordinal < to; isThere = terms.MoveNext())
        {
            work.Step(1);
            postings.Open(terms.Postings);
            union.Add(postings);
        }

        return new Candidates(union.ToCursor(), IsExact: true);
    }

    /// <summary>
    /// Tests all texts in the dictionary that start with <paramref name="beginning"/>. The dictionary truncates long
    /// texts, so their entries are only candidates.
    /// </summary>
    private Candidates WithTexts<TState>(
        int number,
        byte[] beginning,
        TState state,
        TextTest<TState> matches,
        bool mayMatchTruncated
    )
    {
        if (segment.Field(number) is not { } field)
        {
            return Candidates.None;
        }

        bool isExact = true;
        var union = new EntryUnion(segment.Entries, work);
        var terms = field.Terms();
        var postings = opened.NewCursor(field);
        for (
            bool isThere = terms.Seek(beginning);
            isThere && terms.Term.StartsWith(beginning);
            isThere = terms.MoveNext()
        )
        {
            work.Scan.CountBytes(terms.Term.Length);
            bool isTruncated = TermKey.IsTruncated(terms.Term);
            if (isTruncated ? mayMatchTruncated : matches(terms.Term[1..], state, work))
            {
                isExact &= !isTruncated;
                postings.Open(terms.Postings);
                union.Add(postings);
            }
        }

        return new Candidates(union.ToCursor(), isExact);
    }

    /// <summary>
    /// Returns the entries of a cursor that also have all further terms. Reads one term after another, so the memory
    /// does not grow with the number of terms.
    /// </summary>
    private EntryCursor Narrow(EntryCursor cursor, SegmentField field, byte[][] keys)
    {
        var remaining = new List<int>();
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            remaining.Add(entry);
            work.Step(1);
        }

        work.Memory.Reserve((long)remaining.Count * sizeof(int));
        var terms = field.Terms();
        var postings = opened.NewCursor(field);
        foreach (byte[] key in keys)
        {
            work.Step(remaining.Count);
            if (remaining.Count == 0 || !terms.SeekExact(key))
            {
                return EmptyCursor.Instance;
            }

            postings.Open(terms.Postings);
            remaining.RemoveAll(entry => postings.Advance(entry) != entry);
        }

        var union = new EntryUnion(segment.Entries, work);
        remaining.ForEach(entry => union.Add(entry, length: 1));
        return union.ToCursor();
    }

    private delegate bool TextTest<in TState>(ReadOnlySpan<byte> text, TState state, AnswerWork work);
}
