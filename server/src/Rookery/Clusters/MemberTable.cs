using System.Globalization;
using System.Text.Json;
using Rookery.Hosting.Logging;

namespace Rookery.Clusters;

/// <summary>Formats the members of a cluster as a table, from the JSON of a node.</summary>
internal static class MemberTable
{
    private static readonly string[] Heads =
    [
        "TAG",
        "NAME",
        "ROLE",
        "REACHABLE",
        "HEARD",
        "LAG",
        "SYNC P99",
        "RECORD",
        "URL",
        "ID",
    ];

    /// <summary>Returns the table, followed by the node's note and the lines of <see cref="Unreached"/>.</summary>
    public static string Of(JsonElement cluster)
    {
        string[][] rows = [Heads, .. cluster.GetProperty("Members").EnumerateArray().Select(Row)];
        int[] widths = [.. Heads.Select((_, column) => rows.Max(row => row[column].Length))];
        var lines = rows.Select(row =>
            string.Join("  ", row.Select((text, column) => text.PadRight(widths[column]))).TrimEnd()
        );
        return string.Join('\n', [.. lines, cluster.GetProperty("Note").GetString()!, .. Unreached(cluster)]);
    }

    /// <summary>
    /// Returns, while there is no leader, a line for each voter that the node does not reach: the addresses that it
    /// tries, and why they fail.
    /// </summary>
    public static IEnumerable<string> Unreached(JsonElement cluster) =>
        cluster.TryGetProperty("Unreached", out var sentences)
            ? sentences.EnumerateArray().Select(static sentence => sentence.GetString()!)
            : [];

    private static string[] Row(JsonElement member)
    {
        return
        [
            TextOf(member, "Tag"),
            TextOf(member, "Name"),
            TextOf(member, "Role"),
            TextIfKnown(member, "IsReachable", static reachable => reachable.GetBoolean() ? "yes" : "no"),
            member.TryGetProperty("IsSelf", out var isSelf) && isSelf.GetBoolean()
                ? "-"
                : TextIfKnown(
                    member,
                    "HeardSeconds",
                    static heard => string.Create(CultureInfo.InvariantCulture, $"{heard.GetDouble():0.0} s ago")
                ),
            TextIfKnown(member, "LagEntries", static lag => lag.GetInt64().ToString(CultureInfo.InvariantCulture)),
            TextIfKnown(
                member,
                "SyncP99Milliseconds",
                static sync => string.Create(CultureInfo.InvariantCulture, $"{sync.GetDouble():0.0} ms")
            ),
            TextIfKnown(
                member,
                "RecordVersion",
                static version => version.GetInt64().ToString(CultureInfo.InvariantCulture)
            ),
            TextOf(member, "Url"),
            TextOf(member, "NodeId"),
        ];
    }

    private static string TextIfKnown(JsonElement member, string name, Func<JsonElement, string> text) =>
        member.TryGetProperty(name, out var value) ? text(value) : "?";

    private static string TextOf(JsonElement member, string name) =>
        member.TryGetProperty(name, out var text) ? VisibleText.OfLine(text.GetString() ?? "-") : "-";
}
