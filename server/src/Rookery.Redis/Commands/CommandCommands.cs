using System.Text;
using Rookery.Documents.Redis;
using Rookery.Documents.Redis.Running;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>COMMAND: the commands that this server serves.</summary>
internal static class CommandCommands
{
    private static readonly (RedisCommandTraits Flag, string Name)[] FlagNames =
    [
        (RedisCommandTraits.Write, "write"),
        (RedisCommandTraits.ReadOnly, "readonly"),
        (RedisCommandTraits.Grows, "denyoom"),
        (RedisCommandTraits.Administrative, "admin"),
        (RedisCommandTraits.PubSub, "pubsub"),
        (RedisCommandTraits.NotInScripts, "noscript"),
        (RedisCommandTraits.Blocking, "blocking"),
        (RedisCommandTraits.Fast, "fast"),
        (RedisCommandTraits.NotInTransactions, "no_multi"),
        (RedisCommandTraits.MovableKeys, "movablekeys"),
    ];

    private static readonly RedisCommandInfo[] Served =
    [
        .. RedisCommandTable.Commands.Where(static command =>
            command.Opcode != RedisOpcode.None || ControlCommands.Find(command.Name) is not null
        ),
    ];

    public static void Run(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var replies = connection.Replies;
        string subcommand =
            arguments.Count == 0 ? string.Empty : Encoding.Latin1.GetString(arguments[0]).ToUpperInvariant();
        switch (subcommand)
        {
            case "":
                WriteAll(replies);
                break;
            case "COUNT" when arguments.Count == 1:
                replies.Integer(Served.Length);
                break;
            case "INFO":
                WriteInfos(replies, arguments);
                break;
            case "DOCS":
                WriteDocs(replies, arguments);
                break;
            case "LIST":
                WriteList(connection, arguments);
                break;
            case "GETKEYS" when arguments.Count > 1:
                WriteKeys(connection, arguments);
                break;
            default:
                connection.Fail(
                    $"ERR Unknown subcommand or wrong number of arguments for '{subcommand}'. Served are COMMAND "
                        + "COUNT, INFO, DOCS, LIST and GETKEYS."
                );
                break;
        }
    }

    private static void WriteAll(ReplyBuffer replies)
    {
        replies.Array(Served.Length);
        foreach (var served in Served)
        {
            WriteInfo(replies, served);
        }
    }

    private static void WriteInfos(ReplyBuffer replies, RedisArguments arguments)
    {
        if (arguments.Count == 1)
        {
            WriteAll(replies);
            return;
        }

        replies.Array(arguments.Count - 1);
        for (int i = 1; i < arguments.Count; i++)
        {
            if (FindServed(arguments[i]) is { } served)
            {
                WriteInfo(replies, served);
            }
            else
            {
                replies.NullArray();
            }
        }
    }

    private static void WriteInfo(ReplyBuffer replies, RedisCommandInfo command)
    {
        replies.Array(10);
        replies.Bulk(command.Name);
        replies.Integer(command.Arity);
        string[] flags =
        [
            .. FlagNames
                .Where(known => (command.Flags & known.Flag) != RedisCommandTraits.None)
                .Select(static known => known.Name),
        ];
        replies.Set(flags.Length);
        foreach (string flag in flags)
        {
            replies.Simple(Encoding.ASCII.GetBytes(flag));
        }

        replies.Integer(command.FirstKey);
        replies.Integer(command.LastKey);
        replies.Integer(command.KeyStep);
        replies.Set(1);
        replies.Simple(Encoding.ASCII.GetBytes(CategoryOf(command)));
        replies.Array(0); // tips
        replies.Array(0); // key specifications
        replies.Array(0); // subcommands
    }

    private static string CategoryOf(RedisCommandInfo command) =>
        command.IsWrite ? "@write"
        : (command.Flags & RedisCommandTraits.ReadOnly) != RedisCommandTraits.None ? "@read"
        : $"@{command.Group.ToString().ToLowerInvariant()}";

    private static void WriteDocs(ReplyBuffer replies, RedisArguments arguments)
    {
        var shown = new List<RedisCommandInfo>();
        if (arguments.Count == 1)
        {
            shown.AddRange(Served);
        }

        for (int i = 1; i < arguments.Count; i++)
        {
            if (FindServed(arguments[i]) is { } served && !shown.Contains(served))
            {
                shown.Add(served);
            }
        }

        replies.Map(shown.Count);
        foreach (var command in shown)
        {
            replies.Bulk(command.Name);
            replies.Map(2);
            replies.Bulk("summary"u8);
            replies.Bulk("As in Redis 7.0; docs/reference/redis.md says what differs.");
            replies.Bulk("group"u8);
            replies.Bulk(command.Group.ToString().ToLowerInvariant());
        }
    }

    private static void WriteList(RedisConnection connection, RedisArguments arguments)
    {
        bool isFiltered =
            arguments.Count == 4
            && Ascii.EqualsIgnoreCase(arguments[1], "filterby"u8)
            && Ascii.EqualsIgnoreCase(arguments[2], "pattern"u8);
        if (arguments.Count > 1 && !isFiltered)
        {
            connection.Fail("ERR syntax error");
            return;
        }

        var names = new List<string>();
        foreach (var command in Served)
        {
            if (!isFiltered || RedisPattern.IsMatch(arguments[3], Encoding.ASCII.GetBytes(command.Name)))
            {
                names.Add(command.Name);
            }
        }

        connection.Replies.Array(names.Count);
        foreach (string name in names)
        {
            connection.Replies.Bulk(name);
        }
    }

    private static void WriteKeys(RedisConnection connection, RedisArguments arguments)
    {
        int count = arguments.Count - 2;
        if (FindServed(arguments[1]) is not { } command)
        {
            connection.Fail("ERR Invalid command specified");
        }
        else if (!command.Accepts(count))
        {
            connection.Fail("ERR Invalid number of arguments specified for command");
        }
        else if (command.CountKeys(count) is not (> 0 and var keys))
        {
            connection.Fail("ERR The command has no key arguments");
        }
        else
        {
            connection.Replies.Array(keys);
            for (int i = 0; i < keys; i++)
            {
                connection.Replies.Bulk(arguments[1 + command.FirstKey + (i * command.KeyStep)]);
            }
        }
    }

    private static RedisCommandInfo? FindServed(ReadOnlySpan<byte> name) =>
        RedisCommandTable.TryFind(name, out var command) && Served.Contains(command) ? command : null;
}
