using Rookery.Indexing.Indexes;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds the entries of one segment of which conditions hold: by terms, not by documents. For one thread.
/// </summary>
internal sealed class ConditionCursors
{
    private readonly SegmentReader _segment;
    private readonly TermCursors _terms;
    private readonly IdCursors _ids;

    /// <summary>Conditions of one segment.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="fields">What it holds of which field.</param>
    /// <param name="work">Of the answer.</param>
    public ConditionCursors(SegmentReader segment, IndexedFields fields, AnswerWork work)
    {
        _segment = segment;
        Opened = new OpenedPostings(work);
        _terms = new TermCursors(segment, fields, Opened, work);
        Words = new WordCursors(segment, fields, Opened, work);
        _ids = new IdCursors(segment, work);
    }

    /// <summary>Finds entries by words.</summary>
    public WordCursors Words { get; }

    /// <summary>The postings that were opened.</summary>
    public OpenedPostings Opened { get; }

    /// <summary>The entries of which a condition may hold.</summary>
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
            FullTextPredicate { Condition: LikenessCondition { IsChosen: true } likeness } => Words.Open(likeness)
                ?? Unknown,
            FullTextPredicate { Condition: FuzzyField fuzzy } => _terms.Open(fuzzy) ?? Unknown,
            _ => Unknown,
        };

    // What the index does not know may hold of every document.
    private Candidates Unknown => All(isExact: false);

    private Candidates All(bool isExact) => new(new AllCursor(_segment.Entries), isExact);

    private Candidates OpenNot(Candidates inner) =>
        inner switch
        {
            { IsExact: false } => Unknown,
            { Cursor: EmptyCursor } => All(isExact: true),
            { Cursor: AllCursor } => Candidates.None,
            _ => new Candidates(new ExceptCursor(new AllCursor(_segment.Entries), inner.Cursor), true),
        };

    private Candidates OpenAll(ReadOnlySpan<Predicate> conditions)
    {
        var found = new List<EntryCursor>();
        var without = new List<EntryCursor>();
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

            if (
                isNegated
                    ? candidates is { IsExact: true, Cursor: not EmptyCursor }
                    : candidates.Cursor is not AllCursor
            )
            {
                (isNegated ? without : found).Add(candidates.Cursor);
            }
        }

        var all = found.Count == 0 ? new AllCursor(_segment.Entries) : AllOf(found);
        return new Candidates(without.Count == 0 ? all : new ExceptCursor(all, AnyOf(without)), isExact);
    }

    private Candidates OpenAny(ReadOnlySpan<Predicate> conditions)
    {
        var found = new List<EntryCursor>();
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
                found.Add(candidates.Cursor);
            }
        }

        return found.Count == 0 ? Candidates.None : new Candidates(AnyOf(found), isExact);
    }

    /// <summary>Entries that all of at least one cursor have.</summary>
    internal static EntryCursor AllOf(List<EntryCursor> cursors) =>
        cursors.Count == 1 ? cursors[0] : new AndCursor(cursors);

    /// <summary>Entries that one of at least one cursor has, none of which is empty.</summary>
    internal static EntryCursor AnyOf(List<EntryCursor> cursors) =>
        cursors.Count == 1 ? cursors[0] : new OrCursor(cursors);
}
