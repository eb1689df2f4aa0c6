using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Chooses whether an answer reads documents by id, searches an index or scans documents. Defines a missing automatic
/// index, and waits until the index has caught up.
/// </summary>
internal static class BasisChooser
{
    private const string ReadDirectlyReason =
        "Documents are read directly: only the collection or ids restrict the query.";

    /// <summary>
    /// Time to wait for an index if the query sets no wait. Afterwards the answer is stale, or comes from a scan.
    /// </summary>
    public static readonly TimeSpan ImplicitWait = TimeSpan.FromSeconds(1.5);

    // Time that a query waits for the definition of its index, although a scan answers the query.
    private static readonly TimeSpan DefinitionWait = TimeSpan.FromMilliseconds(500);

    // Time to wait for an index that is being built, if the query sets no wait and a scan would be expensive.
    // Afterwards the documents are scanned nevertheless.
    private static readonly TimeSpan BuildWait = QueryRequest.DefaultWait;

    // Time to wait until this node opens the named index, which the log has just defined. Without the index there is no
    // answer, not even a stale one, and RavenDB's clients do not repeat a refused request at a single node.
    private static readonly TimeSpan OpeningWait = QueryRequest.DefaultWait;

    /// <summary>
    /// Chooses the basis and waits for the index. The caller has passed the read barrier, so the answer includes every
    /// write acknowledged before the query arrived, or reports itself as stale.
    /// </summary>
    /// <param name="engine">The engine that runs the query.</param>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The plan of the query.</param>
    /// <param name="sink">Receives the answer. The wait ends when its client disconnects.</param>
    /// <param name="waited">How long the query has waited already; this time shortens the wait.</param>
    /// <param name="missedEtag">Etag of a further change that the index must include; 0 for none.</param>
    /// <exception cref="QueryException">The index did not catch up within the query's own wait; a needed index could
    /// not be defined; or the named index does not run on this node (<see cref="QueryFault.IndexUnavailable"/>) or
    /// lacks a field that the query needs (<see cref="QueryFault.Invalid"/>).</exception>
    public static ValueTask<QueryBasis> ChooseAsync(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        IAnswerSink sink,
        TimeSpan waited = default,
        long missedEtag = 0
    )
    {
        // A change is visible to readers shortly before the database's etags include it. So the database's etag may be
        // below the missed one.
        long newestEtag = Math.Max(missedEtag, NewestEtag(engine, database, plan));
        if (plan.Compiled is null)
        {
            return new(QueryBasis.OfDocuments(plan.IndexName, newestEtag));
        }
        var choice = ChooseIndex(engine, database, plan, explains: false);
        if (choice.IndexName is not { } name)
        {
            RecordUseOfUnheld(engine, database, choice);
            return new(QueryBasis.OfDocuments(plan.IndexName, newestEtag));
        }
        engine.AutomaticIndexes.RecordUse(database, name);
        return TryUse(engine, database, choice, name, newestEtag) is { } current
            ? new(current)
            : DefineAndWaitAsync(engine, database, plan, choice, name, newestEtag, sink, waited);
    }

    /// <summary>
    /// Returns the basis of a query that needs no wait: an index that is up to date, or the documents if no index suits
    /// better. Null if an index must be defined or awaited.
    /// </summary>
    /// <param name="engine">The engine that runs the query.</param>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The plan of the query.</param>
    /// <exception cref="QueryException">As <see cref="ChooseAsync"/>.</exception>
    public static QueryBasis? TryChooseAtOnce(QueryEngine engine, Database database, QueryPlan plan)
    {
        long newestEtag = NewestEtag(engine, database, plan);
        if (plan.Compiled is null)
        {
            return QueryBasis.OfDocuments(plan.IndexName, newestEtag);
        }

        var choice = ChooseIndex(engine, database, plan, explains: false);
        if (choice.IndexName is not { } name)
        {
            RecordUseOfUnheld(engine, database, choice);
            return QueryBasis.OfDocuments(plan.IndexName, newestEtag);
        }

        var basis = TryUse(engine, database, choice, name, newestEtag);
        if (basis is null && choice.ToDefine is null && (NeedsScan(plan) || IsScannedMeanwhile(database, plan, choice)))
        {
            basis = QueryBasis.OfDocuments(name, newestEtag);
        }

        if (basis is null)
        {
            return null;
        }

        engine.AutomaticIndexes.RecordUse(database, name);
        return basis;
    }

    // An automatic index that would answer, if it could hold all documents, counts as used. Otherwise it would be
    // deleted and built again in vain.
    private static void RecordUseOfUnheld(QueryEngine engine, Database database, IndexChoice choice)
    {
        if (choice.UnheldIndex is { } unheld)
        {
            engine.AutomaticIndexes.RecordUse(database, unheld);
        }
    }

