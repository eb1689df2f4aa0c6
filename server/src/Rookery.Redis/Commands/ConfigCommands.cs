using System.Globalization;
using System.Text;
using Rookery.Documents.Redis;
using Rookery.Documents.Redis.Running;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>CONFIG GET, for the settings that clients ask for. The values describe how this server behaves.</summary>
internal static class ConfigCommands
{
    public static void Run(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (!Ascii.EqualsIgnoreCase(arguments[0], "get"u8))
        {
            connection.Fail(
                "ERR Only CONFIG GET is served: the settings of a node are in its configuration file, docs/reference/"
                    + "configuration.md."
            );
            return;
        }

        if (arguments.Count < 2)
        {
            connection.Fail("ERR wrong number of arguments for 'config|get' command");
            return;
        }

        var found = new List<(string Name, string Value)>();
        foreach (var setting in Settings(connection.Node))
        {
            for (int i = 1; i < arguments.Count; i++)
            {
                if (Matches(arguments[i], setting.Name))
                {
                    found.Add(setting);
                    break;
                }
            }
        }

        connection.Replies.Map(found.Count);
        foreach (var (name, value) in found)
        {
            connection.Replies.Bulk(name);
            connection.Replies.Bulk(value);
        }
    }

    private static bool Matches(ReadOnlySpan<byte> pattern, string name) =>
        RedisPattern.IsMatch(
            Encoding.ASCII.GetBytes(Encoding.Latin1.GetString(pattern).ToLowerInvariant()),
            Encoding.ASCII.GetBytes(name)
        );

    private static IEnumerable<(string Name, string Value)> Settings(RedisNode node) =>
        [
            ("appendfsync", "always"),
            ("appendonly", "yes"),
            ("databases", "1"),
            ("maxclients", Number(node.Clients.Max)),
            ("maxmemory", Number(node.Context.Memory.TotalBytes)),
            ("maxmemory-policy", "noeviction"),
            ("notify-keyspace-events", "AKE"),
            ("port", Number(node.Port)),
            ("proto-max-bulk-len", Number(RequestLimits.MaxBulkBytes)),
            ("replica-read-only", "no"),
            ("save", string.Empty),
            ("slave-read-only", "no"),
            ("timeout", "0"),
        ];

    private static string Number(long value) => value.ToString(CultureInfo.InvariantCulture);
}
