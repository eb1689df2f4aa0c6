using System.Globalization;
using System.Text.Json;

namespace Rookery.Clusters;

/// <summary>Members in columns, from the JSON of a node.</summary>
internal static class MemberTable
{
    private static readonly string[] Heads = ["TAG", "NAME", "ROLE", "REACHABLE", "HEARD", "LAG", "SYNC P99", "RECORD", "URL", "ID"];

    /// <summary>The table, with what there is to note under it.</summary>
    public static string Of(JsonElement cluster)
    {
        string[][] rows = [Heads, .. cluster.GetProperty("Members").EnumerateArray().Select(Row)];
        int[] widths = [.. Heads.Select((_, column) => rows.Max(row => row[column].Length))];
        var lines = rows.Select(row => string.Join("  ", row.Select((text, column) => text.PadRight(widths[column]))).TrimEnd());
        return string.Join('\n', [.. lines, cluster.GetProperty("Note").GetString()!]);
    }

    private static string[] Row(JsonElement member)
    {
        bool isKnown = member.TryGetProperty("IsReachable", out var reachable);
        return
        [
            TextOf(member, "Tag"),
            TextOf(member, "Name"),
            TextOf(member, "Role"),
            !isKnown ? "?" : reachable.GetBoolean() ? "yes" : "no",
            Heard(member, isKnown),
            !isKnown ? "?" : member.GetProperty("LagEntries").GetInt64().ToString(CultureInfo.InvariantCulture),
            !isKnown ? "?" : string.Create(CultureInfo.InvariantCulture, $"{member.GetProperty("SyncP99Milliseconds").GetDouble():0.0} ms"),
            member.TryGetProperty("RecordVersion", out var version) ? version.GetInt64().ToString(CultureInfo.InvariantCulture) : "?",
            TextOf(member, "Url"),
            TextOf(member, "NodeId"),
        ];
    }

    // Whoever tells it does not hear of itself.
    private static string Heard(JsonElement member, bool isKnown) =>
        member.TryGetProperty("HeardSeconds", out var seconds) ? string.Create(CultureInfo.InvariantCulture, $"{seconds.GetDouble():0.0} s ago")
        : !isKnown ? "?"
        : member.TryGetProperty("IsSelf", out var isSelf) && isSelf.GetBoolean() ? "-" : "never";

    private static string TextOf(JsonElement member, string name) => member.TryGetProperty(name, out var text) ? text.GetString() ?? "-" : "-";
}
