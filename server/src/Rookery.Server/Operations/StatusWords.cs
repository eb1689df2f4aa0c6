using System.Globalization;
using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Server.Operations;

/// <summary>
/// Formats the answer of <c>/readyz?verbose</c> as the lines of <c>rookery status</c>. The node calls it for
/// <c>/readyz?words</c>, and the command calls it if the node uses TLS.
/// </summary>
public static class StatusWords
{
    /// <summary>
    /// Response header: whether the node is well. It is missing if <c>rookery status</c> has to ask other members too.
    /// </summary>
    public const string Header = "Rookery-Status";

    /// <summary>Value of the header if the node serves documents and accepts all writes.</summary>
    public const string Well = "well";

    /// <summary>Value of the header otherwise.</summary>
    public const string Unwell = "unwell";

    /// <summary>Whether the node serves documents, accepts all writes and knows the time.</summary>
    public static bool IsWell(JsonElement status) =>
        status.GetProperty("Ready").GetBoolean()
        && GrowthRefusal(status) is null
        && !(
            status.TryGetProperty("Cluster", out var cluster)
            && (cluster.GetProperty("Trouble").ValueKind == JsonValueKind.String || ClockDoubt(cluster) is not null)
        );

    /// <summary>
    /// Whether <c>rookery status</c> need not ask other members: a leader is known, or the node is in no cluster.
    /// </summary>
    public static bool IsSelfContained(JsonElement status) =>
        !status.TryGetProperty("Cluster", out var cluster)
        || TakesNoPart(cluster)
        || cluster.GetProperty("Leader").ValueKind == JsonValueKind.String;

    // Whether the node was refused, removed or halted. It then knows nothing of its cluster, and the first line has the
    // reason.
    private static bool TakesNoPart(JsonElement cluster) =>
        string.Equals(cluster.GetProperty("Role").GetString(), "None", StringComparison.Ordinal);

    /// <summary>Returns the lines.</summary>
    public static IReadOnlyList<string> Describe(JsonElement status)
    {
        string? reason = status.GetProperty("Reason").GetString();
        string? trouble = status.TryGetProperty("Cluster", out var cluster)
            ? cluster.GetProperty("Trouble").GetString()
            : null;

        // The first line must not sound as if all were well when the exit code is 1.
        string first = !status.GetProperty("Ready").GetBoolean()
            ? $"Not ready: {reason}"
            : GrowthRefusal(status) ?? trouble ?? "Ready: documents are served.";
        List<string> lines = [first];
        if (status.TryGetProperty("Forming", out var forming))
        {
            lines.Add(forming.GetString()!);
        }

        if (
            status.TryGetProperty("Board", out var board)
            && board.GetProperty("Trouble").GetString() is { } boardTrouble
        )
        {
            lines.Add(boardTrouble);
        }

        if (cluster.ValueKind == JsonValueKind.Undefined)
        {
            return lines;
        }

        if (
            trouble is not null
            && !string.Equals(trouble, reason, StringComparison.Ordinal)
            && !string.Equals(trouble, first, StringComparison.Ordinal)
        )
        {
            lines.Add(trouble);
        }

        if (TakesNoPart(cluster))
        {
            return lines;
        }

        string leader = cluster.GetProperty("Leader").GetString() is { } tag
            ? $"{tag} leads"
            : "no leader is known here";
        lines.Add(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{cluster.GetProperty("Role").GetString()} in term {cluster.GetProperty("Term").GetInt64()}"
                    + $"; {leader}; {DescribeSync(cluster)}."
            )
        );
        if (ClockDoubt(cluster) is { } doubt)
        {
            lines.Add(doubt);
        }

        if (cluster.TryGetProperty("Capacity", out var capacity))
        {
            lines.Add(
                capacity.GetProperty("Refusal").GetString()
                    ?? (
                        $"{capacity.GetProperty("LimitedBy").GetString()} limits capacity: "
                        + $"{Amount.Bytes(capacity.GetProperty("SpareBytes").GetInt64())} of further data fit."
                    )
            );
        }

