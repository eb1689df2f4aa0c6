using Rookery.Indexing.Indexes;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>Opens the nodes that score one segment's entries.</summary>
/// <param name="segment">The segment.</param>
/// <param name="fields">The numbers of the indexed fields.</param>
/// <param name="conditions">Opens cursors.</param>
internal sealed class ScoreNodes(SegmentReader segment, IndexedFields fields, ConditionCursors conditions)
{
    /// <summary>
    /// Whether the index decides all opened conditions; otherwise scores must be computed from documents.
    /// </summary>
    public bool IsExact { get; private set; } = true;

    /// <summary>Opens the scores for a condition.</summary>
    public ScoreNode Open(Predicate condition) =>
        condition switch
        {
            AndPredicate and => new SumScore(OpenAll(and.Inner), needsAll: true),
            OrPredicate or => new SumScore(OpenAll(or.Inner), needsAll: false),
            NotPredicate not => new NotScore(Open(not.Inner)),
            BoostPredicate boost => new BoostScore(Open(boost.Inner), boost.Factor),
            OptionalPredicate optional => new OptionalScore(Open(optional.Inner)),
            FullTextPredicate { Condition: SearchedField searched } => OpenSearch(searched),
            _ => new ConstantScore(CursorOf(conditions.Open(condition))),
        };

    private EntryCursor CursorOf(Candidates candidates)
    {
        IsExact &= candidates.IsExact;
        return candidates.Cursor;
    }

    private ScoreNode[] OpenAll(ReadOnlySpan<Predicate> inner)
    {
        var nodes = new ScoreNode[inner.Length];
        for (int i = 0; i < nodes.Length; i++)
        {
            nodes[i] = Open(inner[i]);
        }

        return nodes;
    }

    private ScoreNode OpenSearch(SearchedField searched)
    {
        int? number = fields.Find(searched.Reader)?.Words;
        IsExact &= number is not null;
        return number is { } words && segment.Field(words) is { } field
            ? new SearchScore(
                searched.Scorer,
                field.Lengths,
                conditions.Words.OpenClauses(searched.Query, field),
                searched.Query.NeedsAll
            )
            : new ConstantScore(EmptyCursor.Instance);
    }
}
