namespace Rookery.Documents.Redis.Running;

/// <summary>SRANDMEMBER.</summary>
internal sealed class SetRandom(RedisSession session, RedisArray members)
{
    private const long MaxCount = 1 << 20; // of members that may repeat

    private RedisReply Reply => session.Reply;

    /// <summary>Replies with random members.</summary>
    public void Run(RedisArguments arguments)
    {
        if (arguments.Count > 2)
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        bool hasCount = arguments.Count > 1;
        long count = 1;
        if (hasCount && !session.TryReadInteger(arguments[1], out count))
        {
            return;
        }

        if (count < -MaxCount)
        {
            Reply.Error(RedisErrors.OutOfRange);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Set))
        {
            return;
        }

        var body = target.Exists ? target.View.Body : default;
        members.Load(body);
        if (hasCount)
        {
            ReplyMany(body, count);
        }
        else if (members.Count == 0)
        {
            Reply.Null();
        }
        else
        {
            ReplyOne(body, (int)new RedisRandom(session.Store.Seed).Next(members.Count));
        }
    }

    // With a negative count, a member may be chosen more than once.
    private void ReplyMany(ReadOnlySpan<byte> body, long count)
    {
        var random = new RedisRandom(session.Store.Seed);
        bool repeats = count < 0;
        int chosen =
            members.Count == 0 ? 0
            : repeats ? (int)-count
            : (int)Math.Min(count, members.Count);
        Reply.Array(chosen);
        for (int i = 0; i < chosen; i++)
        {
            int next = repeats ? (int)random.Next(members.Count) : i + (int)random.Next(members.Count - i);
            if (!repeats)
            {
                members.Swap(i, next);
                next = i;
            }

            ReplyOne(body, next);
        }
    }

    private void ReplyOne(ReadOnlySpan<byte> body, int index) => Reply.Bulk(members.Read(body, index, session.Value));
}