        foreach (var member in cluster.GetProperty("Members").EnumerateArray())
        {
            lines.Add(DescribeMember(member));
        }

        if (DescribeMissingVoters(cluster.GetProperty("Members")) is { } missing)
        {
            lines.Add(missing);
        }

        if (cluster.TryGetProperty("ToldSecondsAgo", out var ago))
        {
            lines.Add(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"The state of the others is what the leader reported {ago.GetDouble():0} s ago."
                )
            );
        }

        return lines;
    }

    // Null also for an older node, which does not send the member.
    private static string? GrowthRefusal(JsonElement status) =>
        status.TryGetProperty("GrowthRefusal", out var refusal) ? refusal.GetString() : null;

    private static string? ClockDoubt(JsonElement cluster) =>
        cluster.TryGetProperty("Clock", out var clock) ? clock.GetProperty("Doubt").GetString() : null;

    /// <summary>
    /// Returns how many further voters may be off, if some are off; null if none is, or if there are too few to choose.
    /// </summary>
    private static string? DescribeMissingVoters(JsonElement members)
    {
        int voters = 0;
        int off = 0;
        foreach (var member in members.EnumerateArray())
        {
            if (!member.GetProperty("Role").ValueEquals("learner"u8))
            {
                voters++;
                off += member.TryGetProperty("IsReachable", out var reachable) && !reachable.GetBoolean() ? 1 : 0;
            }
        }

        return off == 0 || voters < 3 ? null : VotersOff.Describe(voters, off);
    }

    private static string DescribeMember(JsonElement member)
    {
        string name = $"{member.GetProperty("Tag").GetString()} {member.GetProperty("Role").GetString()}";
        string heard = member.TryGetProperty("HeardSeconds", out var seconds)
            ? string.Create(CultureInfo.InvariantCulture, $" (heard {seconds.GetDouble():0.0} s ago)")
            : string.Empty;
        return !member.TryGetProperty("IsReachable", out var reachable)
            ? name
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{name}, {(reachable.GetBoolean() ? "reachable" : "not reachable")}"
                    + $"{heard}, {DescribeLag(member)}, {DescribeSync(member)}{DescribeClock(member)}"
                    + $"{DescribeRoom(member)}"
            );
    }

    private static string DescribeLag(JsonElement member) =>
        member.TryGetProperty("LagEntries", out var lag)
            ? string.Create(CultureInfo.InvariantCulture, $"{lag.GetInt64()} entries behind")
            : "? entries behind";

    private static string DescribeSync(JsonElement source) =>
        source.TryGetProperty("SyncP99Milliseconds", out var sync)
            ? string.Create(CultureInfo.InvariantCulture, $"sync p99 {sync.GetDouble():0.0} ms")
            : "sync p99 ?";

    /// <summary>
    /// Reports a member whose disk is full. No write waits for a learner, so only this line shows that a learner's disk
    /// is full.
    /// </summary>
    private static string DescribeRoom(JsonElement member) =>
        member.TryGetProperty("SpareBytes", out var spare) && spare.GetInt64() < 0
            ? $", full: {Amount.Bytes(-spare.GetInt64())} below its reserve"
            : string.Empty;

    /// <summary>Reports a clock that is more than a minute off, or not synchronised.</summary>
    private static string DescribeClock(JsonElement member)
    {
        if (!member.TryGetProperty("ClockAheadSeconds", out var ahead))
        {
            return string.Empty;
        }

        if (Math.Abs(ahead.GetDouble()) > 60)
        {
            return $", clock off by {Amount.Time(TimeSpan.FromSeconds(Math.Abs(ahead.GetDouble())))}";
        }

        if (member.GetProperty("IsClockSynchronised").GetBoolean())
        {
            return string.Empty;
        }

        return ", clock not synchronised";
    }
}
