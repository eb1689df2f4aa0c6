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
/// Answers grouped queries from the automatic map/reduce indexes of a node. <see cref="IndexedQueries"/> does the same
/// for indexes of documents. Thread-safe.
/// </summary>
/// <param name="indexes">The indexes.</param>
public sealed class GroupedQueries(IndexHost indexes)
{
    /// <summary>
    /// Decides whether a page is found by walking the sort field's terms in order or by reading all matches; null to
    /// decide by cost.
    /// </summary>
    internal OrderWalk? OrderWalk { get; init; }

    /// <summary>Chooses the index that answers a grouped query.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="compiled">The compiled query.</param>
    public IndexChoice ChooseIndex(Database database, CompiledQuery compiled)
    {
        var choice = IndexChooser
            .ChooseForGroups(
                compiled,
                () => IndexedQueries.CountDocuments(database, compiled.Target.Collection),
                indexes.ReadAutoReduces(database)
            )
            .Within(indexes.Quota);
        if (choice is not { IsBuilt: true, IndexName: { } name } || HoldsAll(database, name))
        {
            return choice;
        }
        return IndexChoice.Scan([
            .. choice.Reasons.Select(static reason => reason with { IsChosen = false }),
            PlanReason.OfDocuments(
                $"Documents are scanned: one of them has more groups or longer values than the index '{name}' can hold."
            ),
        ]) with
        {
            UnheldIndex = name,
        };
    }

    /// <summary>Answers a grouped query from the newest state of an index.</summary>
    /// <param name="database">The queried database.</param>
    /// <param name="indexName">The index, which <see cref="ChooseIndex"/> reported as built.</param>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    /// <param name="needsTotal">Whether results after the page are counted, which reads more postings.</param>
    /// <param name="minimumEtag">The etag through which the index must have indexed.</param>
    /// <returns>The answer, which the caller disposes. Null if the index does not exist on this node, could not include
    /// some document, or was reset and has not reached that etag.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public GroupAnswer? TryAnswer(
        Database database,
        string indexName,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true,
        long minimumEtag = 0
    )
    {
        if (
            FindServing(database, indexName, compiled) is not { } serving
            || serving.VisibleEtag < Math.Max(1, minimumEtag)
        )
        {
            return null;
        }

        try
        {
            using var opened = OpenedIndex.OpenAlone(serving);
            return TrySearch(opened, compiled, memory, limits, needsTotal);
        }
        catch (ObjectDisposedException)
        {
            return null; // the index was replaced or reset meanwhile
        }
    }

    /// <inheritdoc cref="IndexedQueries.FindServing"/>
    internal RunningIndex? FindServing(Database database, string indexName, CompiledQuery compiled) =>
        compiled is { Groups: { } groups, Summary: null }
        && indexes.TryGetSlot(database, indexName, out var slot)
        && slot.Serving.Map is AutoReduceMap map
        && map.Definition.Covers(AutoReduceDefinition.Of(compiled.Target.Collection, groups))
            ? slot.Serving
            : null;

    /// <summary>
    /// As <see cref="IndexedQueries.TrySearch(OpenedIndex, CompiledQuery, QueryMemory, IWorkLimits, bool)"/>; null also
    /// if the index could not include some document, or is being built.
    /// </summary>
    internal GroupAnswer? TrySearch(
        OpenedIndex opened,
        CompiledQuery compiled,
        QueryMemory memory,
        IWorkLimits limits,
        bool needsTotal = true
    )
    {
        if (opened.Etag == 0)
        {
            return null;
        }

        try
        {
            using var snapshot = opened.Share();
            var map = (AutoReduceMap)opened.Index.Map;
            return GroupAnswer.TryFind(snapshot, map, compiled, memory, limits, needsTotal, OrderWalk);
        }
        catch (Exception damaged) when (IndexDamage.Is(damaged))
        {
            indexes.Rebuild(opened.Index, damaged);
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
            using var snapshot = slot.Serving.OpenSnapshot();
            return GroupAnswer.HoldsAll(snapshot, map);
        }
        catch (Exception failure) when (failure is ObjectDisposedException || IndexDamage.Is(failure))
        {
            return true; // the search itself will fail the same way
        }
    }
}
