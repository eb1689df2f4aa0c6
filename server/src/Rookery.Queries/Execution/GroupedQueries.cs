using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answers grouped queries from the automatic map-reduce indexes of a node. <see cref="IndexedQueries"/> does the same
/// for indexes of documents. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes.</param>
public sealed class GroupedQueries(IndexHost indexes)
{
    /// <summary>
    /// Decides when a page is found by walking the sort field's terms in order; null to decide by cost.
    /// </summary>
    internal OrderWalk? Walk { get; init; }

    /// <summary>Chooses the index that answers a grouped query.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="plan">The compiled query.</param>
    public IndexChoice ChooseIndex(Database database, CompiledQuery plan)
    {
        var choice = IndexChooser
            .ChooseForGroups(
                plan,
                () => IndexedQueries.DocumentsOf(database, plan.Target.Collection),
                indexes.ReadAutoReduces(database)
            )
            .Within(indexes.Quota);
        return choice is { IsBuilt: true, IndexName: { } name } && !HoldsAll(database, name)
            ? new IndexChoice(
                null,
                null,
                false,
                false,
                [
                    .. choice.Reasons.Select(static reason => reason with { IsChosen = false }),
                    PlanReason.OfDocuments(
                        $"Documents are scanned: one of them has more groups or longer values than {name} holds."
                    ),
                ]
            )
            : choice;
    }

    /// <summary>Answers a grouped query from the index's present snapshot.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="indexName">The index, which <see cref="ChooseIndex"/> reported as built.</param>
    /// <param name="plan">The compiled query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="clock">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted, which reads more postings.</param>
    /// <param name="atLeast">The etag through which the index must have indexed.</param>
    /// <returns>The answer, which the caller disposes. Null if the index does not exist on this node, could not include
    /// some document, or was reset and has not reached that etag.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public GroupAnswer? TryAnswer(
        Database database,
        string indexName,
        CompiledQuery plan,
        QueryMemory memory,
        IScanClock clock,
        bool needsTotal = true,
        long atLeast = 0
    )
    {
        if (
            plan is not { Groups: { } groups, Summary: null }
            || !indexes.TryGetSlot(database, indexName, out var slot)
            || slot.Serving is not { Map: AutoReduceMap map, VisibleEtag: > 0 and var visible }
            || visible < atLeast
            || !map.Definition.Covers(AutoReduceDefinition.Of(plan.Target.Collection, groups))
        )
        {
            return null;
        }

        try
        {
            using var snapshot = slot.Serving.Store.OpenSnapshot();
            return GroupAnswer.TryFind(snapshot, map, plan, memory, clock, needsTotal, Walk);
        }
        catch (ObjectDisposedException)
        {
            return null; // the index was replaced or reset a moment ago
        }
        catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
        {
            indexes.Rebuild(slot.Serving, damaged);
            return null;
        }
    }

    private bool HoldsAll(Database database, string indexName)
    {
        if (!indexes.TryGetSlot(database, indexName, out var slot) || slot.Serving.Map is not AutoReduceMap map)
        {
            return true;
        }

        try
        {
            using var snapshot = slot.Serving.Store.OpenSnapshot();
            return GroupAnswer.HoldsAll(snapshot, map);
        }
        catch (Exception failure) when (failure is ObjectDisposedException || RunningIndex.IsDamage(failure))
        {
            return true; // the search itself will fail the same way
        }
    }
}
