using System.Globalization;
using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Operations;

/// <summary>
/// What <c>rookery status</c> says, in lines, of the answer to <c>/readyz?verbose</c>: said by the node itself to who
/// asks for <c>/readyz?words</c>, and by the command of a node that is asked over TLS.
/// </summary>
public static class StatusWords
{
    /// <summary>
    /// A header of the answer: whether the node is well. It is missing where <c>rookery status</c> has more to ask.
    /// </summary>
    public const string Header = "Rookery-Status";

    /// <summary>The header's value for a node that serves, and lets writes through.</summary>
    public const string Well = "well";

    /// <summary>The header's value for any other.</summary>
    public const string Unwell = "unwell";

    /// <summary>Whether the node serves, and all writes go through it.</summary>
    public static bool IsWell(JsonElement status) =>
        status.GetProperty("Ready").GetBoolean()
        && GrowthRefusal(status) is null
        && !(
            status.TryGetProperty("Cluster", out var cluster)
            && cluster.GetProperty("Trouble").ValueKind == JsonValueKind.String
        );

    /// <summary>Whether nothing more is to be asked: a leader is known, or there is no cluster to look for.</summary>
    public static bool IsWholeStory(JsonElement status) =>
        !status.TryGetProperty("Cluster", out var cluster)
        || TakesNoPart(cluster)
        || cluster.GetProperty("Leader").ValueKind == JsonValueKind.String;

    // It was refused, removed or halted: of its cluster it knows nothing, and the sentence before says all.
    private static bool TakesNoPart(JsonElement cluster) =>
        string.Equals(cluster.GetProperty("Role").GetString(), "None", StringComparison.Ordinal);

    /// <summary>What it says, in lines.</summary>
    public static IReadOnlyList<string> Describe(JsonElement status)
    {
        List<string> lines =
        [
            !status.GetProperty("Ready").GetBoolean()
                ? $"Not ready: {status.GetProperty("Reason").GetString()}"
                : GrowthRefusal(status) ?? "Ready: documents are served.",
        ];
        if (status.TryGetProperty("Forming", out var forming))
        {
            lines.Add(forming.GetString()!);
        }

        if (status.TryGetProperty("Board", out var board) && board.GetProperty("Trouble").GetString() is { } wrong)
        {
            lines.Add(wrong);
        }

        if (!status.TryGetProperty("Cluster", out var cluster))
        {
            return lines;
        }

        if (
            cluster.GetProperty("Trouble").GetString() is { } trouble
            && !string.Equals(trouble, status.GetProperty("Reason").GetString(), StringComparison.Ordinal)
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
        if (cluster.TryGetProperty("Clock", out var clock) && clock.GetProperty("Doubt").GetString() is { } doubt)
        {
            lines.Add(doubt);
        }

        if (cluster.TryGetProperty("Capacity", out var capacity))
        {
            lines.Add(
                capacity.GetProperty("Refusal").GetString()
                    ?? (
                        $"{capacity.GetProperty("LimitedBy").GetString()} limits capacity: "
                        + $"{Amount.Bytes(capacity.GetProperty("SpareBytes").GetInt64())} fit."
                    )
            );
        }

        foreach (var member in cluster.GetProperty("Members").EnumerateArray())
        {
            lines.Add(DescribeMember(member));
        }

        if (cluster.TryGetProperty("ToldSecondsAgo", out var ago))
        {
            lines.Add(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"Of the others it says what the leader told it {ago.GetDouble():0} s ago."
                )
            );
        }

        return lines;
    }

    // A node of before tells nothing of it.
    private static string? GrowthRefusal(JsonElement status) =>
        status.TryGetProperty("GrowthRefusal", out var refusal) ? refusal.GetString() : null;

    private static string DescribeMember(JsonElement member)
    {
        string who = $"{member.GetProperty("Tag").GetString()} {member.GetProperty("Role").GetString()}";
        string heard = member.TryGetProperty("HeardSeconds", out var seconds)
            ? string.Create(CultureInfo.InvariantCulture, $" (heard {seconds.GetDouble():0.0} s ago)")
            : string.Empty;
        return !member.TryGetProperty("IsReachable", out var reachable)
            ? who
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{who}, {(reachable.GetBoolean() ? "reachable" : "not reachable")}"
                    + $"{heard}, {DescribeLag(member)}, {DescribeSync(member)}{DescribeClock(member)}"
                    + $"{DescribeRoom(member)}"
            );
    }

    private static string DescribeLag(JsonElement member) =>
        member.TryGetProperty("LagEntries", out var lag)
            ? string.Create(CultureInfo.InvariantCulture, $"{lag.GetInt64()} entries behind")
            : "? entries behind";

    private static string DescribeSync(JsonElement of) =>
        of.TryGetProperty("SyncP99Milliseconds", out var sync)
            ? string.Create(CultureInfo.InvariantCulture, $"sync p99 {sync.GetDouble():0.0} ms")
            : "sync p99 ?";

    /// <summary>A card that is full: of a spare nothing else says so, because nothing waits for it.</summary>
    private static string DescribeRoom(JsonElement member) =>
        member.TryGetProperty("SpareBytes", out var spare) && spare.GetInt64() < 0
            ? $", full: {Amount.Bytes(-spare.GetInt64())} less free than it keeps in reserve"
            : string.Empty;

    /// <summary>A clock that is a minute off, or follows nothing.</summary>
    private static string DescribeClock(JsonElement member) =>
        !member.TryGetProperty("ClockAheadSeconds", out var ahead) ? string.Empty
        : Math.Abs(ahead.GetDouble()) > 60
            ? $", clock off by {Amount.Time(TimeSpan.FromSeconds(Math.Abs(ahead.GetDouble())))}"
        : member.GetProperty("IsClockSynchronised").GetBoolean() ? string.Empty
        : ", clock not synchronised";
}
