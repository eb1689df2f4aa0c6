using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Chooses what the answer of a query rests on: has the index made that it needs, and waits for it as long as the query
/// may.
/// </summary>
internal static class BasisChooser
{
    private const string LookedUp = "Documents are looked up: nothing but ids narrows the query.";

    /// <summary>How long a query waits that did not ask to: then it is answered as well as it can be.</summary>
    public static readonly TimeSpan UnaskedWait = TimeSpan.FromSeconds(1.5);

    // For a query that needs an index. Only an index answers such a query well, so it waits as long as one that asks
    // to; then all documents are scanned twice.
    private static readonly TimeSpan BuildWait = QueryRequest.UsualWait;

    /// <summary>
    /// Chooses, and waits. Behind the read barrier: what was acknowledged before the query came, it answers, or says
    /// that it is stale.
    /// </summary>
    /// <param name="engine">What answers.</param>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="plan">What is asked.</param>
    /// <param name="sink">Takes the answer; when its client leaves, it is waited for no longer.</param>
    /// <exception cref="QueryException">The query was to wait for an index, which did not come so far in time; it needs
    /// one that could not be made; or it names one that this node does not keep
    /// (<see cref="QueryFault.IndexUnavailable"/>), or that lacks what it needs
    /// (<see cref="QueryFault.Invalid"/>).</exception>
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

        // Almost always: then nothing is waited for.
        bool isThere = choice.ToDefine is null && (choice.IsBuilt || choice.NeedsIndex);
        return isThere && engine.Indexes.ReadPosition(database, name) is { } position && position.VisibleEtag >= cutOff
            ? new(new QueryBasis(name, name, false, position.VisibleEtag, position.LastIndexed))
            : WaitAsync(engine, database, plan, choice, name, cutOff, sink);
    }

    /// <summary>What the answer of a query would rest on, and why. Nothing is made, and nothing waited for.</summary>
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
        // A half-built index would look complete. One that the query names answers with what it has, as in RavenDB, and
        // is stale.
        bool mayScan = !choice.IsBuilt && plan.Named is null;
        if (
            choice.ToDefine is { } definition
            && await engine.AutomaticIndexes.DefineAsync(database, definition).WaitAsync(engine.Stopping) is { } refusal
        )
        {
            return mayScan ? new QueryBasis(name, null, false, cutOff, null) : throw new QueryException(refusal);
        }

        // One that others have made, and that is not built yet, is built for some time: the documents are there now.
        bool isReached =
            (choice.ToDefine is not null || choice.NeedsIndex || !mayScan)
            && await WaitAsync(
                engine,
                database,
                name,
                cutOff,
                plan.Wait ?? (mayScan && choice.NeedsIndex ? BuildWait : UnaskedWait),
                sink
            );
        return isReached || !mayScan
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
