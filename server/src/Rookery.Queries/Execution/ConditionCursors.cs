using Rookery.Indexing.Indexes;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>Finds the entries of one segment that match a condition, by the segment's terms. Not thread-safe.</summary>
internal sealed class ConditionCursors
{
    private readonly SegmentReader _segment;
    private readonly TermCursors _terms;
    private readonly IdCursors _ids;

    /// <summary>Creates cursors over one segment.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="fields">The numbers of the indexed fields.</param>
    /// <param name="work">The answer's limits.</param>
    public ConditionCursors(SegmentReader segment, IndexedFields fields, AnswerWork work)
    {
        _segment = segment;
        Opened = new OpenedPostings(work);
        _terms = new TermCursors(segment, fields, Opened, work);
        Words = new WordCursors(segment, fields, Opened, work);
        _ids = new IdCursors(segment, work);
    }

    /// <summary>Opens cursors by words.</summary>
    public WordCursors Words { get; }

    /// <summary>The postings opened so far.</summary>
    public OpenedPostings Opened { get; }

    /// <summary>Returns the entries that may match a condition.</summary>
    public Candidates Open(Predicate condition) =>
        condition switch
        {
            ConstantPredicate constant => constant.Value ? All(isExact: true) : Candidates.None,
            NotPredicate not => OpenNot(Open(not.Inner)),
            BoostPredicate boost => Open(boost.Inner),
            OptionalPredicate => All(isExact: true),
            AndPredicate and => OpenAll(and.Inner),
            OrPredicate or => OpenAny(or.Inner),
            ExistsPredicate exists => (IndexedFields.IsId(exists.Reader) ? All(isExact: true) : _terms.Open(exists))
                ?? Unknown,
            TermsPredicate one => (IndexedFields.IsId(one.Reader) ? _ids.Open(one) : _terms.Open(one)) ?? Unknown,
            AllTermsPredicate all => _terms.Open(all) ?? Unknown,
            RangePredicate range => _terms.Open(range) ?? Unknown,
            TextPredicate text => (IndexedFields.IsId(text.Reader) ? _ids.Open(text) : _terms.Open(text)) ?? Unknown,
            FullTextPredicate { Condition: SearchedField searched } => Words.Open(searched) ?? Unknown,
            FullTextPredicate { Condition: SimilarityCondition { AreWordsChosen: true } model } => Words.Open(model)
                ?? Unknown,
            FullTextPredicate { Condition: FuzzyField fuzzy } => _terms.Open(fuzzy) ?? Unknown,
            _ => Unknown,
        };

    // If the index cannot evaluate a condition, every document is a candidate.
    private Candidates Unknown => All(isExact: false);

    private Candidates All(bool isExact) => new(new AllCursor(_segment.Entries), isExact);

    private Candidates OpenNot(Candidates inner) =>
        inner switch
        {
            { IsExact: false } => Unknown,
            { Cursor: EmptyCursor } => All(isExact: true),
            { Cursor: AllCursor } => Candidates.None,
            _ => new Candidates(new ExceptCursor(new AllCursor(_segment.Entries), inner.Cursor), IsExact: true),
        };

    private Candidates OpenAll(ReadOnlySpan<Predicate> conditions)
    {
        var required = new List<EntryCursor>();
        var excluded = new List<EntryCursor>();
        bool isExact = true;
        foreach (var condition in conditions)
        {
            bool isNegated = condition is NotPredicate;
            var candidates = Open(condition is NotPredicate not ? not.Inner : condition);
            isExact &= candidates.IsExact;
            if (!isNegated && candidates.Cursor is EmptyCursor)
            {
                return Candidates.None;
            }

            if (isNegated)
            {
                // Exclude only entries that certainly match the negated condition, not those that possibly match it.
                if (candidates is { IsExact: true, Cursor: not EmptyCursor })
                {
                    excluded.Add(candidates.Cursor);
                }
            }
            else if (candidates.Cursor is not AllCursor)
            {
                required.Add(candidates.Cursor);
            }
        }

        var all = required.Count == 0 ? new AllCursor(_segment.Entries) : AllOf(required);
        return new Candidates(excluded.Count == 0 ? all : new ExceptCursor(all, AnyOf(excluded)), isExact);
    }

    private Candidates OpenAny(ReadOnlySpan<Predicate> conditions)
    {
        var alternatives = new List<EntryCursor>();
        bool isExact = true;
        foreach (var condition in conditions)
        {
            var candidates = Open(condition);
            if (candidates.Cursor is AllCursor)
            {
                return candidates;
            }

            isExact &= candidates.IsExact;
            if (candidates.Cursor is not EmptyCursor)
            {
                alternatives.Add(candidates.Cursor);
            }
        }

        return alternatives.Count == 0 ? Candidates.None : new Candidates(AnyOf(alternatives), isExact);
    }

    /// <summary>Returns the entries that are in all cursors. The caller passes at least one cursor.</summary>
    internal static EntryCursor AllOf(List<EntryCursor> cursors) =>
        cursors.Count == 1 ? cursors[0] : new AndCursor(cursors);

    /// <summary>
    /// Returns the entries that are in any cursor. The caller passes at least one cursor, and none is empty.
    /// </summary>
    internal static EntryCursor AnyOf(List<EntryCursor> cursors) =>
        cursors.Count == 1 ? cursors[0] : new OrCursor(cursors);
}
