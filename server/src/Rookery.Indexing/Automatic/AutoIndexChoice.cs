using System.Globalization;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>An automatic index that there is, as whoever chooses sees it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Definition">What it holds.</param>
/// <param name="State">What it does on this node.</param>
/// <param name="VisibleEtag">The etag through which its answers follow the documents.</param>
public sealed record AutoIndexCandidate(
    string Name,
    AutoIndexDefinition Definition,
    IndexState State,
    long VisibleEtag
);

/// <summary>Which automatic index answers a query, or which one has to be made.</summary>
/// <param name="Name">The index.</param>
/// <param name="ToDefine">Its definition, when there is no such index yet; null when there is.</param>
/// <param name="Reasons">Why this one and not the others; none unless they were asked for.</param>
public sealed record AutoIndexChoice(string Name, AutoIndexDefinition? ToDefine, IReadOnlyList<PlanReason> Reasons)
{
    /// <summary>Fields of one index at most. A wider one would be written for queries that need few of them.</summary>
    public const int MaxMergedFields = 16;

    /// <summary>Chooses.</summary>
    /// <param name="needed">What the query needs.</param>
    /// <param name="candidates">The automatic indexes of the database.</param>
    /// <param name="explains">Whether reasons are given, which takes longer than to choose.</param>
    public static AutoIndexChoice For(
        AutoIndexDefinition needed,
        IReadOnlyList<AutoIndexCandidate> candidates,
        bool explains
    )
    {
        var reasons = explains ? new List<PlanReason>() : null;
        var usable = new List<AutoIndexCandidate>();
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

        // The freshest; of equals the one with the least in it.
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
                        other.VisibleEtag < best.VisibleEtag ? "Is further behind." : "Holds more than is needed."
                    ))
            );
            reasons?.Add(new(best.Name, "Holds all that the query needs.", IsChosen: true));
            return new AutoIndexChoice(best.Name, null, reasons ?? []);
        }

        var definition = Extended(needed, candidates, reasons);
        return
            candidates.FirstOrDefault(candidate =>
                string.Equals(candidate.Name, definition.Name, StringComparison.OrdinalIgnoreCase)
            )
                is { } stopped
            ? new AutoIndexChoice(stopped.Name, null, reasons ?? [])
            : new AutoIndexChoice(definition.Name, definition, reasons ?? []);
    }

    /// <summary>
    /// The automatic indexes that another one makes superfluous, because it holds all of theirs and has come as far.
    /// </summary>
    public static IReadOnlyList<string> Superfluous(IReadOnlyList<AutoIndexCandidate> candidates) =>
        [
            .. candidates
                .Where(narrow =>
                    candidates.Any(wide =>
                        wide != narrow
                        && wide.State == IndexState.Normal
                        && wide.VisibleEtag > 0
                        && wide.VisibleEtag >= narrow.VisibleEtag
                        && IsWider(wide.Definition, narrow.Definition)
                    )
                )
                .Select(static narrow => narrow.Name),
        ];

    private static bool IsWider(AutoIndexDefinition wide, AutoIndexDefinition narrow) =>
        wide.Covers(narrow) && !narrow.Covers(wide);

    // One index of many fields costs less than many of few: each document is read and each change written once.
    private static AutoIndexDefinition Extended(
        AutoIndexDefinition needed,
        IReadOnlyList<AutoIndexCandidate> candidates,
        List<PlanReason>? reasons
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
            .Where(static candidate => candidate.Definition.Fields.Count <= MaxMergedFields)
            .OrderByDescending(static candidate => candidate.Shared)
            .ThenByDescending(static candidate => candidate.Definition.Fields.Count)
            .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
            .Select(static candidate =>
                ((string Name, AutoIndexDefinition Definition)?)(candidate.Name, candidate.Definition)
            )
            .FirstOrDefault();
        if (merged is not { } found)
        {
            reasons?.Add(new(needed.Name, "Is made for it.", IsChosen: true));
            return needed;
        }

        reasons?.Add(
            new(found.Definition.Name, $"Is made for it, and takes over what {found.Name} holds.", IsChosen: true)
        );
        return found.Definition;
    }
}
