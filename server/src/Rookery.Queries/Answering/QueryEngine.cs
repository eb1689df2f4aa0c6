using Rookery.Documents.Databases;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Answers queries: <see cref="Plan"/> parses and plans a query. <see cref="ExecuteAsync"/> chooses an index or a scan,
/// defines and awaits a missing index, and opens the results. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes of the node.</param>
/// <param name="automaticIndexes">Defines the automatic indexes that queries need.</param>
/// <param name="memory">The memory that answers reserve from.</param>
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
    // An answer needs the snapshot of the documents that the index reflects. The node may have released that snapshot,
    // and a document may change before the index is searched. Then the basis is chosen again, after the index includes
    // the change. After this many failures the node is likely short of memory or disk space, and the answer is stale.
    private const int MaxChoicesOfBasis = 3;

    internal IndexHost Indexes => indexes;

    internal IAutomaticIndexes AutomaticIndexes => automaticIndexes;

    internal TimeProvider Time => time;

    internal CancellationToken Stopping => stopping;

    /// <summary>Limits the number of simultaneous long index searches.</summary>
    internal LongSearches LongSearches { get; } = new(LongSearches.DefaultPlaces);

    /// <summary>Searches indexes of documents.</summary>
    internal IndexedQueries Indexed { get; } = new(indexes);

    /// <summary>Searches automatic map/reduce indexes.</summary>
    internal GroupedQueries Grouped { get; } = new(indexes);

    /// <summary>Parses the text of a query, and plans it.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="request">The query.</param>
    /// <exception cref="QueryException">The text is not a query, the query needs a feature that this version lacks, or
    /// the named index does not exist.</exception>
    public QueryPlan Plan(Database database, QueryRequest request) => QueryPlan.Read(request, database, Indexed);

    /// <summary>
    /// Plans a query whose results are patched or deleted. The results are all matching documents, not parts of them.
    /// The query has no time limit, and reads a new snapshot after each pause.
    /// </summary>
    /// <param name="database">The queried database.</param>
    /// <param name="query">The parsed query.</param>
    /// <param name="request">The request that contained the query.</param>
    /// <param name="wait">How long to wait for a lagging index before the query is refused; null if a stale answer is
    /// acceptable.</param>
    /// <exception cref="QueryException">The query needs a feature that this version lacks, has a clause that makes no
    /// sense for a change, or names an index that does not exist.</exception>
    public QueryPlan PlanChange(Database database, Query query, QueryRequest request, TimeSpan? wait) =>
        QueryPlan.ReadForChange(query, request, database, Indexed, wait);

    /// <summary>
    /// Returns the basis (an index, a read by ids, or a scan) that the query would get, with reasons. Defines no index
    /// and does not wait.
    /// </summary>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The plan.</param>
    /// <param name="sink">Reports when the client disconnects.</param>
    /// <returns>The choice, and the number of postings that an answer by a built index reads; the number is null if no
    /// built index is chosen.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory; or the named index does not run on this
    /// node (<see cref="QueryFault.IndexUnavailable"/>) or lacks a field that the query needs
    /// (<see cref="QueryFault.Invalid"/>).</exception>
    public (IndexChoice Choice, long? PostingsRead) Explain(Database database, QueryPlan plan, IAnswerSink sink)
    {
        var choice = BasisChooser.Explain(this, database, plan);
        if (choice is not { IsBuilt: true, IndexName: { } name })
        {
            return (choice, null);
        }

        var slices = CreateTimeSlices(plan, sink);
        var compiled = plan.Compiled!;
        var queryMemory = new QueryMemory(memory);
        plan.UseMemory(queryMemory);
        using var search = slices.StartSearch();
        using var groups = compiled.IsGrouped ? Grouped.TryAnswer(database, name, compiled, queryMemory, slices) : null;
        using var documents = compiled.IsGrouped
            ? null
            : Indexed.TryAnswer(database, name, compiled, queryMemory, slices);
        return (choice, groups?.PostingsRead ?? documents?.PostingsRead);
    }

    /// <summary>
    /// Opens the answer to a query. The caller has passed the read barrier, so the answer includes every write
    /// acknowledged before the query arrived, or reports itself as stale. If the chosen index is reset before it is
    /// searched, the choice and the wait are repeated.
    /// </summary>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The plan; outlives the answer.</param>
    /// <param name="sink">Receives the answer.</param>
    /// <param name="metadataOnly">Whether to return only the metadata of whole documents.</param>
    /// <param name="onBasisChosen">Called after each choice of the basis.</param>
    /// <returns>The answer, positioned before its first result. Sorted or grouped results are already computed
    /// completely.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory; the index did not catch up within the
    /// query's own wait; a needed index could not be defined or is not available; the named index lacks a field that
    /// the query needs; or only metadata is wanted and the results are not whole documents.</exception>
    /// <exception cref="IndexDamagedException">An index cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    /// <remarks>The sink may throw an exception of its own if no memory is free in time (HTTP: 429).</remarks>
    public async ValueTask<QueryAnswer> ExecuteAsync(
        Database database,
        QueryPlan plan,
        IAnswerSink sink,
        bool metadataOnly = false,
        Action? onBasisChosen = null
    )
    {
        RefuseMetadataOfPartialResults(plan, metadataOnly);
        var queryMemory = new QueryMemory(memory);
        var reader = new AnswerReader(database, plan.IsChange ? null : sink);
        var current = plan;
        QueryPlan? replanned = null; // disposed with the answer; the caller disposes 'plan'
        IQueryResults? results = null;
        try
        {
            long begun = time.GetTimestamp();
            int choicesWithoutSnapshot = 0;
            QueryBasis? stale = null;
            long? missedEtag = null;
            while (true)
            {
                reader.ReleaseSnapshot();
                // An earlier attempt may have found the models of moreLikeThis in an older state of the index.
                current.Compiled?.ClearModels();
                var waited = time.GetElapsedTime(begun);
                var basis =
                    stale ?? await BasisChooser.ChooseAsync(this, database, current, sink, waited, missedEtag ?? 0);

                if (ReplanIfRedefined(database, current) is { } newer)
                {
                    replanned?.Dispose();
                    current = replanned = newer;
                    RefuseMetadataOfPartialResults(newer, metadataOnly);
                }
                onBasisChosen?.Invoke();
                current.UseMemory(queryMemory);
                (results, basis, missedEtag) = await DocumentQueries.TryOpenAsync(
                    this,
                    queryMemory,
                    reader,
                    current,
                    basis,
                    sink,
                    metadataOnly
                );
                if (results is not null)
                {
                    return new QueryAnswer(this, queryMemory, reader, current, replanned, basis, results, sink);
                }

                stale =
                    missedEtag is not null && ++choicesWithoutSnapshot >= MaxChoicesOfBasis
                        ? BasisChooser.AsStale(current, basis, choicesWithoutSnapshot)
                        : null;
            }
        }
        catch
        {
            results?.Dispose();
            replanned?.Dispose();
            reader.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Opens the answer to a query that needs no wait for an index. Returns null if the query needs a wait, or if its
    /// index is reset meanwhile: <see cref="ExecuteAsync"/> then waits, or defines an index.
    /// </summary>
    /// <inheritdoc cref="ExecuteAsync"/>
    public async ValueTask<QueryAnswer?> TryExecuteAtOnceAsync(Database database, QueryPlan plan, IAnswerSink sink)
    {
        if (BasisChooser.TryChooseAtOnce(this, database, plan) is not { } chosen)
        {
            return null;
        }

        if (ReplanIfRedefined(database, plan) is { } newer)
        {
            newer.Dispose();
            return null;
        }

        var queryMemory = new QueryMemory(memory);
        var reader = new AnswerReader(database, sink);
        IQueryResults? results = null;
        try
        {
            plan.UseMemory(queryMemory);
            (results, var basis, _) = await DocumentQueries.TryOpenAsync(
                this,
                queryMemory,
                reader,
                plan,
                chosen,
                sink,
                metadataOnly: false
            );
            if (results is not null)
            {
                return new QueryAnswer(this, queryMemory, reader, plan, ownPlan: null, basis, results, sink);
            }

            reader.Dispose();
            return null;
        }
        catch
        {
            results?.Dispose();
            reader.Dispose();
            throw;
        }
    }

    /// <summary>Creates the time slices of an answer, which limit its work.</summary>
    internal QueryTimeSlices CreateTimeSlices(QueryPlan plan, IAnswerSink sink) =>
        new(time, plan.WorkLimit, sink, plan.IsChange ? null : LongSearches, stopping);

    private static void RefuseMetadataOfPartialResults(QueryPlan plan, bool metadataOnly)
    {
        if (metadataOnly && plan.Compiled is { HasMetadata: false })
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'metadataOnly' is supported only if the results are whole documents: "
                    + "leave it out, or query without 'select', 'group by' and a reduce."
            );
        }
    }

    /// <summary>
    /// Plans the query again if the definition of the static index that it names changed during the wait; otherwise
    /// returns null.
    /// </summary>
    private QueryPlan? ReplanIfRedefined(Database database, QueryPlan plan)
    {
        if (plan is not { NamedIndex.Rows: { } planned, Replan: { } replan })
        {
            return null;
        }

        var current = Indexed.FindRowSource(database, planned.IndexName);
        bool isRedefined = current is not null && !current.IsSameDefinition(planned);
        return isRedefined ? replan() : null;
    }
}
