using System.Buffers;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Summaries;

/// <summary>
/// A compiled summary, which a query computes instead of returning results: <c>facet(…)</c> or <c>suggest(…)</c>.
/// Thread-safe; each answer has its own <see cref="SummaryRun"/>.
/// </summary>
public abstract class QuerySummary
{
    /// <summary>Starts a summary.</summary>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    public abstract SummaryRun Start(QueryMemory memory, IWorkLimits limits);

    /// <summary>Returns whether a query selects a summary.</summary>
    internal static bool IsPartOf(Query query) =>
        query.Select is FieldSelection { Items: [{ Source: SelectedFacet or SelectedSuggestion }, ..] };

    /// <summary>Compiles the summary that a query selects; returns null if it selects none.</summary>
    /// <exception cref="QueryException">The summary is invalid or unsupported.</exception>
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

        var selection = (FieldSelection)query.Select!;
        IReadOnlyList<SelectedField> items = selection.Items;
        SelectedField first = items[0];
        string name = first.Source is SelectedFacet ? "facet" : "suggest";
        if (query.GroupBy.Count > 0 || query.Loads.Count > 0 || selection.IsDistinct)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"'{name}' cannot stand beside 'group by', 'load' and 'distinct'.",
                first.Position
            );
        }

        if (first.Source is SelectedFacet && query.Filter is { } filter)
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'facet' cannot stand beside 'filter'. Put the condition in 'where'.",
                filter.Position
            );
        }

        return first.Source is SelectedFacet
            ? new FacetSummary([
                .. items.Select(item =>
                    FacetPlan.Of((SelectedFacet)item.Source, item.Alias, fields, conditions, operands)
                ),
            ])
            : new SuggestionSummary([
                .. items.Select(item => SuggestionPlan.Of((SelectedSuggestion)item.Source, item, fields, operands)),
            ]);
    }
}

/// <summary>
/// A summary in progress, to which results are added. Not thread-safe; releases its memory when it is disposed.
/// </summary>
public abstract class SummaryRun : IDisposable
{
    /// <summary>Number of objects that the summary consists of.</summary>
    public abstract int Count { get; }

    /// <summary>Adds a result of the query.</summary>
    /// <param name="document">The document.</param>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public abstract void Add(in QueriedDocument document);

    /// <summary>Writes an object of the summary.</summary>
    /// <param name="index">The position of the object, from 0.</param>
    /// <param name="output">Receives the JSON.</param>
    public abstract void Write(int index, IBufferWriter<byte> output);

    /// <summary>
    /// Passes the values that an object of the summary lists, a bounded number at a time, because ids among them can be
    /// included. Passes nothing by default.
    /// </summary>
    /// <param name="index">The position of the object, from 0.</param>
    /// <param name="receive">Receives values as the members of an object, without braces.</param>
    public virtual void ReadValues(int index, Action<ReadOnlyMemory<byte>> receive)
    {
        // Words that are suggested are no ids.
    }

    /// <inheritdoc/>
    public abstract void Dispose();
}
