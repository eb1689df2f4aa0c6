using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Language;

namespace Rookery.Queries.Planning;

/// <summary>
/// The automatic indexes that hold all that one query needs: remembered, so that it is not computed again. Which ones
/// there are changes seldom; which of them answers is looked at each time, because it depends on how far they are. What
/// it remembers are names: it keeps no index open that is gone. Thread-safe.
/// </summary>
internal sealed class KnownIndexes
{
    private readonly WeakReference<object> _of;
    private readonly string[] _lowerNames;

    private KnownIndexes(object of, string[] lowerNames) => (_of, _lowerNames) = (new(of), lowerNames);

    /// <summary>Finds them.</summary>
    /// <param name="query">The query.</param>
    /// <param name="slots">The indexes of the database, by lower-cased name, as they are at a moment.</param>
    public static KnownIndexes Of(Query query, IReadOnlyDictionary<string, IndexSlot> slots)
    {
        var needed = AutoIndexNeeds.Of(query, out _);
        return new KnownIndexes(
            slots,
            needed is null
                ? []
                :
                [
                    .. slots
                        .Where(slot =>
                            slot.Value.Serving.Map is AutoIndexMap { Definition: var held } && held.Covers(needed)
                        )
                        .OrderBy(static slot => ((AutoIndexMap)slot.Value.Serving.Map).Definition.Fields.Count)
                        .ThenBy(static slot => slot.Value.Serving.Record.Name, StringComparer.Ordinal)
                        .Select(static slot => slot.Key),
                ]
        );
    }

    /// <summary>Whether they are of these indexes.</summary>
    public bool AreOf(IReadOnlyDictionary<string, IndexSlot> slots) =>
        _of.TryGetTarget(out object? of) && ReferenceEquals(of, slots);

    /// <summary>
    /// The one that <see cref="AutoIndexChoice.For"/> would choose: of those that are at work the freshest, and of
    /// equals the one with the least in it. Null where all are stopped.
    /// </summary>
    public RunningIndex? Choose(IReadOnlyDictionary<string, IndexSlot> slots)
    {
        RunningIndex? chosen = null;
        long freshest = -1;
        foreach (string name in _lowerNames)
        {
            var index = slots[name].Serving;
            long visible = index.VisibleEtag;
            if (visible > freshest && index.State is not (IndexState.Disabled or IndexState.Error))
            {
                (chosen, freshest) = (index, visible);
            }
        }

        return chosen;
    }
}
