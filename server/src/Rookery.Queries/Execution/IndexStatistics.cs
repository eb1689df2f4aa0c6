using System.Numerics;
using Rookery.Indexing.Indexes;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Word statistics of all live documents of an index, for scores. Dead entries are not counted, so the numbers do not
/// depend on when segments were merged.
/// </summary>
internal sealed class IndexStatistics
{
    private const int WordBits = 64;

    private readonly IReadOnlyList<LiveSegment> _segments;
    private readonly OpenedPostings _opened;
    private readonly AnswerWork _work;

    /// <summary>Creates statistics of one snapshot of an index.</summary>
    public IndexStatistics(IReadOnlyList<LiveSegment> segments, AnswerWork work)
    {
        (_segments, _work) = (segments, work);
        _opened = new OpenedPostings(work);
    }

    /// <summary>Passes the statistics to all full-text searches within a condition.</summary>
    public void ApplyTo(Predicate condition, IndexedFields fields)
    {
        switch (condition)
        {
            case AndPredicate and:
                ApplyToAll(and.Inner, fields);
                break;
            case OrPredicate or:
                ApplyToAll(or.Inner, fields);
                break;
            case NotPredicate not:
                ApplyTo(not.Inner, fields);
                break;
            case BoostPredicate boost:
                ApplyTo(boost.Inner, fields);
                break;
            case OptionalPredicate optional:
                ApplyTo(optional.Inner, fields);
                break;
            case FullTextPredicate { Condition: SearchedField searched }
                when fields.Find(searched.Reader)?.Words is { } number:
                searched.UseStatistics(StatisticsOf(searched.Query, number));
                break;
            case FullTextPredicate { Condition: SimilarityCondition { HasModel: true, AreWordsChosen: false } model }:
                foreach (var field in model.Fields)
                {
                    if (fields.Find(field.Reader)?.Words is { } words)
                    {
                        field.UseStatistics(StatisticsOf(field.Query, words));
                    }
                }

                model.UseDocumentCount(
                    _segments.Sum(static segment => (long)segment.Reader.Entries - segment.Live.DeadCount)
                );
                model.ChooseWords();
                break;
            default:
                break;
        }
    }

    private void ApplyToAll(ReadOnlySpan<Predicate> conditions, IndexedFields fields)
    {
        foreach (var condition in conditions)
        {
            ApplyTo(condition, fields);
        }
    }

    private SearchStatistics StatisticsOf(SearchQuery query, int number)
    {
        long documents = 0;
        long tokens = 0;
        long[] frequencies = new long[query.Terms.Count];
        foreach (var (reader, live) in _segments)
        {
            if (reader.Field(number) is not { } field)
            {
                continue;
            }

            documents += field.EntriesWithLength;
            tokens += field.TotalLength;
            for (int term = 0; term < frequencies.Length; term++)
            {
                frequencies[term] +=
                    live.DeadCount == 0
                        ? field.EntryCount(query.Terms[term])
                        : LiveCount(field, query.Terms[term], live);
            }

            SubtractDead(field, live, ref documents, ref tokens);
        }

        _opened.CountDecoded();
        return new SearchStatistics(documents, tokens, frequencies);
    }

    private long LiveCount(SegmentField field, byte[] term, LiveEntries live)
    {
        if (_opened.Open(field, term) is not { } postings)
        {
            return 0;
        }

        long count = postings.Count;
        foreach (int dead in DeadOf(live))
        {
            int entry = postings.Advance(dead);
            if (entry == EntryCursor.End)
            {
                break;
            }

            if (entry == dead)
            {
                count--;
            }
        }

        _work.Step(live.DeadCount);
        return count;
    }

    private void SubtractDead(SegmentField field, LiveEntries live, ref long documents, ref long tokens)
    {
        if (live.DeadCount == 0 || field.Lengths is not { } lengths)
        {
            return;
        }

        _work.Step(live.DeadCount);
        foreach (int dead in DeadOf(live))
        {
            long length = (long)lengths[dead];
            if (length > 0)
            {
                documents--;
                tokens -= length;
            }
        }
    }

    private static IEnumerable<int> DeadOf(LiveEntries live)
    {
        for (int i = 0; i < live.DeadWords.Length; i++)
        {
            for (ulong word = live.DeadWords[i]; word != 0; word &= word - 1) // clears the lowest set bit
            {
                yield return (i * WordBits) + BitOperations.TrailingZeroCount(word);
            }
        }
    }
}