    // The usual case: the index is up to date, so the query does not wait. Null in all other cases.
    private static QueryBasis? TryUse(
        QueryEngine engine,
        Database database,
        IndexChoice choice,
        string name,
        long newestEtag
    )
    {
        bool mayBeSearched = choice.ToDefine is null && (choice.IsBuilt || choice.IsScanExpensive);
        if (
            !mayBeSearched
            || engine.Indexes.ReadPosition(database, name) is not { } position
            || position.ConsistentEtag < newestEtag
        )
        {
            return null;
        }

        return new QueryBasis(
            IndexName: name,
            SearchedIndex: name,
            IsStale: false,
            ResultEtag: position.ConsistentEtag,
            Timestamp: position.LastIndexed
        );
    }

    /// <summary>
    /// Returns a basis as stale, because at each try the node no longer held the snapshot of the documents that the
    /// index reflects.
    /// </summary>
    /// <param name="plan">The plan of the query.</param>
    /// <param name="basis">The basis, an index.</param>
    /// <param name="tries">How often an index was chosen, and documents changed before they were read.</param>
    /// <exception cref="QueryException">The query requires an answer that is not stale.</exception>
    public static QueryBasis AsStale(QueryPlan plan, QueryBasis basis, int tries) =>
        plan.Wait is null
            ? basis with
            {
                IsStale = true,
            }
            : throw new QueryException(
                QueryFault.IndexBehind,
                $"The index '{basis.IndexName}' caught up {tries} times. Each time, documents changed before the query "
                    + "read them, and this node held no snapshot of the state before. Retry the query, or take a stale "
                    + "answer."
            );

    /// <summary>Returns the basis that the query would get, with reasons. Defines no index and does not wait.</summary>
    public static IndexChoice Explain(QueryEngine engine, Database database, QueryPlan plan) =>
        plan.Compiled is null
            ? IndexChoice.Scan([PlanReason.OfDocuments(ReadDirectlyReason)])
            : ChooseIndex(engine, database, plan, explains: true);

