using System.Buffers;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Summaries;

/// <summary>
/// What a query computes of its results instead of giving them: <c>facet(…)</c>, <c>suggest(…)</c>. Thread-safe; each
/// answer has a <see cref="SummaryRun"/> of its own.
/// </summary>
public abstract class QuerySummary
{
    /// <summary>Begins an answer.</summary>
    /// <param name="share">What it holds is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    public abstract SummaryRun Start(MemoryShare share, IScanClock clock);

    /// <summary>Whether a query selects a summary.</summary>
    internal static bool IsPartOf(Query query) =>
        query.Select is FieldSelection { Items: [{ Source: SelectedFacet or SelectedSuggestion }, ..] };

    /// <summary>The summary that a query selects; null when it selects none.</summary>
    /// <exception cref="QueryException">It is wrong, or not supported.</exception>
    internal static QuerySummary? Of(
        Query query,
        FieldResolver fields,
        ConditionCompiler conditions,
        OperandValues operands
    )
    {
        if (!IsPartOf(query))
        {
            return null;
        }

        IReadOnlyList<SelectedField> items = ((FieldSelection)query.Select!).Items;
        SelectedField first = items[0];
        string name = first.Source is SelectedFacet ? "facet" : "suggest";
        if (query.GroupBy.Count > 0 || query.Loads.Count > 0 || query.OrderBy.Count > 0)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{name}' cannot stand beside 'group by', 'load' and 'order by'.",
                first.Position
            );
        }

        return first.Source is SelectedFacet
            ? new FacetSummary([
                .. items.Select(item =>
                    FacetPlan.Of((SelectedFacet)item.Source, item.Alias, fields, conditions, operands)
                ),
            ])
            : new SuggestionSummary([
                .. items.Select(item => SuggestionPlan.Of((SelectedSuggestion)item.Source, item, operands)),
            ]);
    }
}

/// <summary>A summary while documents are added. For one thread; gives its memory back when it is disposed.</summary>
public abstract class SummaryRun : IDisposable
{
    /// <summary>How many objects it is in the end.</summary>
    public abstract int Count { get; }

    /// <summary>Adds a result of the query.</summary>
    /// <param name="document">The document.</param>
    /// <exception cref="QueryException">The memory or the time of the query is used up.</exception>
    public abstract void Add(in QueriedDocument document);

    /// <summary>Writes one of its objects.</summary>
    /// <param name="index">Which one, from 0.</param>
    /// <param name="output">Where to.</param>
    public abstract void Write(int index, IBufferWriter<byte> output);

    /// <inheritdoc/>
    public abstract void Dispose();
}
