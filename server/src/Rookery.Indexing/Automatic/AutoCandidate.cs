using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>An existing automatic index that may answer a query.</summary>
/// <param name="Name">The name of the index.</param>
/// <param name="Definition">The definition of the index.</param>
/// <param name="State">The state of the index on this node.</param>
/// <param name="VisibleEtag">The index's results include all changes of documents through this etag; 0 while the index
/// is built for the first time.</param>
/// <typeparam name="TDefinition">The kind of the definition.</typeparam>
public sealed record AutoCandidate<TDefinition>(string Name, TDefinition Definition, IndexState State, long VisibleEtag)
    where TDefinition : IAutoDefinition<TDefinition>
{
    /// <summary>Whether the index was built and can answer; a paused index answers with what it has.</summary>
    public bool IsBuilt => VisibleEtag > 0 && State is (IndexState.Normal or IndexState.Paused);
}

/// <summary>Compares automatic indexes of one kind.</summary>
public static class AutoCandidates
{
    /// <summary>
    /// Returns the names of superfluous indexes. An index is superfluous if another index covers it and is at least as
    /// up to date.
    /// </summary>
    public static IReadOnlyList<string> Superfluous<TDefinition>(IReadOnlyList<AutoCandidate<TDefinition>> candidates)
        where TDefinition : IAutoDefinition<TDefinition> =>
        [
            .. candidates
                .Where(narrow =>
                    candidates.Any(wide =>
                        wide != narrow
                        && wide.State == IndexState.Normal
                        && wide.VisibleEtag > 0
                        && wide.VisibleEtag >= narrow.VisibleEtag
                        && wide.Definition.Covers(narrow.Definition)
                        && !narrow.Definition.Covers(wide.Definition)
                    )
                )
                .Select(static narrow => narrow.Name),
        ];
}
