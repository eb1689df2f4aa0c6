using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>The parts of one answer.</summary>
/// <param name="engine">What answers.</param>
/// <param name="reader">Reads the documents; outlives the results.</param>
/// <param name="plan">The query.</param>
/// <param name="basis">What the answer rests on.</param>
/// <param name="sink">Takes the answer, and gives room for large documents.</param>
/// <param name="writer">Reads and writes documents; disposed with the results.</param>
/// <param name="turns">The time of the query.</param>
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

    /// <summary>How documents are looked into.</summary>
    public ScanPlan Scan { get; } = plan.Scan!;

    /// <summary>Begins to look at documents, or at what an index holds of them.</summary>
    /// <param name="scan">The query, or a part of it that is answered first.</param>
    /// <param name="needsTotal">Whether results behind the page are counted.</param>
    public ScanRun Start(ScanPlan scan, bool needsTotal = true) => scan.Start(engine.Memory, turns, needsTotal);

    /// <summary>Begins what the query computes of its results; null when it computes nothing.</summary>
    public Summaries.SummaryRun? StartSummary() => Scan.Summary?.Start(engine.Memory, turns);

    /// <summary>Has an index answer, which follows the documents as far as the basis says.</summary>
    /// <param name="indexName">The index.</param>
    /// <param name="scan">The query, or a part of it that is answered first.</param>
    /// <returns>The answer; null when the index is not there, or was reset and is behind.</returns>
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

    /// <summary>The same of groups.</summary>
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

    /// <summary>Whether an index is there that does not follow the documents as far as the basis says.</summary>
    public bool IsBehind(string indexName) =>
        engine.Indexes.ReadPosition(reader.Database, indexName)?.VisibleEtag < basis.ResultEtag;

    /// <summary>The rows that the static index makes of documents as they are now.</summary>
    /// <param name="scan">The query, or a part of it that is answered first.</param>
    public IndexRows RowsOf(ScanPlan scan) => new(scan.Rows!, reader.Database, () => reader.Current);

    /// <summary>Results of which each document of a walk is one.</summary>
    /// <param name="walk">The documents.</param>
    /// <param name="total">How many results there are.</param>
    /// <param name="found">Holds what the walk goes over, to be disposed with it.</param>
    /// <param name="isResult">Whether the document at hand is a result as it is now; null when all are.</param>
    public WalkedResults Walked(QueryWalk walk, long? total, IDisposable found, Func<bool>? isResult = null) =>
        new(walk, writer, sink, total, found, isResult, turns);

    /// <summary>How relevant each of some documents is; null where none is more than others.</summary>
    public double[]? ScoresOf(IReadOnlyList<ScannedDocument> found) =>
        Scan.IsScored ? [.. found.Select(static one => one.Score ?? 0)] : null;
}