    private static IndexChoice ChooseIndex(QueryEngine engine, Database database, QueryPlan plan, bool explains)
    {
        if (plan.NamedIndex is not { } named)
        {
            return plan.Compiled!.IsGrouped
                ? engine.Grouped.ChooseIndex(database, plan.Compiled)
                : engine.Indexed.ChooseIndex(database, plan.Query, plan.Compiled.Target, explains);
        }
        var position = engine.Indexes.ReadPosition(database, named.Name);
        if (position is null && engine.Indexes.WhyNotMaintained(database, named.Name) is { } why)
        {
            throw new QueryException(
                QueryFault.IndexUnavailable,
                $"The index '{named.Name}' is not maintained on this node. {why}"
            );
        }
        if (named.Automatic is { } automatic && IndexedQueries.ExplainWhyUnable(plan.Query, automatic) is { } unable)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"The index '{named.Name}' {unable}",
                plan.Query.Source.Position
            );
        }
        return new IndexChoice(
            named.Name,
            ToDefine: null,
            IsBuilt: position is { VisibleEtag: > 0 }, // 0 while the index is built for the first time
            IsScanExpensive: true,
            explains ? [new PlanReason(named.Name, "The query names it.", IsChosen: true)] : []
        );
    }

    private static async ValueTask<QueryBasis> DefineAndWaitAsync(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        IndexChoice choice,
        string name,
        long newestEtag,
        IAnswerSink sink,
        TimeSpan waited
    )
    {
        // A half-built automatic index would give an answer that looks complete, so a scan answers until the index is
        // built. A named index answers with what it has and is reported as stale, as in RavenDB.
        bool mayScan = !choice.IsBuilt && plan.NamedIndex is null;
        if (IsScannedMeanwhile(database, plan, choice))
        {
            if (
                choice.ToDefine is { } defined
                && engine.Indexes.Quota.HasRoomForFewDocuments
                && !engine.AutomaticIndexes.HaveFailedLately
            )
            {
                await DefineMeanwhileAsync(engine, database, defined);
            }

            return QueryBasis.OfDocuments(name, newestEtag);
        }

        if (choice.ToDefine is { } definition && await DefineAsync(engine, database, definition, sink) is { } refusal)
        {
            return mayScan ? QueryBasis.OfDocuments(name, newestEtag) : throw new QueryException(refusal);
        }
        // An index that existed before and is still being built may take long, so the documents are scanned at once
        // instead of waiting for the index, unless a scan would be expensive.
        bool scansAtOnce = NeedsScan(plan) || (mayScan && choice.ToDefine is null && !choice.IsScanExpensive);
        if (scansAtOnce)
        {
            return QueryBasis.OfDocuments(name, newestEtag);
        }

        if (plan is { Wait: null, NamedIndex: not null } && engine.Indexes.ReadPosition(database, name) is null)
        {
            await WaitForIndexAsync(engine, database, name, newestEtag: 0, OpeningWait - waited, sink);
        }

        var implicitWait = mayScan && choice.IsScanExpensive ? BuildWait : ImplicitWait;
        var timeout = (plan.Wait ?? implicitWait) - waited;
        bool isCaughtUp = await WaitForIndexAsync(engine, database, name, newestEtag, timeout, sink);
        if (isCaughtUp)
        {
            return BasisOfIndex(engine, database, plan, name, isCaughtUp, newestEtag);
        }

        // An automatic index may have been deleted since it was chosen.
        bool isDeleted = plan.NamedIndex is null && engine.Indexes.ReadPosition(database, name) is null;
        return mayScan || isDeleted
            ? QueryBasis.OfDocuments(name, newestEtag)
            : BasisOfIndex(engine, database, plan, name, isCaughtUp, newestEtag);
    }

    // Whether only a scan can answer the query, such as one for facets. It waits for no index.
    private static bool NeedsScan(QueryPlan plan) =>
        plan is { NamedIndex: null, Compiled: { IsGrouped: false } compiled } && !IndexedQueries.CanAnswer(compiled);

    // Whether documents are scanned while the automatic index is not up to date, because they are few.
    private static bool IsScannedMeanwhile(Database database, QueryPlan plan, IndexChoice choice) =>
        plan is { Wait: null, NamedIndex: null }
        && !choice.IsScanExpensive
        && IndexedQueries.CountDocuments(database, plan.Compiled!.Target.Collection) <= IndexChooser.FewDocuments;

    // The definition itself continues if the client leaves: other queries may wait for it.
    private static async Task<Rejection?> DefineAsync(
        QueryEngine engine,
        Database database,
        IAutoDefinition definition,
        IAnswerSink sink
    )
    {
        using var clientOrNodeEnds = CancellationTokenSource.CreateLinkedTokenSource(
            sink.Disconnected,
            engine.Stopping
        );
        return await engine.AutomaticIndexes.DefineAsync(database, definition).WaitAsync(clientOrNodeEnds.Token);
    }

    // Waits for a short time, so that the index usually exists when the client gets the answer. The answer does not
    // fail if the definition fails.
    private static async Task DefineMeanwhileAsync(QueryEngine engine, Database database, IAutoDefinition definition)
    {
        var defining = engine.AutomaticIndexes.DefineAsync(database, definition);
        try
        {
            await defining.WaitAsync(DefinitionWait, engine.Time, engine.Stopping);
        }
        catch (Exception) when (!engine.Stopping.IsCancellationRequested)
        {
            engine.AutomaticIndexes.RecordFailure(); // so that the next queries do not wait, for example for a leader
            _ = defining.ContinueWith(
                static failed => failed.Exception,
                CancellationToken.None,
                TaskContinuationOptions.OnlyOnFaulted,
                TaskScheduler.Default
            );
        }
    }

    private static async Task<bool> WaitForIndexAsync(
        QueryEngine engine,
        Database database,
        string name,
        long newestEtag,
        TimeSpan timeout,
        IAnswerSink sink
    )
    {
        using var clientOrNodeEnds = CancellationTokenSource.CreateLinkedTokenSource(
            sink.Disconnected,
            engine.Stopping
        );
        return await engine.Indexes.WaitAsync(database, name, newestEtag, timeout, clientOrNodeEnds.Token);
    }

    private static QueryBasis BasisOfIndex(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        string name,
        bool isCaughtUp,
        long newestEtag
    )
    {
        if (!isCaughtUp && plan.Wait is { } wait)
        {
            throw Behind(engine, database, name, wait);
        }

        var (visible, consistent, lastIndexed) = engine.Indexes.ReadPosition(database, name) ?? (0, 0, null);
        return new QueryBasis(
            IndexName: name,
            SearchedIndex: name,
            IsStale: !isCaughtUp,
            // If the index caught up and was then reset, its visible etag is lower than this etag. The search then
            // refuses the index: a scan answers, or the choice and the wait are repeated.
            ResultEtag: isCaughtUp ? Math.Max(newestEtag, consistent) : visible,
            Timestamp: lastIndexed
        );
    }

    private static QueryException Behind(QueryEngine engine, Database database, string name, TimeSpan waited) =>
        new(
            QueryFault.IndexBehind,
            $"The index '{name}' {IndexDelay.Why(engine.Indexes, database, name, waited)}, or take a stale answer."
        );

    // The etag that the index must include. Included compare-exchange values and counters are read from the snapshot
    // that the index reflects, so that snapshot must contain their writes, too.
    private static long NewestEtag(QueryEngine engine, Database database, QueryPlan plan) =>
        plan.ReadsMoreThanDocuments ? database.LastEtag
        : plan.IndexName is { } name ? FreshEtag.Of(database, engine.Indexes, name)
        : database.LastEtagForIndexes;
}
