using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>
/// The answer of one query: what it rests on, and the results, to be walked over once. Holds the moment that it is of
/// until it is disposed. One thread at a time.
/// </summary>
public sealed class QueryAnswer : IDisposable
{
    private readonly AnswerReader _reader;
    private readonly QueryPlan? _renewed;
    private readonly QueryBasis _basis;
    private readonly QueryNotes? _notes;
    private readonly QueryTurns? _notesTurns;

    /// <summary>An answer before its first result.</summary>
    /// <param name="engine">What answers.</param>
    /// <param name="reader">Reads the documents; disposed with this.</param>
    /// <param name="plan">The query as it is answered.</param>
    /// <param name="renewed">The same where it is disposed with this; null where others do.</param>
    /// <param name="basis">What the answer rests on.</param>
    /// <param name="results">The results; disposed with this.</param>
    /// <param name="sink">Takes the answer.</param>
    internal QueryAnswer(
        QueryEngine engine,
        AnswerReader reader,
        QueryPlan plan,
        QueryPlan? renewed,
        QueryBasis basis,
        IQueryResults results,
        IAnswerSink sink
    )
    {
        (_reader, Plan, _renewed, _basis, Results) = (reader, plan, renewed, basis, results);
        if (plan.Scan is { HasNotes: true } scan)
        {
            _notesTurns = new QueryTurns(engine.Time, plan.WorkLimit, sink, stopping: engine.Stopping);
            _notes = new QueryNotes(scan, reader.Database, () => reader.Current, engine.Memory, _notesTurns);
        }
    }

    /// <summary>The query as it is answered.</summary>
    public QueryPlan Plan { get; }

    /// <summary>The index that answers, or that RavenDB would name.</summary>
    public string IndexName => _basis.IndexName;

    /// <summary>
    /// Whether the index does not follow the documents through the moment at which the query came. What comes from the
    /// documents themselves never is.
    /// </summary>
    public bool IsStale => _basis.IsStale;

    /// <summary>The etag through which the answer follows the documents at least.</summary>
    public long ResultEtag => _basis.ResultEtag;

    /// <summary>
    /// When the index last took something; null when no index answers, or it took nothing since the start.
    /// </summary>
    public DateTimeOffset? Timestamp => _basis.Timestamp;

    /// <summary>The results.</summary>
    public IQueryResults Results { get; }

    /// <summary>Notes what the answer says of the result at hand beside it, where it says anything.</summary>
    /// <exception cref="Language.QueryException">The memory or the time of the query is used up.</exception>
    public void Note()
    {
        if (_notes is not null)
        {
            _notesTurns!.Begin();
            Results.Note(_notes);
            _notesTurns.End();
        }
    }

    /// <summary>What it says beside its results: members, each with a comma before it; empty where nothing.</summary>
    public byte[] NotesToJson() => _notes?.ToJson() ?? [];

    /// <summary>
    /// Counts the results before the first. Those that are not gathered are gone over, and once more when they are
    /// walked.
    /// </summary>
    /// <param name="settles">Whether those of an index are held against the documents as they are read.</param>
    /// <returns>How many there are, on the page or not.</returns>
    public async ValueTask<long> CountAheadAsync(bool settles)
    {
        if (Results.KnownTotal is null)
        {
            long counted = await Results.CountAsync();
            await Results.RewindAsync();
            return counted;
        }

        if (settles && _reader.Current.ReadStatistics().LastEtag > ResultEtag)
        {
            await Results.SettleAsync();
        }

        return Results.KnownTotal.Value;
    }

    /// <summary>Gives memory and the moment back.</summary>
    public void Dispose()
    {
        _notes?.Dispose();
        Results.Dispose();
        _renewed?.Dispose();
        _reader.Dispose();
    }
}
