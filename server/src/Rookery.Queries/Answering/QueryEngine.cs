using Rookery.Documents.Databases;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Answering;

/// <summary>
/// The door for answers to queries: <see cref="Plan"/> says how a query is answered,
/// <see cref="ExecuteAsync"/> chooses what the answer rests on, has the index made that it needs, waits for it, and
/// gives the results to be walked over. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes of the node.</param>
/// <param name="automaticIndexes">Makes those that queries need.</param>
/// <param name="memory">What answers hold is drawn from here.</param>
/// <param name="time">The clock.</param>
/// <param name="stopping">Cancelled when the node stops.</param>
public sealed class QueryEngine(
    IndexHost indexes,
    IAutomaticIndexes automaticIndexes,
    MemoryShare memory,
    TimeProvider time,
    CancellationToken stopping
)
{
    internal IndexHost Indexes => indexes;

    internal IAutomaticIndexes AutomaticIndexes => automaticIndexes;

    internal MemoryShare Memory => memory;

    internal TimeProvider Time => time;

    internal CancellationToken Stopping => stopping;

    /// <summary>What bounds how many queries hold a thread for long.</summary>
    internal LongSearches LongSearches { get; } = new(LongSearches.UsualPlaces);

    /// <summary>Answers from indexes.</summary>
    internal IndexedQueries Indexed { get; } = new(indexes);

    /// <summary>Answers grouped queries from indexes.</summary>
    internal GroupedQueries Grouped { get; } = new(indexes);

    /// <summary>Reads the text of a query, and plans it.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="request">The query.</param>
    /// <exception cref="QueryException">It is no query, one that this version does not have, or of an index that there
    /// is not.</exception>
    public QueryPlan Plan(Database database, QueryRequest request) => QueryPlan.Read(request, database, Indexed);

    /// <summary>
    /// Plans a query whose results are to be changed or deleted: they are documents, and as many as there are. It works
    /// as long as it takes, and reads what is there after each pause.
    /// </summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="query">The query, read.</param>
    /// <param name="request">How it came.</param>
    /// <param name="wait">How long to wait for an index that is behind; null when a stale one will do.</param>
    /// <exception cref="QueryException">It is one that this version does not have, that cannot be meant, or of an index
    /// that there is not.</exception>
    public QueryPlan PlanChange(Database database, Query query, QueryRequest request, TimeSpan? wait) =>
        QueryPlan.ReadForChange(query, request, database, Indexed, wait);

    /// <summary>What the answer of a query would rest on, and why. Nothing is made, and nothing waited for.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="plan">The plan.</param>
    /// <param name="sink">Says that the client left.</param>
    /// <returns>The choice, and how many postings of an index that is built are read for the answer; null where none
    /// answers.</returns>
    /// <exception cref="QueryException">The query would cost more than one may; or it names an index that this node
    /// does not keep (<see cref="QueryFault.IndexUnavailable"/>), or that lacks what it needs
    /// (<see cref="QueryFault.Invalid"/>).</exception>
    public (IndexChoice Choice, long? PostingsRead) Explain(Database database, QueryPlan plan, IAnswerSink sink)
    {
        var choice = BasisChooser.Explain(this, database, plan);
        if (choice is not { IsBuilt: true, IndexName: { } name })
        {
            return (choice, null);
        }

        var turns = TurnsOf(plan, sink);
        var scan = plan.Scan!;
        using var search = turns.BeginSearch();
        using var groups = scan.IsGrouped ? Grouped.TryAnswer(database, name, scan, memory, turns) : null;
        using var found = scan.IsGrouped ? null : Indexed.TryAnswer(database, name, scan, memory, turns);
        return (choice, groups?.PostingsRead ?? found?.PostingsRead);
    }

    /// <summary>
    /// Begins to answer a query. What the answer rests on is chosen behind the read barrier: what was acknowledged
    /// before the query came, it answers, or says that it is stale. An index that was reset when it was to answer is
    /// waited for again.
    /// </summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="plan">The plan; outlives the answer.</param>
    /// <param name="sink">Takes the answer.</param>
    /// <param name="metadataOnly">Whether of whole documents only the metadata is wanted.</param>
    /// <param name="chosen">Called after each choice; a reset index causes another.</param>
    /// <returns>The answer before its first result. Those that are sorted or grouped are all found then.</returns>
    /// <exception cref="QueryException">The query would cost more than one may; it was to wait for an index, which did
    /// not come so far in time; it needs one that could not be made, or is not at work; it names one that lacks what it
    /// needs; or only metadata is wanted of results that have none.</exception>
    /// <exception cref="IndexDamagedException">An index cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    /// <remarks>The sink may refuse with an exception of its own when there is no room in time (HTTP: 429).</remarks>
    public async ValueTask<QueryAnswer> ExecuteAsync(
        Database database,
        QueryPlan plan,
        IAnswerSink sink,
        bool metadataOnly = false,
        Action? chosen = null
    )
    {
        CheckMetadata(plan, metadataOnly);
        var reader = new AnswerReader(database, plan.IsChange ? null : sink);
        QueryPlan? renewed = null;
        IQueryResults? results = null;
        try
        {
            while (true)
            {
                reader.LetGo();
                var basis = await BasisChooser.ChooseAsync(this, database, renewed ?? plan, sink);
                if (TryRenew(database, renewed ?? plan) is { } newer)
                {
                    renewed?.Dispose();
                    renewed = newer;
                    CheckMetadata(newer, metadataOnly);
                }

                chosen?.Invoke();
                results = await DocumentQueries.TryOpenAsync(this, reader, renewed ?? plan, basis, sink, metadataOnly);
                if (results is not null)
                {
                    return new QueryAnswer(this, reader, renewed ?? plan, renewed, basis, results, sink);
                }
            }
        }
        catch
        {
            results?.Dispose();
            renewed?.Dispose();
            reader.Dispose();
            throw;
        }
    }

    /// <summary>The time of an answer.</summary>
    internal QueryTurns TurnsOf(QueryPlan plan, IAnswerSink sink) =>
        new(time, plan.WorkLimit, sink, plan.IsChange ? null : LongSearches, stopping);

    private static void CheckMetadata(QueryPlan plan, bool metadataOnly)
    {
        if (metadataOnly && plan.Scan is { HasMetadata: false })
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'metadataOnly' of a query whose results are no whole documents is not supported by this version: "
                    + "leave it out, or ask without 'select', 'group by' and a reduce."
            );
        }
    }

    /// <summary>
    /// The query as the static index that it names answers it now, which may have been replaced while the query waited
    /// for it; null when it was not.
    /// </summary>
    private QueryPlan? TryRenew(Database database, QueryPlan plan) =>
        plan is { Named.Rows: { } asked, Again: { } again }
        && Indexed.ReadRows(database, asked.IndexName)?.IsSameDefinition(asked) is false
            ? again()
            : null;
}
