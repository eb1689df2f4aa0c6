using Rookery.Documents.Databases;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>
/// The answer to one query: its basis, and its results, which are read one after another and can be rewound. Holds a
/// snapshot until it is disposed. Not thread-safe.
/// </summary>
public sealed class QueryAnswer : IDisposable
{
    // If more documents have expired, each document of the page is read instead.
    private const int MaxExpiredIds = 1024;

    private readonly AnswerReader _reader;
    private readonly QueryPlan? _ownPlan;
    private readonly QueryBasis _basis;
    private readonly QueryNotes? _notes;
    private readonly QueryTimeSlices? _notesSlices;

    /// <summary>Creates an answer positioned before its first result.</summary>
    /// <param name="engine">The engine that runs the query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="reader">Reads the documents; disposed with this.</param>
    /// <param name="plan">The plan in use.</param>
    /// <param name="ownPlan">The plan if this answer has to dispose it; null if the caller does.</param>
    /// <param name="basis">The index or scan that the answer comes from.</param>
    /// <param name="results">The results; disposed with this.</param>
    /// <param name="sink">Receives the answer.</param>
    internal QueryAnswer(
        QueryEngine engine,
        QueryMemory memory,
        AnswerReader reader,
        QueryPlan plan,
        QueryPlan? ownPlan,
        QueryBasis basis,
        IQueryResults results,
        IAnswerSink sink
    )
    {
        (_reader, Plan, _ownPlan, _basis, Results) = (reader, plan, ownPlan, basis, results);
        if (plan.Compiled is { HasNotes: true } compiled)
        {
            _notesSlices = new QueryTimeSlices(engine.Time, plan.WorkLimit, sink, stopping: engine.Stopping);
            _notes = new QueryNotes(compiled, reader.Database, () => reader.Current, memory, _notesSlices);
        }
    }

    /// <summary>The plan in use.</summary>
    public QueryPlan Plan { get; }

    /// <summary>Name of the index that answers; for a scan, the name that RavenDB would show.</summary>
    public string IndexName => _basis.IndexName;

    /// <summary>Whether the documents were scanned.</summary>
    public bool IsScan => _basis.SearchedIndex is null && Plan.Compiled is not null;

    /// <summary>
    /// Whether the index lacks documents that were written before the query arrived. Always false for a scan.
    /// </summary>
    public bool IsStale => _basis.IsStale;

    /// <summary>The answer includes all writes through this etag.</summary>
    public long ResultEtag => _basis.ResultEtag;

    /// <summary>
    /// When the index last indexed a document; null if no index answers, or the index indexed nothing since the node
    /// started.
    /// </summary>
    public DateTimeOffset? Timestamp => _basis.Timestamp;

    /// <summary>The results.</summary>
    public IQueryResults Results { get; }

    /// <summary>Adds the current result's notes (highlights, score explanations), if the query asks for any.</summary>
    /// <exception cref="Language.QueryException">The query exceeds its time or memory.</exception>
    public void AddNotes()
    {
        if (_notes is not null)
        {
            _notesSlices!.StartClock();
            Results.AddNotesTo(_notes);
            _notesSlices.StopClock();
        }
    }

    /// <summary>Returns the notes as JSON members, each preceded by a comma; empty if there are none.</summary>
    public byte[] NotesToJson() => _notes?.ToJson() ?? [];

    /// <summary>
    /// Counts the results before the first is written. If the total is unknown, this walks all results and rewinds
    /// them.
    /// </summary>
    /// <param name="correctsTotal">Whether to subtract documents of the page that an index counted, and that were
    /// changed, were deleted or have expired since.</param>
    /// <returns>Number of results, on the page or not.</returns>
    public async ValueTask<long> CountAheadAsync(bool correctsTotal)
    {
        if (Results.KnownTotal is null)
        {
            long counted = await Results.CountAsync();
            await Results.RewindAsync();
            return counted;
        }

        if (correctsTotal)
        {
            await CorrectTotalAsync(_reader.Current);
        }

        return Results.KnownTotal.Value;
    }

    // An index may have found documents that were changed or deleted since, or that have expired.
    private ValueTask CorrectTotalAsync(in DatabaseReader reader)
    {
        if (reader.ReadStatistics().LastDocumentEtag > ResultEtag)
        {
            return Results.CorrectTotalAsync(expiredIds: null);
        }

        return ExpiredDocuments.HasAny(reader)
            ? Results.CorrectTotalAsync(ExpiredDocuments.TryReadIds(reader, MaxExpiredIds))
            : ValueTask.CompletedTask;
    }

    /// <summary>Releases memory and the snapshot.</summary>
    public void Dispose()
    {
        _notes?.Dispose();
        Results.Dispose();
        Plan.UseMemory(null); // the caller may dispose the plan later, after it has sent the answer
        _ownPlan?.Dispose();
        _reader.Dispose();
    }
}
