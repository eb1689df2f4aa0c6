using System.Buffers.Text;
using System.Text;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;

namespace Rookery.Redis.Commands;

/// <summary>PING, ECHO, AUTH, HELLO, SELECT, QUIT and RESET.</summary>
internal static class ConnectionCommands
{
    /// <summary>Version of Redis whose commands and replies this server has.</summary>
    public const string RedisVersion = "7.0.15";

    public static void Ping(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var replies = connection.Replies;
        if (arguments.Count > 1)
        {
            connection.Fail("ERR wrong number of arguments for 'ping' command");
        }
        else if (replies.Version == 2 && connection.Subscriptions.Count > 0)
        {
            replies.Array(2);
            replies.Bulk("pong"u8);
            replies.Bulk(arguments.Count == 1 ? arguments[0] : default);
        }
        else if (arguments.Count == 1)
        {
            replies.Bulk(arguments[0]);
        }
        else
        {
            replies.Simple("PONG"u8);
        }
    }

    public static void Echo(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments) =>
        connection.Replies.Bulk(arguments[0]);

    public static ValueTask AuthenticateAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    )
    {
        if (arguments.Count > 2)
        {
            connection.Fail("ERR syntax error");
            return ValueTask.CompletedTask;
        }

        return AuthenticateAsync(
            connection,
            arguments.Count == 2 ? Encoding.UTF8.GetString(arguments[0]) : ConnectionIdentity.DefaultUser,
            ConnectionIdentity.TokenOf(arguments[arguments.Count - 1])
        );
    }

    public static ValueTask HelloAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var request = new HelloRequest();
        if (request.TryRead(arguments, connection.Replies.Version) is { } problem)
        {
            connection.Fail(problem);
            return ValueTask.CompletedTask;
        }

        return HelloAsync(connection, request);
    }

    public static void Select(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (!Utf8Parser.TryParse(arguments[0], out long number, out int length) || length != arguments[0].Length)
        {
            connection.Fail("ERR value is not an integer or out of range");
        }
        else if (number != 0)
        {
            connection.Fail("ERR DB index is out of range: there is database 0 only");
        }
        else
        {
            connection.Replies.Ok();
        }
    }

    public static void Quit(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        connection.Replies.Ok();
        connection.IsEnding = true;
    }

    public static void Reset(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        TransactionCommands.End(connection);
        connection.Subscriptions.Clear();
        connection.Name = string.Empty;
        connection.ReplyMode = ReplyMode.On;
        connection.Replies.Version = 2;
        connection.Identity.Forget();
        connection.Replies.Simple("RESET"u8);
    }

    private static async ValueTask AuthenticateAsync(RedisConnection connection, string user, string? token)
    {
        if (await connection.Identity.AuthenticateAsync(user, token ?? string.Empty) is { } problem)
        {
            connection.Fail(problem);
        }
        else
        {
            connection.TrustClient();
            connection.Replies.Ok();
        }
    }

    private static async ValueTask HelloAsync(RedisConnection connection, HelloRequest request)
    {
        if (request.Token is { } token)
        {
            if (await connection.Identity.AuthenticateAsync(request.User, token) is { } problem)
            {
                connection.Fail(problem);
                return;
            }

            connection.TrustClient();
        }

        if (!connection.Identity.IsKnown)
        {
            connection.Fail(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH "
                    + "<user> <pass> option can be used to authenticate the client and select the RESP protocol "
                    + "version at the same time"
            );
            return;
        }

        connection.Name = request.Name ?? connection.Name;
        var replies = connection.Replies;
        replies.Version = request.Version;
        replies.Map(7);
        replies.Bulk("server"u8);
        replies.Bulk("redis"u8);
        replies.Bulk("version"u8);
        replies.Bulk(RedisVersion);
        replies.Bulk("proto"u8);
        replies.Integer(request.Version);
        replies.Bulk("id"u8);
        replies.Integer(connection.Id);
        replies.Bulk("mode"u8);
        replies.Bulk("standalone"u8);
        replies.Bulk("role"u8);
        replies.Bulk("master"u8);
        replies.Bulk("modules"u8);
        replies.Array(0);
    }

    /// <summary>The options of HELLO.</summary>
    private sealed class HelloRequest
    {
        public int Version { get; private set; }

        public string User { get; private set; } = ConnectionIdentity.DefaultUser;

        public string? Token { get; private set; }

        public string? Name { get; private set; }

        /// <summary>Reads the options; returns the error for the client, or null.</summary>
        public string? TryRead(RedisArguments arguments, int version)
        {
            Version = version;
            if (arguments.Count == 0)
            {
                return null;
            }

            if (!Utf8Parser.TryParse(arguments[0], out int number, out int length) || length != arguments[0].Length)
            {
                return "ERR Protocol version is not an integer or out of range";
            }

            if (number is < 2 or > 3)
            {
                return "NOPROTO unsupported protocol version";
            }

            Version = number;
            for (int i = 1; i < arguments.Count; )
            {
                if (Ascii.EqualsIgnoreCase(arguments[i], "AUTH"u8) && i + 2 < arguments.Count)
                {
                    User = Encoding.UTF8.GetString(arguments[i + 1]);
                    Token = ConnectionIdentity.TokenOf(arguments[i + 2]) ?? string.Empty;
                    i += 3;
                }
                else if (Ascii.EqualsIgnoreCase(arguments[i], "SETNAME"u8) && i + 1 < arguments.Count)
                {
                    Name = Encoding.UTF8.GetString(arguments[i + 1]);
                    i += 2;
                    if (!ClientCommands.IsName(Name))
                    {
                        return ClientCommands.InvalidName;
                    }
                }
                else
                {
                    return $"ERR Syntax error in HELLO option '{Encoding.Latin1.GetString(arguments[i])}'";
                }
            }

            return null;
        }
    }
}
