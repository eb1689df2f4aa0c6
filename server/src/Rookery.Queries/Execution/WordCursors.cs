using Rookery.Indexing.Indexes;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds the entries of one segment by the words of their texts. Returns null for a field without indexed words, whose
/// documents must be evaluated.
/// </summary>
/// <param name="segment">The segment.</param>
/// <param name="fields">The numbers of the indexed fields.</param>
/// <param name="opened">Opens postings.</param>
/// <param name="work">The answer's limits.</param>
internal sealed class WordCursors(SegmentReader segment, IndexedFields fields, OpenedPostings opened, AnswerWork work)
{
    /// <summary>Returns the entries whose texts match a search.</summary>
    public Candidates? Open(SearchedField condition)
    {
        if (fields.Find(condition.Reader)?.Words is not { } number)
        {
            return null;
        }

        if (segment.Field(number) is not { } field)
        {
            return Candidates.None;
        }

        var query = condition.Query;
        var cursors = new List<EntryCursor>(query.Clauses.Count);
        foreach (var cursor in OpenClauses(query, field))
        {
            if (cursor is not EmptyCursor)
            {
                cursors.Add(cursor);
            }
            else if (query.NeedsAll)
            {
                return Candidates.None;
            }
        }

        return cursors.Count == 0
            ? Candidates.None
            : new Candidates(
                query.NeedsAll ? ConditionCursors.AllOf(cursors) : ConditionCursors.AnyOf(cursors),
                IsExact: true
            );
    }

    /// <summary>
    /// Returns the entries that contain any of the words chosen for <c>moreLikeThis</c>. They are candidates, because
    /// the model document must be excluded by its id when documents are evaluated.
    /// </summary>
    public Candidates? Open(SimilarityCondition condition)
    {
        var union = new EntryUnion(segment.Entries, work);
        foreach (var compared in condition.Fields)
        {
            if (fields.Find(compared.Reader)?.Words is not { } number)
            {
                return null;
            }

            if (segment.Field(number) is not { } field)
            {
                continue;
            }

            foreach (byte[] term in compared.Query.Terms)
            {
                if (opened.Open(field, term) is { } postings)
                {
                    union.Add(postings);
                }
            }
        }

        var cursor = union.ToCursor();
        return cursor is EmptyCursor ? Candidates.None : new Candidates(cursor, IsExact: false);
    }

    /// <summary>Returns the entries that match each clause, in the order of the clauses.</summary>
    public EntryCursor[] OpenClauses(SearchQuery query, SegmentField field) =>
        [.. query.Clauses.Select(clause => Open(query, clause, field))];

    private EntryCursor Open(SearchQuery query, SearchClause clause, SegmentField field) =>
        clause switch
        {
            TermClause term => opened.Open(field, query.Terms[term.Term]) is { } postings
                ? postings
                : EmptyCursor.Instance,
            PhraseClause phrase => OpenPhrase(query, phrase, field),
            WildcardClause wildcard => OpenPattern(wildcard.Pattern, field),
            _ => throw new NotSupportedException(clause.GetType().Name),
        };

    private EntryCursor OpenPhrase(SearchQuery query, PhraseClause phrase, SegmentField field)
    {
        var terms = new List<(int Term, PostingsCursor Postings)>();
        foreach (int term in phrase.Words.Select(static word => word.Term).Distinct())
        {
            if (opened.Open(field, query.Terms[term]) is not { } postings)
            {
                return EmptyCursor.Instance;
            }

            terms.Add((term, postings));
        }

        return new PhraseCursor(phrase, terms, work);
    }

    private EntryCursor OpenPattern(TokenPattern pattern, SegmentField field)
    {
        var union = new EntryUnion(segment.Entries, work);
        var terms = field.Terms();
        var postings = opened.NewCursor(field);
        byte[] prefix = pattern.Prefix.ToArray();
        for (bool isThere = terms.Seek(prefix); isThere && terms.Term.StartsWith(prefix); isThere = terms.MoveNext())
        {
            work.Scan.CountBytes(terms.Term.Length);
            if (pattern.Matches(terms.Term, work.Scan))
            {
                postings.Open(terms.Postings);
                union.Add(postings);
            }
        }

        return union.ToCursor();
    }
}
