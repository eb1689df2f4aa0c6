using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Server;
using Rookery.Server.Access;

namespace Rookery.Redis.Commands;

/// <summary>INFO, ROLE, TIME, WAIT and WAITAOF.</summary>
internal static class InfoCommands
{
    private static readonly string[] Sections =
    [
        "server",
        "clients",
        "memory",
        "persistence",
        "stats",
        "replication",
        "cpu",
        "cluster",
        "keyspace",
    ];

    public static void Run(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var wanted = new HashSet<string>(StringComparer.Ordinal);
        for (int i = 0; i < arguments.Count; i++)
        {
            wanted.Add(Encoding.Latin1.GetString(arguments[i]).ToLowerInvariant());
        }

        bool wantsAll = wanted.Count == 0 || wanted.Overlaps(["all", "default", "everything"]);
        var text = new StringBuilder();
        foreach (string section in Sections)
        {
            if (wantsAll || wanted.Contains(section))
            {
                text.Append(text.Length > 0 ? "\r\n" : string.Empty);
                text.Append("# ").Append(char.ToUpperInvariant(section[0])).Append(section.AsSpan(1)).Append("\r\n");
                foreach (var (name, value) in Describe(connection, section))
                {
                    text.Append(CultureInfo.InvariantCulture, $"{name}:{value}\r\n");
                }
            }
        }

        connection.Replies.Verbatim(text.ToString());
    }

    /// <summary>Answers as a master without replicas: every member takes every command.</summary>
    public static void Role(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var replies = connection.Replies;
        replies.Array(3);
        replies.Bulk("master"u8);
        replies.Integer(connection.Node.Consensus.AppliedIndex);
        replies.Array(0);
    }

    /// <summary>Answers the cluster's time, by which keys expire.</summary>
    public static void Time(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        long microseconds =
            (connection.Node.Context.KnownTime - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond;
        connection.Replies.Array(2);
        connection.Replies.Bulk((microseconds / 1_000_000).ToString(CultureInfo.InvariantCulture));
        connection.Replies.Bulk((microseconds % 1_000_000).ToString(CultureInfo.InvariantCulture));
    }

    /// <summary>
    /// Answers the least number of other voters on which each acknowledged write of this connection is durable. A
    /// majority has synced a write before the client gets its reply.
    /// </summary>
    public static void Wait(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (!IsCount(arguments[0]) || !IsCount(arguments[1]))
        {
            connection.Fail("ERR value is not an integer or out of range");
            return;
        }

        connection.Replies.Integer(CountOtherSyncedVoters(connection.Node));
    }

    /// <summary>
    /// Answers 1 for this server's own disk, and the number of <see cref="Wait"/> for the other voters.
    /// </summary>
    public static void WaitForDisk(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        for (int i = 0; i < arguments.Count; i++)
        {
            if (!IsCount(arguments[i]))
            {
                connection.Fail("ERR value is not an integer or out of range");
                return;
            }
        }

        connection.Replies.Array(2);
        connection.Replies.Integer(1);
        connection.Replies.Integer(CountOtherSyncedVoters(connection.Node));
    }

    private static bool IsCount(ReadOnlySpan<byte> text) =>
        Utf8Parser.TryParse(text, out long count, out int length) && length == text.Length && count >= 0;

    private static int CountOtherSyncedVoters(RedisNode node) =>
        node.Consensus.View.Members.Count(static member => member.IsVoter) / 2;

    private static IEnumerable<(string Name, object Value)> Describe(RedisConnection connection, string section)
    {
        var node = connection.Node;
        var (context, metrics) = (node.Context, node.Metrics);
        var uptime = context.Time.GetElapsedTime(node.StartedAt);
        return section switch
        {
            "server" =>
            [
                ("redis_version", ConnectionCommands.RedisVersion),
                ("redis_mode", "standalone"),
                ("rookery_version", ProductVersion.Text),
                ("os", "Linux"),
                ("arch_bits", 64),
                ("process_id", Environment.ProcessId),
                ("tcp_port", node.Port),
                ("uptime_in_seconds", (long)uptime.TotalSeconds),
                ("uptime_in_days", (long)uptime.TotalDays),
                ("rookery_node", context.Options.NodeTag),
                .. DescribeDatabase(connection),
            ],
            "clients" =>
            [
                ("connected_clients", node.Clients.Count),
                ("maxclients", node.Clients.Max),
                ("blocked_clients", node.Changes.Waiting),
            ],
            "memory" =>
            [
                ("used_memory", context.Memory.UsedBytes),
                ("maxmemory", context.Memory.TotalBytes),
                ("maxmemory_policy", "noeviction"),
            ],
            "persistence" => [("loading", 0), ("aof_enabled", 1), ("aof_last_write_status", "ok")],
            "stats" =>
            [
                ("total_connections_received", metrics.Accepted),
                ("rejected_connections", node.RefusedConnections),
                ("total_commands_processed", metrics.Commands),
                ("total_error_replies", metrics.Errors),
                ("pubsub_channels", node.Channels.ChannelCount),
                ("pubsub_patterns", node.Channels.PatternCount),
            ],
            "replication" =>
            [
                ("role", "master"),
                ("connected_slaves", 0),
                ("master_repl_offset", node.Consensus.AppliedIndex),
                ("rookery_members", node.Consensus.View.Members.Count),
                ("rookery_leader", node.Consensus.LeaderTag ?? "unknown"),
            ],
            "cpu" => [("used_cpu_total", Environment.CpuUsage.TotalTime.TotalSeconds)],
            "cluster" => [("cluster_enabled", 0)],
            _ => DescribeKeyspace(connection),
        };
    }

    // Rights in another database do not reveal the name of this one.
    private static IEnumerable<(string Name, object Value)> DescribeDatabase(RedisConnection connection) =>
        connection.Identity.Scopes == AccessScopes.None ? [] : [("rookery_database", connection.Node.DatabaseName)];

    // Only a client with the scope read may learn the number of keys.
    private static IEnumerable<(string Name, object Value)> DescribeKeyspace(RedisConnection connection)
    {
        if (
            (connection.Identity.Scopes & AccessScopes.Read) == AccessScopes.None
            || connection.Node.TryFindDatabase() is not { } database
        )
        {
            return [];
        }

        using var reader = database.OpenReader();
        return [("db0", $"keys={reader.ReadStatistics().Documents},expires=0,avg_ttl=0")];
    }
}
