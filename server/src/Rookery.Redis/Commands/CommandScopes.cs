using System.Text;
using Rookery.Documents.Redis;
using Rookery.Server.Access;

namespace Rookery.Redis.Commands;

/// <summary>The scopes that commands need. The rules are those of routes: docs/reference/access.md.</summary>
internal static class CommandScopes
{
    /// <summary>The scopes of commands that change keys and return what others stored.</summary>
    public const AccessScopes ReadAndWrite = AccessScopes.Read | AccessScopes.Write;

    /// <summary>Returns the scopes of a command.</summary>
    public static AccessScopes Of(RedisCommandInfo command, RedisArguments arguments) =>
        command.Name switch
        {
            // They return what other clients have stored.
            "getset" or "getdel" or "getex" or "lpop" or "rpop" or "blpop" or "brpop" or "spop" => ReadAndWrite,
            "lmove" or "rpoplpush" => ReadAndWrite,
            "incr" or "decr" or "incrby" or "decrby" or "incrbyfloat" => ReadAndWrite,
            "hincrby" or "hincrbyfloat" or "json.numincrby" => ReadAndWrite,
            "set" when HasGet(arguments) => ReadAndWrite,
            "publish" => AccessScopes.Write,
            "subscribe" or "psubscribe" or "pubsub" or "watch" => AccessScopes.Read,
            "xread" or "xrange" or "xrevrange" or "xlen" or "xinfo" => AccessScopes.Read,
            "flushall" or "flushdb" => AccessScopes.Admin,
            _ when command.IsWrite => AccessScopes.Write,
            _ when command.Opcode != RedisOpcode.None => AccessScopes.Read,
            _ => AccessScopes.None,
        };

    private static bool HasGet(RedisArguments arguments)
    {
        for (int i = 2; i < arguments.Count; i++)
        {
            if (Ascii.EqualsIgnoreCase(arguments[i], "get"u8))
            {
                return true;
            }
        }

        return false;
    }
}
