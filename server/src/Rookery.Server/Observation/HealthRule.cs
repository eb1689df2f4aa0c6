using System.Globalization;
using Rookery.Server.Alerts;

namespace Rookery.Server.Observation;

/// <summary>Describes the health of the cluster in one sentence. A pure function.</summary>
internal static class HealthRule
{
    /// <summary>Everything is in order.</summary>
    public const string Well = "ok";

    /// <summary>Documents are served, but the operator should look.</summary>
    public const string Warning = "warning";

    /// <summary>Documents are not served, or may be lost.</summary>
    public const string Error = "error";

    /// <summary>Returns the level and the sentence.</summary>
    /// <param name="cluster">The nodes.</param>
    /// <param name="alerts">The active alerts.</param>
    public static (string Level, string Sentence) Judge(LiveCluster cluster, IReadOnlyList<MemberAlert> alerts)
    {
        if (cluster.Nodes.FirstOrDefault(static node => node.IsSelf) is { Reason: { } reason })
        {
            return (Error, cluster.IsAlone ? reason : $"This node serves no documents: {reason}");
        }

        if (!cluster.IsAlone && cluster.LeaderTag is null)
        {
            return (
                Error,
                cluster.Trouble is { } why
                    ? $"Nothing is written: {why}"
                    : "Nothing is written until a majority of the voters reach each other: there is no leader now."
            );
        }

        if (GrowthRule.WhyRefused(cluster) is { } refused)
        {
            return (Error, refused);
        }

        LiveNode[] down = [.. cluster.Nodes.Where(static node => node.State == NodeState.Down)];
        if (down.Length > 0)
        {
            return JudgeDown(cluster, down);
        }

        if (cluster.Nodes.FirstOrDefault(static node => node.Reason is not null) is { } refusing)
        {
            return (Warning, $"{refusing.DisplayName} serves no documents: {refusing.Reason}");
        }

        if (cluster.Trouble is { } trouble)
        {
            return (Warning, trouble);
        }

        if (cluster.Nodes.FirstOrDefault(static node => node.State == NodeState.Unknown) is { } unknown)
        {
            return (Warning, $"The state of {unknown.DisplayName} is not known yet.");
        }

        if (alerts.Count > 0)
        {
            var worst = alerts.FirstOrDefault(static alert => alert.Alert.Severity is "critical") ?? alerts[0];
            string more =
                alerts.Count == 1
                    ? string.Empty
                    : string.Create(CultureInfo.InvariantCulture, $" (and {alerts.Count - 1} more)");
            var node = cluster.Nodes.FirstOrDefault(node =>
                string.Equals(node.Tag, worst.Node, StringComparison.Ordinal)
            );
            string where = cluster.IsAlone ? string.Empty : $"{node?.DisplayName ?? $"node {worst.Node}"}: ";
            return (worst.Alert.Severity is "critical" ? Error : Warning, where + worst.Alert.Sentence + more);
        }

        return (Well, DescribeWell(cluster));
    }

    private static (string Level, string Sentence) JudgeDown(LiveCluster cluster, LiveNode[] down)
    {
        int up = cluster.Nodes.Count - down.Length;
        string names =
            down.Length == 1
                ? down[0].DisplayName
                : $"{string.Join(", ", down[..^1].Select(static node => node.DisplayName))} and {down[^1].DisplayName}";
        int margin =
            cluster.Nodes.Count(static node => node is { IsVoter: true, State: NodeState.Up }) - cluster.Majority;
        // The consequence comes first, because a reader of a headline may stop after it.
        string consequence = margin switch
        {
            < 0 => "Nothing is written until one returns",
            0 => "Writes go on, and the cluster tolerates no further failure",
            1 => "Writes go on, and the cluster tolerates one more failure",
            _ => string.Create(
                CultureInfo.InvariantCulture,
                $"Writes go on, and the cluster tolerates {margin} more failures"
            ),
        };
        return (
            margin < 0 ? Error : Warning,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{consequence}: {names} {(down.Length == 1 ? "does" : "do")} not answer, and {up} of "
                    + $"{cluster.Nodes.Count} nodes {(up == 1 ? "runs" : "run")}."
            )
        );
    }

    private static string DescribeWell(LiveCluster cluster)
    {
        if (cluster.IsAlone)
        {
            return "This node is well. It is the only one: its data are nowhere else but in backups.";
        }

        string all =
            cluster.Nodes.Count == 2
                ? "Both nodes are well"
                : string.Create(CultureInfo.InvariantCulture, $"All {cluster.Nodes.Count} nodes are well");
        string voters = cluster.Voters == cluster.Nodes.Count ? "them" : "the voters";
        int margin = cluster.Voters - cluster.Majority;
        return margin switch
        {
            0 when cluster.Voters == 1 =>
                $"{all}; while {cluster.Nodes.First(static node => node.IsVoter).DisplayName} is off, nothing is "
                    + "written.",
            0 => $"{all}; while either is off, nothing is written.",
            1 => $"{all}; the cluster tolerates the failure of any one of {voters}.",
            _ => string.Create(
                CultureInfo.InvariantCulture,
                $"{all}; the cluster tolerates the failure of any {margin} of {voters}."
            ),
        };
    }
}
