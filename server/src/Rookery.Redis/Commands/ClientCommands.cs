using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Server.Access;

namespace Rookery.Redis.Commands;

/// <summary>CLIENT.</summary>
internal static class ClientCommands
{
    public const string InvalidName =
        "ERR Client names cannot contain spaces, newlines or special characters, and have at most 256 bytes.";

    private const int MaxNameLength = 256;

    /// <summary>Whether a text may be a client's name: printable ASCII without spaces, and not long.</summary>
    public static bool IsName(string name) =>
        name.Length <= MaxNameLength && !name.AsSpan().ContainsAnyExceptInRange('!', '~');

    public static void Run(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        string subcommand = Encoding.Latin1.GetString(arguments[0]).ToUpperInvariant();
        var replies = connection.Replies;
        switch (subcommand)
        {
            case "ID" when arguments.Count == 1:
                replies.Integer(connection.Id);
                break;
            case "GETNAME" when arguments.Count == 1:
                if (connection.Name.Length == 0)
                {
                    replies.Null();
                }
                else
                {
                    replies.Bulk(connection.Name);
                }

                break;
            case "SETNAME" when arguments.Count == 2:
                SetName(connection, Encoding.UTF8.GetString(arguments[1]));
                break;
            case "SETINFO" when arguments.Count == 3:
                SetInfo(connection, arguments);
                break;
            case "INFO" when arguments.Count == 1:
                replies.Verbatim(Describe(connection) + "\n");
                break;
            case "LIST":
                List(connection, arguments);
                break;
            case "KILL" when arguments.Count > 1:
                Kill(connection, arguments);
                break;
            case "NO-EVICT" or "NO-TOUCH" when arguments.Count == 2 && IsOnOrOff(arguments[1]):
                // No connection is evicted, and reading a key changes nothing.
                replies.Ok();
                break;
            case "REPLY" when arguments.Count == 2:
                SetReplyMode(connection, arguments[1]);
                break;
            default:
                connection.Fail(
                    $"ERR Unknown subcommand or wrong number of arguments for '{subcommand}'. Served are CLIENT ID, "
                        + "SETNAME, GETNAME, SETINFO, INFO, LIST, KILL, NO-EVICT, NO-TOUCH and REPLY."
                );
                break;
        }
    }

    private static bool IsOnOrOff(ReadOnlySpan<byte> text) =>
        Ascii.EqualsIgnoreCase(text, "on"u8) || Ascii.EqualsIgnoreCase(text, "off"u8);

    private static void SetName(RedisConnection connection, string name)
    {
        if (!IsName(name))
        {
            connection.Fail(InvalidName);
            return;
        }

        connection.Name = name;
        connection.Replies.Ok();
    }

    private static void SetInfo(RedisConnection connection, RedisArguments arguments)
    {
        string value = Encoding.UTF8.GetString(arguments[2]);
        if (!IsName(value))
        {
            connection.Fail("ERR lib-name and lib-ver cannot contain spaces, newlines or special characters.");
            return;
        }

        if (Ascii.EqualsIgnoreCase(arguments[1], "lib-name"u8))
        {
            connection.LibraryName = value;
        }
        else if (Ascii.EqualsIgnoreCase(arguments[1], "lib-ver"u8))
        {
            connection.LibraryVersion = value;
        }
        else
        {
            connection.Fail($"ERR Unrecognized option '{Encoding.Latin1.GetString(arguments[1])}'");
            return;
        }

        connection.Replies.Ok();
    }

    private static void SetReplyMode(RedisConnection connection, ReadOnlySpan<byte> mode)
    {
        if (Ascii.EqualsIgnoreCase(mode, "on"u8))
        {
            connection.ReplyMode = ReplyMode.On;
            connection.Replies.Ok();
        }
        else if (Ascii.EqualsIgnoreCase(mode, "off"u8))
        {
            connection.ReplyMode = ReplyMode.Off;
        }
        else if (Ascii.EqualsIgnoreCase(mode, "skip"u8))
        {
            if (connection.ReplyMode == ReplyMode.On)
            {
                connection.ReplyMode = ReplyMode.SkipThis;
            }
        }
        else
        {
            connection.Fail("ERR syntax error");
        }
    }

    private static void List(RedisConnection connection, RedisArguments arguments)
    {
        if (arguments.Count > 1 && !(arguments.Count == 3 && Ascii.EqualsIgnoreCase(arguments[1], "type"u8)))
        {
            connection.Fail("ERR syntax error");
            return;
        }

        string type = arguments.Count == 3 ? Encoding.Latin1.GetString(arguments[2]).ToLowerInvariant() : string.Empty;
        if (type is not ("" or "normal" or "pubsub" or "master" or "replica" or "slave"))
        {
            connection.Fail($"ERR Unknown client type '{type}'");
            return;
        }

        // Others' addresses and names are for administrators.
        bool seesAll = (connection.Identity.Scopes & AccessScopes.Admin) != AccessScopes.None;
        var text = new StringBuilder();
        foreach (var client in connection.Node.Clients.All)
        {
            if ((seesAll || ReferenceEquals(client, connection)) && IsOfType(client, type))
            {
                text.Append(Describe(client)).Append('\n');
            }
        }

        connection.Replies.Verbatim(text.ToString());
    }

