using System.Globalization;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>The automatic map/reduce index that answers a grouped query, existing or to be defined.</summary>
/// <param name="Name">The name of the index; null if documents must be scanned.</param>
/// <param name="ToDefine">The definition, when the index does not exist yet; otherwise null.</param>
/// <param name="Reasons">Why this index was chosen and others were not.</param>
public sealed record AutoReduceChoice(string? Name, AutoReduceDefinition? ToDefine, IReadOnlyList<PlanReason> Reasons)
{
    /// <summary>Maximum keys and aggregates of one index together, so that a row always fits into a page.</summary>
    public const int MaxFields = 16;

    /// <summary>Chooses the index for a grouped query.</summary>
    /// <param name="needed">The definition of an index with exactly the groups and aggregates of the query.</param>
    /// <param name="candidates">The automatic map/reduce indexes of the database.</param>
    public static AutoReduceChoice For(
        AutoReduceDefinition needed,
        IReadOnlyList<AutoCandidate<AutoReduceDefinition>> candidates
    )
    {
        var reasons = new List<PlanReason>();
        var usable = new List<AutoCandidate<AutoReduceDefinition>>();
        foreach (var candidate in candidates.Where(candidate => candidate.Definition.HasCollectionOf(needed)))
        {
            if (!candidate.Definition.HasGroupsOf(needed))
            {
                reasons.Add(new(candidate.Name, "Has other groups."));
            }
            else if (!candidate.Definition.Covers(needed))
            {
                var lacking = needed.Aggregates.Except(candidate.Definition.Aggregates);
                reasons.Add(
                    new(candidate.Name, $"Lacks {string.Join(", ", lacking.Select(static field => field.Name))}.")
                );
            }
            else if (candidate.State is IndexState.Disabled or IndexState.Error)
            {
                reasons.Add(
                    new(candidate.Name, string.Create(CultureInfo.InvariantCulture, $"Is in state {candidate.State}."))
                );
            }
            else
            {
                usable.Add(candidate);
            }
        }

        // The most up-to-date index; among equals the one with the fewest aggregates.
        if (
            usable
                .OrderByDescending(static candidate => candidate.VisibleEtag)
                .ThenBy(static candidate => candidate.Definition.Aggregates.Count)
                .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
                .FirstOrDefault() is
            { } best
        )
        {
            reasons.AddRange(
                usable
                    .Where(other => other != best)
                    .Select(other => new PlanReason(
                        other.Name,
                        other.VisibleEtag < best.VisibleEtag ? "Is less up to date." : "Computes more than needed."
                    ))
            );
            reasons.Add(new(best.Name, "Computes all that the query needs.", IsChosen: true));
            return new AutoReduceChoice(best.Name, ToDefine: null, reasons);
        }

        var (definition, creation) = MergeWithExisting(needed, candidates);

        // An index with this content was not usable above, so it is disabled or failed. The query reports its state.
        // Older versions named the same content differently, so the index may have another name.
        if (
            candidates
                .Where(candidate => candidate.Definition.HasContentOf(definition))
                .MinBy(static candidate => candidate.Name, StringComparer.Ordinal) is
            { } stopped
        )
        {
            return new AutoReduceChoice(stopped.Name, ToDefine: null, reasons);
        }

        if (
            candidates.FirstOrDefault(candidate => IgnoredCase.OfNames.Equals(candidate.Name, definition.Name))
            is not { } named
        )
        {
            return AutoDefinitionText.IsTooLong(definition)
                ? new AutoReduceChoice(
                    Name: null,
                    ToDefine: null,
                    [.. reasons, PlanReason.OfDocuments(AutoDefinitionText.WhyTooLong)]
                )
                : new AutoReduceChoice(definition.Name, definition, [.. reasons, creation]);
        }

        if (named.Definition.Covers(needed))
        {
            return new AutoReduceChoice(named.Name, ToDefine: null, reasons);
        }

        return new AutoReduceChoice(
            Name: null,
            ToDefine: null,
            [
                .. reasons,
                PlanReason.OfDocuments(
                    $"Documents are scanned: an index with other content has the name {named.Name}."
                ),
            ]
        );
    }

    // Adds the needed aggregates to an existing definition if possible, and gives the reason to create the resulting
    // index. One index with more aggregates costs less than two indexes, because each document is read and grouped
    // once.
    private static (AutoReduceDefinition Definition, PlanReason Creation) MergeWithExisting(
        AutoReduceDefinition needed,
        IReadOnlyList<AutoCandidate<AutoReduceDefinition>> candidates
    )
    {
        var widened = candidates
            .Where(candidate => candidate.State == IndexState.Normal && candidate.Definition.HasGroupsOf(needed))
            .Select(candidate => (candidate.Name, Definition: candidate.Definition.MergedWith(needed)))
            .Where(static candidate =>
                candidate.Definition.Keys.Count + candidate.Definition.Aggregates.Count <= MaxFields
                && !AutoDefinitionText.IsTooLong(candidate.Definition)
            )
            .OrderByDescending(static candidate => candidate.Definition.Aggregates.Count)
            .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
            .FirstOrDefault();
        var definition = widened.Definition ?? needed;
        string why = widened.Definition is null
            ? "Will be created for the query."
            : $"Will be created for the query, with the aggregates of {widened.Name}.";
        return (definition, new PlanReason(definition.Name, why, IsChosen: true));
    }
}
