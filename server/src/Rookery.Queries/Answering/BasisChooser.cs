using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
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
    private const string LookedUp = "Documents are read directly: only the collection or ids restrict the query.";

    /// <summary>
    /// Time to wait for an index if the query sets no wait. Afterwards the answer is stale, or comes from a scan.
    /// </summary>
    public static readonly TimeSpan ImplicitWait = TimeSpan.FromSeconds(1.5);

    // Time to wait for an index that is being built, if the query sets no wait and a scan would be expensive.
    // Afterwards the documents are scanned nevertheless.
    private static readonly TimeSpan BuildWait = QueryRequest.DefaultWait;

    /// <summary>
    /// Chooses the basis and waits for the index. The caller has passed the read barrier, so the answer includes every
    /// write acknowledged before the query arrived, or reports itself as stale.
    /// </summary>
    /// <param name="engine">The engine that runs the query.</param>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The plan of the query.</param>
    /// <param name="sink">Receives the answer. The wait ends when its client disconnects.</param>
    /// <exception cref="QueryException">The index did not catch up within the query's own wait; a needed index could
    /// not be defined; or the named index does not run on this node (<see cref="QueryFault.IndexUnavailable"/>) or
    /// lacks a field that the query needs (<see cref="QueryFault.Invalid"/>).</exception>
    public static ValueTask<QueryBasis> ChooseAsync(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        IAnswerSink sink
    )
    {
        long cutOff = database.LastEtag;
        if (plan.Scan is null)
        {
            return new(new QueryBasis(plan.IndexName, null, false, cutOff, null));
        }

        var choice = ChoiceOf(engine, database, plan, explains: false);
        if (choice.IndexName is not { } name)
        {
            return new(new QueryBasis(plan.IndexName, null, false, cutOff, null));
        }

        engine.AutomaticIndexes.NoteUse(database, name);

        // The usual case: the index is up to date, so there is no wait.
        bool isThere = choice.ToDefine is null && (choice.IsBuilt || choice.NeedsIndex);
        return isThere && engine.Indexes.ReadPosition(database, name) is { } position && position.VisibleEtag >= cutOff
            ? new(new QueryBasis(name, name, false, position.VisibleEtag, position.LastIndexed))
            : WaitAsync(engine, database, plan, choice, name, cutOff, sink);
    }

    /// <summary>Returns the basis that the query would get, with reasons. Defines no index and does not wait.</summary>
    public static IndexChoice Explain(QueryEngine engine, Database database, QueryPlan plan) =>
        plan.Scan is null
            ? new IndexChoice(null, null, IsBuilt: false, NeedsIndex: false, [PlanReason.OfDocuments(LookedUp)])
            : ChoiceOf(engine, database, plan, explains: true);

    private static IndexChoice ChoiceOf(QueryEngine engine, Database database, QueryPlan plan, bool explains)
    {
        if (
            plan.Named is { } asked
            && engine.Indexes.ReadPosition(database, asked.Name) is null
            && engine.Indexes.WhyNotKept(database, asked.Name) is { } why
        )
        {
            throw new QueryException(
                QueryFault.IndexUnavailable,
                $"The index '{asked.Name}' is not kept on this node. {why}"
            );
        }

        return plan.Named is not { } named
            ? plan.Scan!.IsGrouped
                ? engine.Grouped.ChooseIndex(database, plan.Scan)
                : engine.Indexed.ChooseIndex(database, plan.Query, plan.Scan.Target, explains)
            : named.Automatic is { } automatic && IndexedQueries.WhyUnable(plan.Query, automatic) is { } unable
                ? throw new QueryException(
                    QueryFault.Invalid,
                    $"The index '{named.Name}' {unable}",
                    plan.Query.Source.Position
                )
                : new IndexChoice(
                    named.Name,
                    null,
                    IsBuilt: engine.Indexes.ReadPosition(database, named.Name) is { VisibleEtag: > 0 },
                    NeedsIndex: true,
                    explains ? [new PlanReason(named.Name, "The query names it.", IsChosen: true)] : []
                );
    }

    private static async ValueTask<QueryBasis> WaitAsync(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        IndexChoice choice,
        string name,
        long cutOff,
        IAnswerSink sink
    )
    {
        // A half-built index would give an answer that looks complete, so an unnamed index is replaced by a scan until
        // it is built. A named index answers with what it has and is reported as stale, as in RavenDB.
        bool mayScan = !choice.IsBuilt && plan.Named is null;
        if (
            choice.ToDefine is { } definition
            && await engine.AutomaticIndexes.DefineAsync(database, definition).WaitAsync(engine.Stopping) is { } refusal
        )
        {
            return mayScan ? new QueryBasis(name, null, false, cutOff, null) : throw new QueryException(refusal);
        }

        // Waits, except if the documents can be scanned and the index existed before and is still being built, which
        // may take long.
        bool isReached =
            (choice.ToDefine is not null || choice.NeedsIndex || !mayScan)
            && await WaitAsync(
                engine,
                database,
                name,
                cutOff,
                plan.Wait ?? (mayScan && choice.NeedsIndex ? BuildWait : ImplicitWait),
                sink
            );

        // An automatic index may have been deleted since it was chosen.
        bool isGone = !isReached && plan.Named is null && engine.Indexes.ReadPosition(database, name) is null;
        return isReached || (!mayScan && !isGone)
            ? Answering(engine, database, plan, name, isReached, cutOff)
            : new QueryBasis(name, null, false, cutOff, null);
    }

    private static async Task<bool> WaitAsync(
        QueryEngine engine,
        Database database,
        string name,
        long cutOff,
        TimeSpan patience,
        IAnswerSink sink
    )
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(sink.Left, engine.Stopping);
        return await engine.Indexes.WaitAsync(database, name, cutOff, patience, ending.Token);
    }

    private static QueryBasis Answering(
        QueryEngine engine,
        Database database,
        QueryPlan plan,
        string name,
        bool isReached,
        long cutOff
    )
    {
        if (!isReached && plan.Wait is { } waited)
        {
            throw new QueryException(
                QueryFault.IndexBehind,
                $"The index '{name}' {IndexDelay.Why(engine.Indexes, database, name, waited)}, or take a stale answer."
            );
        }

        var (visible, lastIndexed) = engine.Indexes.ReadPosition(database, name) ?? (0, null);
        return new QueryBasis(name, name, !isReached, isReached ? Math.Max(cutOff, visible) : visible, lastIndexed);
    }
}
