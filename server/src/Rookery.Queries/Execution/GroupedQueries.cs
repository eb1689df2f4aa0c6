using Rookery.Documents.Databases;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Execution;

/// <summary>
/// Answers grouped queries from the automatic map/reduce indexes of a node, as <see cref="IndexedQueries"/> does those
/// of documents. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes.</param>
public sealed class GroupedQueries(IndexHost indexes)
{
    /// <summary>When a page is found by walking over the terms of its order; null as costs say.</summary>
    internal OrderWalk? Walk { get; init; }

    /// <summary>Chooses the index that answers a grouped query.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="plan">The query.</param>
    public IndexChoice ChooseIndex(Database database, ScanPlan plan)
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
                        $"Documents are looked at: one of them has more groups or longer values than {name} holds."
                    ),
                ]
            )
            : choice;
    }

    /// <summary>Answers a grouped query from an index as it is now.</summary>
    /// <param name="database">Whose documents are asked for.</param>
    /// <param name="indexName">The index, of which <see cref="ChooseIndex"/> says that it is built.</param>
    /// <param name="plan">The query.</param>
    /// <param name="share">What the answer holds is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    /// <param name="needsTotal">Whether results behind the page are counted; without that fewer postings are
    /// read.</param>
    /// <param name="atLeast">The etag through which the answer has to follow the documents.</param>
    /// <returns>The answer, to be disposed; null when there is no such index on this node, it does not hold all
    /// documents, or it was reset and is behind that etag.</returns>
    /// <exception cref="QueryException">The time or the memory of the query is used up.</exception>
    public GroupAnswer? TryAnswer(
        Database database,
        string indexName,
        ScanPlan plan,
        MemoryShare share,
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
            return GroupAnswer.TryFind(snapshot, map, plan, share, clock, needsTotal, Walk);
        }
        catch (ObjectDisposedException)
        {
            return null; // it was replaced or reset a moment ago
        }
        catch (Exception damaged) when (RunningIndex.IsDamage(damaged))
        {
            indexes.BuildAgain(slot.Serving, damaged);
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
            return true; // whoever asks it finds out
        }
    }
}
