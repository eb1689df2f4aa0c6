using System.Globalization;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Automatic;

/// <summary>An automatic map/reduce index that there is, as whoever chooses sees it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Definition">What it holds.</param>
/// <param name="State">What it does on this node.</param>
/// <param name="VisibleEtag">The etag through which its answers follow the documents.</param>
public sealed record AutoReduceCandidate(
    string Name,
    AutoReduceDefinition Definition,
    IndexState State,
    long VisibleEtag
);

/// <summary>Which automatic map/reduce index answers a grouped query, or which one has to be made.</summary>
/// <param name="Name">The index; null where none can be made.</param>
/// <param name="ToDefine">Its definition, when there is no such index yet; null when there is.</param>
/// <param name="Reasons">Why this one and not the others.</param>
public sealed record AutoReduceChoice(string? Name, AutoReduceDefinition? ToDefine, IReadOnlyList<PlanReason> Reasons)
{
    /// <summary>
    /// Keys and aggregates of one index at most: its rows have to fit into pages, whatever the documents hold.
    /// </summary>
    public const int MostFields = 16;

    /// <summary>Chooses.</summary>
    /// <param name="needed">What the query needs.</param>
    /// <param name="candidates">The automatic map/reduce indexes of the database.</param>
    public static AutoReduceChoice For(AutoReduceDefinition needed, IReadOnlyList<AutoReduceCandidate> candidates)
    {
        var reasons = new List<PlanReason>();
        var usable = new List<AutoReduceCandidate>();
        foreach (var candidate in candidates.Where(candidate => candidate.Definition.HasCollectionOf(needed)))
        {
            if (!candidate.Definition.HasGroupsOf(needed))
            {
                reasons.Add(new(candidate.Name, "Has other groups."));
            }
            else if (!candidate.Definition.Covers(needed))
            {
                var lacking = needed.Aggregates.Except(candidate.Definition.Aggregates);
                reasons.Add(new(candidate.Name, $"Lacks {string.Join(", ", lacking.Select(static one => one.Name))}."));
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

        // The freshest; of equals the one with the least in it.
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
                        other.VisibleEtag < best.VisibleEtag ? "Is further behind." : "Holds more than is needed."
                    ))
            );
            reasons.Add(new(best.Name, "Holds all that the query needs.", IsChosen: true));
            return new AutoReduceChoice(best.Name, null, reasons);
        }

        var definition = Extended(needed, candidates, reasons);
        return candidates.FirstOrDefault(candidate =>
                string.Equals(candidate.Name, definition.Name, StringComparison.OrdinalIgnoreCase)
            )
                is not { } named
                ? new AutoReduceChoice(definition.Name, definition, reasons)
            : named.Definition.Covers(needed) ? new AutoReduceChoice(named.Name, null, reasons)
            : new AutoReduceChoice(
                null,
                null,
                [
                    .. reasons,
                    PlanReason.OfDocuments(
                        $"Documents are looked at: {named.Name} is the name of an index that holds something else."
                    ),
                ]
            );
    }

    /// <summary>
    /// The automatic map/reduce indexes that another one makes superfluous, because it computes all that they do and
    /// has come as far.
    /// </summary>
    public static IReadOnlyList<string> Superfluous(IReadOnlyList<AutoReduceCandidate> candidates) =>
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

    private static bool IsWider(AutoReduceDefinition wide, AutoReduceDefinition narrow) =>
        wide.Covers(narrow) && !narrow.Covers(wide);

    // One index of the same groups with more in each costs less than two: each document is read and put into its groups
    // once.
    private static AutoReduceDefinition Extended(
        AutoReduceDefinition needed,
        IReadOnlyList<AutoReduceCandidate> candidates,
        List<PlanReason> reasons
    )
    {
        var found = candidates
            .Where(candidate => candidate.State == IndexState.Normal && candidate.Definition.HasGroupsOf(needed))
            .Select(candidate => (candidate.Name, Definition: candidate.Definition.MergedWith(needed)))
            .Where(static candidate =>
                candidate.Definition.Keys.Count + candidate.Definition.Aggregates.Count <= MostFields
            )
            .OrderByDescending(static candidate => candidate.Definition.Aggregates.Count)
            .ThenBy(static candidate => candidate.Name, StringComparer.Ordinal)
            .FirstOrDefault();
        var definition = found.Definition ?? needed;
        reasons.Add(
            new(
                definition.Name,
                found.Definition is null
                    ? "Is made for it."
                    : $"Is made for it, and takes over what {found.Name} holds.",
                IsChosen: true
            )
        );
        return definition;
    }
}
