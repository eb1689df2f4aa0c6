using Rookery.Json;

namespace Rookery.Documents.Redis.Running;

/// <summary>HRANDFIELD.</summary>
internal sealed class HashRandom(RedisSession session)
{
    private const long MaxCount = 1 << 20;

    private readonly List<(RedisSlice Name, bool IsEscaped, RedisSlice Value)> _members = [];

    private RedisReply Reply => session.Reply;

    /// <summary>Replies with random fields.</summary>
    public void Run(RedisArguments arguments)
    {
        bool hasCount = arguments.Count > 1;
        bool withValues = arguments.Count == 3 && RedisNumber.IsWord(arguments[2], "WITHVALUES"u8);
        long count = 1;
        if (hasCount && !session.TryReadInteger(arguments[1], out count))
        {
            return;
        }

        if (arguments.Count > 3 || (arguments.Count == 3 && !withValues))
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        if (count is < -MaxCount or > long.MaxValue / 2)
        {
            Reply.Error(RedisErrors.OutOfRange);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        var body = target.Exists ? target.View.Body : default;
        try
        {
            Load(body);
            if (!hasCount)
            {
                ReplyOne(body);
            }
            else
            {
                ReplyMany(body, count, withValues);
            }
        }
        finally
        {
            // A reply that is too long ends the command with an exception. The next command must not find its members,
            // which a member of the cluster that was restarted would not find.
            _members.Clear();
            _members.TrimExcess();
        }
    }

    private void Load(ReadOnlySpan<byte> body)
    {
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            _members.Add((new RedisSlice(name.Start, name.Length), name.Escaped, new RedisSlice(start, at - start)));
        }
    }

    private void ReplyOne(ReadOnlySpan<byte> body)
    {
        if (_members.Count == 0)
        {
            Reply.Null();
            return;
        }

        ReplyField(body, (int)new RedisRandom(session.Store.Seed).Next(_members.Count));
    }

    // With a negative count, a field may be chosen more than once.
    private void ReplyMany(ReadOnlySpan<byte> body, long count, bool withValues)
    {
        var random = new RedisRandom(session.Store.Seed);
        bool repeats = count < 0;
        int chosen =
            _members.Count == 0 ? 0
            : repeats ? (int)-count
            : (int)Math.Min(count, _members.Count);
        Reply.Array(chosen);
        for (int i = 0; i < chosen; i++)
        {
            int next = repeats ? (int)random.Next(_members.Count) : i + (int)random.Next(_members.Count - i);
            if (!repeats)
            {
                (_members[i], _members[next]) = (_members[next], _members[i]);
                next = i;
            }

            if (withValues)
            {
                Reply.Array(2);
            }

            ReplyField(body, next);
            if (withValues)
            {
                var value = _members[next].Value;
                Reply.Bulk(RedisBody.ReadElement(body.Slice(value.Start, value.Length), session.Value));
            }
        }
    }

    private void ReplyField(ReadOnlySpan<byte> body, int index)
    {
        var (name, isEscaped, _) = _members[index];
        Reply.Bulk(RedisField.Read(body, new JsonSlice(name.Start, name.Length, isEscaped), session.Field));
    }
}
