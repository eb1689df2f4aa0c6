using System.Globalization;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>The automatic index that answers a query, existing or to be defined.</summary>
/// <param name="Name">The name of the index; null to scan documents.</param>
/// <param name="ToDefine">The definition, when the index does not exist yet; otherwise null.</param>
/// <param name="Reasons">Why this index was chosen and others were not; empty unless requested.</param>
public sealed record AutoIndexChoice(string? Name, AutoIndexDefinition? ToDefine, IReadOnlyList<PlanReason> Reasons)
{
    /// <summary>
    /// Maximum fields of an index that was merged from narrower ones. A wider index costs more at each write, and most
    /// queries need few of its fields.
    /// </summary>
    public const int MaxMergedFields = 16;

    /// <summary>Chooses the index for a query.</summary>
    /// <param name="needed">The definition of an index with exactly the fields of the query.</param>
    /// <param name="candidates">The automatic indexes of the database.</param>
    /// <param name="explains">Whether to give reasons, which takes longer than to choose.</param>
    public static AutoIndexChoice For(
        AutoIndexDefinition needed,
        IReadOnlyList<AutoCandidate<AutoIndexDefinition>> candidates,
        bool explains
    )
    {
        var reasons = explains ? new List<PlanReason>() : null;
        var usable = new List<AutoCandidate<AutoIndexDefinition>>();
        foreach (var candidate in candidates.Where(candidate => candidate.Definition.HasCollectionOf(needed)))
        {
            if (!candidate.Definition.Covers(needed))
            {
                var lacking = needed.Fields.Where(wanted =>
                    !candidate.Definition.Fields.Any(field => field.Covers(wanted))
                );
                reasons?.Add(
                    new(candidate.Name, $"Lacks {string.Join(", ", lacking.Select(static field => field.ToString()))}.")
                );
            }
            else if (candidate.State is IndexState.Disabled or IndexState.Error)
            {
                reasons?.Add(
                    new(candidate.Name, string.Create(CultureInfo.InvariantCulture, $"Is in state {candidate.State}."))
                );
            }
            else
            {
                usable.Add(candidate);
            }
        }

        // The most up-to-date index; among equals the one with the fewest fields.
        if (
            usable
                .OrderByDescending(static candidate => candidate.VisibleEtag)
                .ThenBy(static candidate => candidate.Definition.Fields.Count)
                .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
                .FirstOrDefault() is
            { } best
        )
        {
            reasons?.AddRange(
                usable
                    .Where(other => other != best)
                    .Select(other => new PlanReason(
                        other.Name,
                        other.VisibleEtag < best.VisibleEtag ? "Is less up to date." : "Has more fields than needed."
                    ))
            );
            reasons?.Add(new(best.Name, "Has all fields that the query needs.", IsChosen: true));
            return new AutoIndexChoice(best.Name, ToDefine: null, reasons ?? []);
        }

        var (definition, creation) = MergeWithExisting(needed, candidates);
        if (
            candidates.FirstOrDefault(candidate => IgnoredCase.OfNames.Equals(candidate.Name, definition.Name))
            is not { } named
        )
        {
            if (AutoDefinitionText.IsTooLong(definition))
            {
                reasons?.Add(PlanReason.OfDocuments(AutoDefinitionText.WhyTooLong));
                return new AutoIndexChoice(Name: null, ToDefine: null, reasons ?? []);
            }

            reasons?.Add(new(definition.Name, creation, IsChosen: true));
            return new AutoIndexChoice(definition.Name, definition, reasons ?? []);
        }

        // This index was not usable above, so it is disabled or failed. The query reports its state.
        if (named.Definition.Covers(needed))
        {
            return new AutoIndexChoice(named.Name, ToDefine: null, reasons ?? []);
        }

        // Names of indexes ignore the case of all letters, names of fields of none, and names of collections only of
        // ASCII letters.
        reasons?.Add(
            PlanReason.OfDocuments($"Documents are scanned: an index with other content has the name {named.Name}.")
        );
        return new AutoIndexChoice(Name: null, ToDefine: null, reasons ?? []);
    }

    // Adds the needed fields to an existing definition if possible, and gives the reason to create the resulting index.
    // One index with many fields costs less than many indexes with few: each document is read once, and each change is
    // written once.
    private static (AutoIndexDefinition Definition, string Creation) MergeWithExisting(
        AutoIndexDefinition needed,
        IReadOnlyList<AutoCandidate<AutoIndexDefinition>> candidates
    )
    {
        var merged = candidates
            .Where(candidate => candidate.State == IndexState.Normal && candidate.Definition.HasCollectionOf(needed))
            .Select(candidate =>
                (
                    candidate.Name,
                    Definition: candidate.Definition.MergedWith(needed),
                    Shared: needed.Fields.Count(wanted => candidate.Definition.Fields.Any(wanted.HasPathOf))
                )
            )
            .Where(static candidate =>
                candidate.Definition.Fields.Count <= MaxMergedFields
                && !AutoDefinitionText.IsTooLong(candidate.Definition)
            )
            .OrderByDescending(static candidate => candidate.Shared)
            .ThenByDescending(static candidate => candidate.Definition.Fields.Count)
            .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
            .Select(static candidate =>
                ((string Name, AutoIndexDefinition Definition)?)(candidate.Name, candidate.Definition)
            )
            .FirstOrDefault();
        return merged is { } widened
            ? (widened.Definition, $"Will be created for the query, with the fields of {widened.Name}.")
            : (needed, "Will be created for the query.");
    }
}