    private static bool IsOfType(RedisConnection client, string type) =>
        type switch
        {
            "" => true,
            "normal" => client.Subscriptions.Count == 0,
            "pubsub" => client.Subscriptions.Count > 0,
            _ => false,
        };

    private static void Kill(RedisConnection connection, RedisArguments arguments)
    {
        var filter = new KillFilter();
        bool isOldForm = arguments.Count == 2;
        if (!filter.TryRead(arguments, isOldForm))
        {
            connection.Fail("ERR syntax error");
            return;
        }

        if ((connection.Identity.Scopes & AccessScopes.Admin) == AccessScopes.None)
        {
            connection.Fail(connection.Identity.Refuse("client kill", AccessScopes.Admin));
            return;
        }

        int killed = 0;
        foreach (var client in connection.Node.Clients.All)
        {
            bool isSelf = ReferenceEquals(client, connection);
            if (filter.Matches(client) && !(isSelf && filter.SkipsSelf && !isOldForm))
            {
                killed++;
                if (isSelf)
                {
                    connection.IsEnding = true;
                }
                else
                {
                    client.Kill("Another client killed the connection.");
                }
            }
        }

        if (!isOldForm)
        {
            connection.Replies.Integer(killed);
        }
        else if (killed > 0)
        {
            connection.Replies.Ok();
        }
        else
        {
            connection.Fail("ERR No such client");
        }
    }

    private static string Describe(RedisConnection client)
    {
        var time = client.Node.Context.Time;
        return string.Create(
            CultureInfo.InvariantCulture,
            $"id={client.Id} addr={client.RemoteAddress} laddr={client.LocalAddress} fd=0 name={client.Name} "
                + $"age={(long)time.GetElapsedTime(client.ConnectedAt).TotalSeconds} "
                + $"idle={(long)time.GetElapsedTime(client.LastCommandAt).TotalSeconds} "
                + $"flags={(client.Subscriptions.Count > 0 ? "P" : client.Transaction is not null ? "x" : "N")} db=0 "
                + $"sub={client.Subscriptions.ChannelCount} psub={client.Subscriptions.PatternCount} ssub=0 "
                + $"multi={client.Transaction?.Commands.Count ?? -1} cmd={client.LastCommand} "
                + $"user={client.Identity.Name} resp={client.Replies.Version} "
                + $"lib-name={client.LibraryName} lib-ver={client.LibraryVersion}"
        );
    }

    /// <summary>Which connections CLIENT KILL ends.</summary>
    private sealed class KillFilter
    {
        private long? _id;
        private string? _address;
        private string? _localAddress;
        private string? _user;
        private string? _type;

        public bool SkipsSelf { get; private set; } = true;

        public bool TryRead(RedisArguments arguments, bool isOldForm)
        {
            if (isOldForm)
            {
                _address = Text(arguments[1]);
                return true;
            }

            for (int i = 1; i < arguments.Count; i += 2)
            {
                if (i + 1 == arguments.Count || !TrySet(Text(arguments[i]).ToUpperInvariant(), arguments[i + 1]))
                {
                    return false;
                }
            }

            return true;
        }

        public bool Matches(RedisConnection client) =>
            (_id is null || _id == client.Id)
            && (_address is null || string.Equals(_address, client.RemoteAddress, StringComparison.Ordinal))
            && (_localAddress is null || string.Equals(_localAddress, client.LocalAddress, StringComparison.Ordinal))
            && (_user is null || string.Equals(_user, client.Identity.Name, StringComparison.Ordinal))
            && (_type is null || IsOfType(client, _type));

        private bool TrySet(string name, ReadOnlySpan<byte> value)
        {
            switch (name)
            {
                case "ID":
                    bool isNumber = Utf8Parser.TryParse(value, out long id, out int length) && length == value.Length;
                    _id = id;
                    return isNumber && id > 0;
                case "ADDR":
                    _address = Text(value);
                    return true;
                case "LADDR":
                    _localAddress = Text(value);
                    return true;
                case "USER":
                    _user = Text(value);
                    return true;
                case "TYPE":
                    _type = Text(value).ToLowerInvariant();
                    return _type is "normal" or "pubsub" or "master" or "replica" or "slave";
                case "SKIPME":
                    SkipsSelf = !Ascii.EqualsIgnoreCase(value, "no"u8);
                    return !SkipsSelf || Ascii.EqualsIgnoreCase(value, "yes"u8);
                default:
                    return false;
            }
        }

        private static string Text(ReadOnlySpan<byte> bytes) => Encoding.UTF8.GetString(bytes);
    }
}
