using System.Globalization;

namespace Rookery.Server.Observation;

/// <summary>
/// Answers "May I unplug this node?": yes or no, the next leader, and how many more failures the cluster
/// tolerates then. A pure function.
/// </summary>
internal static class UnplugRule
{
    /// <summary>Returns the answer for one node.</summary>
    public static (bool MayI, string Sentence) Judge(LiveCluster cluster, LiveNode node)
    {
        if (cluster.IsAlone)
        {
            return (false, "No. It is the only node: while it is off, nothing is served.");
        }

        if (cluster.LeaderTag is null)
        {
            return (
                false,
                node.State == NodeState.Down
                    ? "It does not answer. There is no leader now: start it again, because its vote may be needed."
                    : "No. There is no leader now, and each node that is off makes it worse."
            );
        }

        if (!cluster.IsLeadersView)
        {
            return (
                false,
                $"Unknown. {NameOf(cluster, cluster.LeaderTag)} leads, but has not reported the state of the others "
                    + $"to this node yet. Ask again in some seconds."
            );
        }

        if (node.State == NodeState.Down)
        {
            return (
                true,
                $"Yes. It does not answer, so nothing waits for it. "
                    + $"{Capitalize(DescribeMargin(cluster, CountRemaining(cluster, node)))}."
            );
        }

        if (node.State == NodeState.Unknown)
        {
            return (false, "Unknown. No member has reported yet whether it answers. Ask again in some seconds.");
        }

        return node.IsVoter
            ? JudgeVoter(cluster, node)
            : (
                true,
                "Yes. It has no vote, so nothing waits for it. "
                    + $"{Capitalize(DescribeMargin(cluster, CountRemaining(cluster, node)))}."
            );
    }

    private static (bool MayI, string Sentence) JudgeVoter(LiveCluster cluster, LiveNode node)
    {
        if (cluster.Voters == 1)
        {
            return (false, "No. It is the only voter: while it is off, nothing is written.");
        }

        if (cluster.Voters == 2)
        {
            return (false, "No. There are two voters, and while either is off nothing is written.");
        }

        int remaining = CountRemaining(cluster, node);
        if (remaining < cluster.Majority)
        {
            return (false, $"No. {ExplainTooFew(cluster, node)}: nothing could be written.");
        }

        if (GrowthRule.WhyRefused(cluster) is not null)
        {
            return (
                false,
                "No. Nothing new can be written now, and each node that is off makes it worse. Free some space "
                    + "first; to give it a larger card, go from one node to the next."
            );
        }

        LiveNode[] full =
        [
            .. cluster.Nodes.Where(other => other != node && CanAcknowledge(other) && GrowthRule.IsFull(other)),
        ];
        if (remaining - full.Length < cluster.Majority)
        {
            string[] names = [.. full.Select(static other => other.DisplayName)];
            return (
                false,
                $"No. The {(names.Length == 1 ? "card" : "cards")} of {JoinNames(names)} "
                    + $"{(names.Length == 1 ? "is" : "are")} full, and without this one too few voters would have "
                    + $"room: nothing new could be written."
            );
        }

        string next =
            !node.IsLeader ? $"{NameOf(cluster, cluster.LeaderTag!)} goes on leading"
            : cluster.SuccessorTag is { } successor ? $"{NameOf(cluster, successor)} leads next"
            : "The others choose who leads next";
        return (true, $"Yes. {next}; {DescribeMargin(cluster, remaining)}.");
    }

    /// <summary>Returns the number of voters, without this node, that can acknowledge writes.</summary>
    private static int CountRemaining(LiveCluster cluster, LiveNode node) =>
        cluster.Nodes.Count(other => other != node && CanAcknowledge(other));

    private static bool CanAcknowledge(LiveNode node) =>
        node is { IsVoter: true, State: NodeState.Up, HasCaughtUp: true };

    private static string DescribeMargin(LiveCluster cluster, int remaining) =>
        (remaining - cluster.Majority) switch
        {
            < 0 => "nothing is written until others are back",
            0 => "after that the cluster tolerates no further failure",
            1 => "after that the cluster tolerates one more failure",
            var more => string.Create(
                CultureInfo.InvariantCulture,
                $"after that the cluster tolerates {more} more failures"
            ),
        };

    private static string ExplainTooFew(LiveCluster cluster, LiveNode node)
    {
        LiveNode[] missing =
        [
            .. cluster.Nodes.Where(other => other != node && other.IsVoter && !CanAcknowledge(other)),
        ];
        string[] off =
        [
            .. missing.Where(static other => other.State != NodeState.Up).Select(static other => other.DisplayName),
        ];
        if (off.Length > 0)
        {
            return $"{JoinNames(off)} {(off.Length == 1 ? "does" : "do")} not answer, and without this one too few "
                + $"voters would be left";
        }

        var lagging = missing[0];
        return lagging.LagEntries is { } lag
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"{lagging.DisplayName} still lacks {lag} entries, and without this one too few voters would have "
                    + $"everything"
            )
            : $"{lagging.DisplayName} has not reported yet what it has, and without this one too few voters would be "
                + $"known to have everything";
    }

    private static string NameOf(LiveCluster cluster, string tag) =>
        cluster.Nodes.FirstOrDefault(node => string.Equals(node.Tag, tag, StringComparison.Ordinal))?.DisplayName
        ?? $"node {tag}";

    private static string JoinNames(string[] names) =>
        names.Length == 1 ? names[0] : $"{string.Join(", ", names[..^1])} and {names[^1]}";

    private static string Capitalize(string sentence) => char.ToUpperInvariant(sentence[0]) + sentence[1..];
}
