namespace Rookery.Documents.Redis.Running;

/// <summary>
/// What HSCAN and SSCAN share. They return all elements at once, with the cursor 0, as Redis does for small values.
/// </summary>
internal static class ScanOptions
{
    /// <summary>Checks the arguments.</summary>
    /// <param name="session">The session.</param>
    /// <param name="target">The key.</param>
    /// <param name="type">The type that the key must have.</param>
    /// <param name="arguments">The key, the cursor and the options.</param>
    /// <param name="pattern">The pattern of MATCH.</param>
    /// <returns>False if the reply is complete: an error, or no elements.</returns>
    public static bool TryBegin(
        RedisSession session,
        RedisTarget target,
        RedisType type,
        RedisArguments arguments,
        out ReadOnlySpan<byte> pattern
    )
    {
        pattern = "*"u8;
        if (!ulong.TryParse(arguments[1], System.Globalization.NumberStyles.None, provider: null, out _))
        {
            session.Reply.Error(RedisErrors.InvalidCursor);
            return false;
        }

        if (!target.Exists)
        {
            Begin(session.Reply, 0);
            return false;
        }

        if (!session.IsTypeOrNone(target, type))
        {
            return false;
        }

        for (int i = 2; i < arguments.Count; i += 2)
        {
            bool isCount = RedisNumber.IsWord(arguments[i], "COUNT"u8);
            if (i + 1 == arguments.Count || !(isCount || RedisNumber.IsWord(arguments[i], "MATCH"u8)))
            {
                session.Reply.Error(RedisErrors.Syntax);
                return false;
            }

            if (!isCount)
            {
                pattern = arguments[i + 1];
                continue;
            }

            if (!session.TryReadInteger(arguments[i + 1], out long count))
            {
                return false;
            }

            if (count < 1)
            {
                session.Reply.Error(RedisErrors.Syntax);
                return false;
            }
        }

        return true;
    }

    /// <summary>Begins the reply: the cursor, and an array of elements that the caller writes.</summary>
    public static void Begin(RedisReply reply, int count)
    {
        reply.Array(2);
        reply.BulkNumber(0);
        reply.Array(count);
    }
}
