using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Language;

namespace Rookery.Queries.Planning;

/// <summary>
/// Caches the names of the automatic indexes that cover one query, because the set of indexes seldom changes. Each
/// answer chooses anew among these indexes, because the choice depends on their progress. Holds names only, so a
/// deleted index is not kept open. Thread-safe.
/// </summary>
internal sealed class CoveringIndexes
{
    private readonly WeakReference<object> _source;
    private readonly string[] _lowerNames;

    private CoveringIndexes(object slots, string[] lowerNames) => (_source, _lowerNames) = (new(slots), lowerNames);

    /// <summary>Finds the indexes that cover a query.</summary>
    /// <param name="query">The query.</param>
    /// <param name="slots">The database's current indexes, by lower-case name. Adding or removing an index creates a
    /// new dictionary.</param>
    public static CoveringIndexes Of(Query query, IReadOnlyDictionary<string, IndexSlot> slots)
    {
        var needed = AutoIndexNeeds.Of(query, out _);
        return new CoveringIndexes(
            slots,
            needed is null
                ? []
                :
                [
                    .. slots
                        .Where(slot =>
                            slot.Value.Serving.Map is AutoIndexMap { Definition: var definition }
                            && definition.Covers(needed)
                        )
                        .OrderBy(static slot => ((AutoIndexMap)slot.Value.Serving.Map).Definition.Fields.Count)
                        .ThenBy(static slot => slot.Value.Serving.Record.Name, StringComparer.Ordinal)
                        .Select(static slot => slot.Key),
                ]
        );
    }

    /// <summary>Whether the cache was computed from this dictionary of indexes.</summary>
    public bool IsComputedFrom(IReadOnlyDictionary<string, IndexSlot> slots) =>
        _source.TryGetTarget(out object? source) && ReferenceEquals(source, slots);

    /// <summary>
    /// Chooses the index that <see cref="AutoIndexChoice.For"/> would choose among those that are neither disabled nor
    /// in error: the most up-to-date one, and among equals the one with the fewest fields. A paused index can be
    /// chosen. Returns null if there is none.
    /// </summary>
    public RunningIndex? Choose(IReadOnlyDictionary<string, IndexSlot> slots)
    {
        RunningIndex? chosen = null;
        long newestVisible = -1; // an index that has indexed nothing has 0
        foreach (string name in _lowerNames)
        {
            var index = slots[name].Serving;
            long visible = index.VisibleEtag;
            if (visible > newestVisible && index.State is not (IndexState.Disabled or IndexState.Error))
            {
                (chosen, newestVisible) = (index, visible);
            }
        }

        return chosen;
    }
}
