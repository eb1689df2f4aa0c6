using Rookery.Documents.Redis;

namespace Rookery.Redis.Commands;

/// <summary>Why commands of Redis are not served.</summary>
internal static class UnservedCommands
{
    /// <summary>Returns the error for a command that is known and not served.</summary>
    public static string Refuse(RedisCommandInfo command) =>
        $"ERR '{command.Name}' is not served by Rookery: {Reason(command)} See docs/reference/redis.md.";

    private static string Reason(RedisCommandInfo command) =>
        command.Group switch
        {
            RedisCommandGroup.SortedSet => "it has no sorted sets; a query over documents sorts by any member.",
            RedisCommandGroup.Geo => "it has no geographic sets.",
            RedisCommandGroup.Stream => "there is one stream, 'changes', which is only read.",
            RedisCommandGroup.Scripting => "it runs no Lua; use MULTI and EXEC, or patches over HTTP.",
            RedisCommandGroup.Cluster => "every member takes every command, so clients need no map of the cluster.",
            RedisCommandGroup.HyperLogLog => "it has no HyperLogLog.",
            RedisCommandGroup.Bitmap => "it has no bitmaps.",
            RedisCommandGroup.Server => "the settings, the data and the members are administered over HTTP and by the "
                + "command rookery.",
            _ => "this version lacks it.",
        };
}
