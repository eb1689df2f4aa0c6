using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;

namespace Rookery;

/// <summary>`rookery status`: whether a node serves, how it stands in its cluster, and why not if it does not.</summary>
internal static class StatusCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(new Command("status", "Say how a running node does: ready or why not, who leads, and how far members are behind. Ends with 1 when it is not well."));
        command.SetAction((parsed, _) => address.UseAsync(parsed, async client =>
        {
            var status = await client.SendAsync(HttpMethod.Get, "/readyz?verbose", acceptsUnready: true);
            await Console.Out.WriteLineAsync(address.IsJson(parsed) ? status.GetRawText() : Describe(status));
            return IsWell(status) ? ExitCode.Success : ExitCode.Failure;
        }));
        return command;
    }

    private static bool IsWell(JsonElement status) =>
        status.GetProperty("Ready").GetBoolean() && !(status.TryGetProperty("Cluster", out var cluster) && cluster.GetProperty("Trouble").ValueKind == JsonValueKind.String);

    private static string Describe(JsonElement status)
    {
        string ready = status.GetProperty("Ready").GetBoolean() ? "Ready: documents are served." : $"Not ready: {status.GetProperty("Reason").GetString()}";
        if (!status.TryGetProperty("Cluster", out var cluster))
        {
            return ready;
        }

        List<string> lines = [ready];
        if (cluster.GetProperty("Trouble").GetString() is { } trouble && !string.Equals(trouble, status.GetProperty("Reason").GetString(), StringComparison.Ordinal))
        {
            lines.Add(trouble);
        }

        string leader = cluster.GetProperty("Leader").GetString() is { } tag ? $"{tag} leads" : "nobody leads";
        lines.Add(string.Create(
            CultureInfo.InvariantCulture,
            $"{cluster.GetProperty("Role").GetString()} in term {cluster.GetProperty("Term").GetInt64()}; {leader}; sync p99 {cluster.GetProperty("SyncP99Milliseconds").GetDouble():0.0} ms."));
        if (cluster.TryGetProperty("Clock", out var clock) && clock.GetProperty("Doubt").GetString() is { } doubt)
        {
            lines.Add(doubt);
        }

        if (cluster.TryGetProperty("Capacity", out var capacity))
        {
            lines.Add(capacity.GetProperty("Refusal").GetString() ?? string.Create(
                CultureInfo.InvariantCulture,
                $"{capacity.GetProperty("LimitedBy").GetString()} limits capacity: {capacity.GetProperty("SpareBytes").GetInt64() >> 20} MiB fit."));
        }

        foreach (var member in cluster.GetProperty("Members").EnumerateArray())
        {
            lines.Add(DescribeMember(member));
        }

        return string.Join('\n', lines);
    }

    private static string DescribeMember(JsonElement member)
    {
        string who = $"{member.GetProperty("Tag").GetString()} {member.GetProperty("Role").GetString()}";
        return !member.TryGetProperty("IsReachable", out var reachable) ? who
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{who}, {(reachable.GetBoolean() ? "reachable" : "not reachable")}{(member.TryGetProperty("HeardSeconds", out var heard) ? $" (heard {heard.GetDouble():0.0} s ago)" : string.Empty)}, {member.GetProperty("LagEntries").GetInt64()} entries behind, sync p99 {member.GetProperty("SyncP99Milliseconds").GetDouble():0.0} ms{DescribeClock(member)}");
    }

    /// <summary>A clock that is a minute off, or follows nothing.</summary>
    private static string DescribeClock(JsonElement member) =>
        !member.TryGetProperty("ClockAheadSeconds", out var ahead) ? string.Empty
        : Math.Abs(ahead.GetDouble()) > 60 ? $", clock off by {TimeSpan.FromSeconds(Math.Abs(ahead.GetDouble())):d\\.hh\\:mm\\:ss}"
        : member.GetProperty("IsClockSynchronised").GetBoolean() ? string.Empty : ", clock not synchronised";
}
