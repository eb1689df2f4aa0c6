using Rookery.Queries.Conditions;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Values;

namespace Rookery.Queries.Execution;

/// <summary>Finds the entries of one segment by conditions on document ids.</summary>
/// <param name="segment">The segment.</param>
/// <param name="work">The answer's limits.</param>
internal sealed class IdCursors(SegmentReader segment, AnswerWork work)
{
    /// <summary>
    /// Returns the entries whose id is one of several texts; null if the documents must be evaluated.
    /// </summary>
    public Candidates? Open(TermsPredicate condition)
    {
        var union = new EntryUnion(segment.Entries, work);
        var ids = segment.Ids();
        foreach (byte[] key in condition.Terms.Keys)
        {
            if (TermKey.KindOf(key) is not (ValueKind.Text or ValueKind.ExactText) || TermKey.IsTruncated(key))
            {
                continue; // no id is such a value
            }

            var text = key.AsSpan(1);
            if (condition.IsExact || MayBeDate(text))
            {
                return null; // the index stores ids in lower case, and not as dates
            }

            if (ids.SeekExact(text))
            {
                var (first, count) = segment.EntriesOf(ids);
                union.Add(first, count);
            }
        }

        return new Candidates(union.ToCursor(), IsExact: true);
    }

    /// <summary>Returns the entries whose id matches a pattern; null if the documents must be evaluated.</summary>
    public Candidates? Open(TextPredicate condition)
    {
        if (condition.IsExact)
        {
            return null;
        }

        bool isExact = true;
        var union = new EntryUnion(segment.Entries, work);
        var ids = segment.Ids();
        var pattern = condition.Pattern;
        for (
            bool isAtId = ids.Seek(pattern.Prefix);
            isAtId && ids.Key.StartsWith(pattern.Prefix);
            isAtId = ids.MoveNext()
        )
        {
            work.Scan.CountBytes(ids.Key.Length);
            bool isDate = MayBeDate(ids.Key);
            if (isDate || pattern.IsPrefix || pattern.Matches(ids.Key, work.Scan))
            {
                isExact &= !isDate;
                var (first, count) = segment.EntriesOf(ids);
                union.Add(first, count);
            }
        }

        return new Candidates(union.ToCursor(), isExact);
    }

    /// <summary>
    /// Returns whether a lower-cased text may be a date, which conditions compare in a normalised form.
    /// </summary>
    internal static bool MayBeDate(ReadOnlySpan<byte> lowerText) =>
        lowerText.Length > "2000-01-01".Length // followed by the T before the time
        && lowerText[4] == (byte)'-'
        && lowerText[7] == (byte)'-'
        && lowerText[10] is (byte)'t' or (byte)'T';
}
