using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>Context of one query answer: what it reads, how it is planned, where it is written.</summary>
/// <param name="engine">The engine that runs the query.</param>
/// <param name="reader">Reads the documents; outlives the results.</param>
/// <param name="plan">The plan of the query.</param>
/// <param name="basis">The index or scan that the answer comes from, and its etag.</param>
/// <param name="sink">Receives the answer, and reserves memory for large documents.</param>
/// <param name="writer">Reads and writes documents; disposed with the results.</param>
/// <param name="turns">Limits the query's working time and yields between time slices.</param>
internal sealed class AnswerScope(
    QueryEngine engine,
    AnswerReader reader,
    QueryPlan plan,
    QueryBasis basis,
    IAnswerSink sink,
    ResultWriter writer,
    QueryTurns turns
)
{
    public AnswerReader Reader => reader;

    public QueryPlan Plan => plan;

    public QueryBasis Basis => basis;

    public IAnswerSink Sink => sink;

    public ResultWriter Writer => writer;

    public QueryTurns Turns => turns;

    /// <summary>The compiled query: predicate, sort, projection, aggregates.</summary>
    public ScanPlan Scan { get; } = plan.Scan!;

    /// <summary>Starts evaluating a query over documents or over index rows.</summary>
    /// <param name="scan">The query, or a part of it that runs before it.</param>
    /// <param name="needsTotal">Whether results after the page are counted.</param>
    public ScanRun Start(ScanPlan scan, bool needsTotal = true) => scan.Start(engine.Memory, turns, needsTotal);

    /// <summary>Starts the summary (facets or suggestions) of the query; null if it has none.</summary>
    public Summaries.SummaryRun? StartSummary() => Scan.Summary?.Start(engine.Memory, turns);

    /// <summary>Searches an index that has indexed at least through the basis's etag.</summary>
    /// <param name="indexName">The index.</param>
    /// <param name="scan">The query, or a part of it that runs before it.</param>
    /// <returns>The answer; null if the index does not exist on this node, or was reset and has not reached that etag
    /// again.</returns>
    public IndexAnswer? Search(string indexName, ScanPlan scan)
    {
        using var search = turns.BeginSearch();
        return engine.Indexed.TryAnswer(
            reader.Database,
            indexName,
            scan,
            engine.Memory,
            turns,
            atLeast: basis.ResultEtag
        );
    }

    /// <summary>
    /// Searches an automatic map-reduce index for the groups of a query; otherwise as <see cref="Search"/>.
    /// </summary>
    public GroupAnswer? SearchGroups(string indexName)
    {
        using var search = turns.BeginSearch();
        return engine.Grouped.TryAnswer(
            reader.Database,
            indexName,
            Scan,
            engine.Memory,
            turns,
            atLeast: basis.ResultEtag
        );
    }

    /// <summary>Whether the index exists and has not reached the basis's etag.</summary>
    public bool IsBehind(string indexName) =>
        engine.Indexes.ReadPosition(reader.Database, indexName)?.VisibleEtag < basis.ResultEtag;

    /// <summary>Returns a mapper that computes a static index's rows from the current documents.</summary>
    /// <param name="scan">The query, or a part of it that runs before it.</param>
    public IndexRows RowsOf(ScanPlan scan) => new(scan.Rows!, reader.Database, () => reader.Current);

    /// <summary>Returns results that are the walk's documents, one each.</summary>
    /// <param name="walk">The documents.</param>
    /// <param name="total">Number of results, on the page or not; null if the walk counts them.</param>
    /// <param name="found">Owns what the walk reads; disposed with the results.</param>
    /// <param name="isResult">Whether the current document still matches; null if all do.</param>
    public WalkedResults Walked(QueryWalk walk, long? total, IDisposable found, Func<bool>? isResult = null) =>
        new(walk, writer, sink, total, found, isResult, turns);

    /// <summary>Returns each document's score; null if the query does not score.</summary>
    public double[]? ScoresOf(IReadOnlyList<ScannedDocument> found) =>
        Scan.IsScored ? [.. found.Select(static one => one.Score ?? 0)] : null;
}
