using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on lists.</summary>
internal sealed class ListCommands(RedisSession session, ListValue list)
{
    private readonly ListMoves _moves = new(session, list);
    private readonly ListPositions _positions = new(session, list);

    private RedisReply Reply => session.Reply;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim() => list.Trim();

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.ListPushLeft or O.ListPushLeftIfExists:
                Push(arguments, isLeft: true, onlyIfExists: opcode == O.ListPushLeftIfExists);
                return true;
            case O.ListPushRight or O.ListPushRightIfExists:
                Push(arguments, isLeft: false, onlyIfExists: opcode == O.ListPushRightIfExists);
                return true;
            case O.ListPopLeft or O.ListPopRight:
                Pop(arguments, isLeft: opcode == O.ListPopLeft);
                return true;
            case O.ListPopLeftOfFirst or O.ListPopRightOfFirst:
                PopOfFirst(arguments, isLeft: opcode == O.ListPopLeftOfFirst);
                return true;
            case O.ListLength:
                Length(arguments[0]);
                return true;
            case O.ListRange:
                ReplyRange(arguments);
                return true;
            case O.ListIndex:
                ReplyIndex(arguments);
                return true;
            case O.ListRemove:
                Remove(arguments);
                return true;
            case O.ListTrim:
                Trim(arguments);
                return true;
            case O.ListSet:
                Set(arguments);
                return true;
            case O.ListPositions:
                _positions.Run(arguments);
                return true;
            default:
                return _moves.TryRun(opcode, arguments);
        }
    }

    private void Push(RedisArguments arguments, bool isLeft, bool onlyIfExists)
    {
        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        if (onlyIfExists && !target.Exists)
        {
            Reply.Integer(false);
            return;
        }

        list.Begin(target);
        if (isLeft)
        {
            for (int i = arguments.Count - 1; i > 0; i--)
            {
                list.AppendNew(arguments[i]);
            }
        }

        list.Append(body, 0, list.Count);
        for (int i = 1; i < arguments.Count && !isLeft; i++)
        {
            list.AppendNew(arguments[i]);
        }

        int count = list.Count + arguments.Count - 1;
        if (list.TryPut(target))
        {
            Reply.Integer(count);
        }
    }

    private void Pop(RedisArguments arguments, bool isLeft)
    {
        bool hasCount = arguments.Count > 1;
        if (arguments.Count > 2)
        {
            Reply.Error($"ERR wrong number of arguments for '{session.CommandName}' command");
            return;
        }

        long count = 1;
        if (hasCount && (!RedisNumber.TryRead(arguments[1], out count) || count < 0))
        {
            Reply.Error(RedisErrors.NotPositive);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Null();
            return;
        }

        int popped = (int)Math.Min(count, list.Count);
        if (hasCount)
        {
            Reply.Array(popped);
        }
        else if (popped == 0)
        {
            Reply.Null(); // an empty list that another client wrote
        }

        for (int i = 0; i < popped; i++)
        {
            Reply.Bulk(list.Read(body, isLeft ? i : list.Count - 1 - i));
        }

        if (popped > 0)
        {
            list.Keep(target, body, isLeft ? popped : 0, list.Count - popped);
        }
    }

    // Pops from the first list that has elements, as BLPOP does when it need not wait.
    private void PopOfFirst(RedisArguments arguments, bool isLeft)
    {
        if (!RedisTimeout.TryRead(arguments[arguments.Count - 1], out _, out string? problem))
        {
            Reply.Error(problem);
            return;
        }

        for (int i = 0; i < arguments.Count - 1; i++)
        {
            using var target = session.Open(arguments[i]);
            if (!list.TryLoad(target, out var body))
            {
                return;
            }

            if (list.Count > 0)
            {
                Reply.Array(2);
                Reply.Bulk(arguments[i]);
                Reply.Bulk(list.Read(body, isLeft ? 0 : list.Count - 1));
                list.Keep(target, body, isLeft ? 1 : 0, list.Count - 1);
                return;
            }
        }

        Reply.Null();
    }

    private void Length(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (list.TryLoad(target, out _))
        {
            Reply.Integer(list.Count);
        }
    }

    private bool TryReadRange(RedisArguments arguments, out long start, out long end)
    {
        end = 0;
        return session.TryReadInteger(arguments[1], out start) && session.TryReadInteger(arguments[2], out end);
    }

    // Limits a range with positions from the start or, negative, from the end.
    private (int First, int Count) Limit(long start, long end)
    {
        start = start < 0 ? Math.Max(start + list.Count, 0) : start;
        end = Math.Min(end < 0 ? end + list.Count : end, list.Count - 1);
        return start > end ? (0, 0) : ((int)start, (int)(end - start + 1));
    }

    private void ReplyRange(RedisArguments arguments)
    {
        if (!TryReadRange(arguments, out long start, out long end))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        var (first, count) = Limit(start, end);
        Reply.Array(count);
        for (int i = first; i < first + count; i++)
        {
            Reply.Bulk(list.Read(body, i));
        }
    }

    private void ReplyIndex(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Null();
        }
        else if (session.TryReadInteger(arguments[1], out long index))
        {
            index += index < 0 ? list.Count : 0;
            if (index >= 0 && index < list.Count)
            {
                Reply.Bulk(list.Read(body, (int)index));
            }
            else
            {
                Reply.Null();
            }
        }
    }

    private void Remove(RedisArguments arguments)
    {
        if (!session.TryReadInteger(arguments[1], out long count))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        int matches = 0;
        for (int i = 0; i < list.Count; i++)
        {
            matches += list.Read(body, i).SequenceEqual(arguments[2]) ? 1 : 0;
        }

        // A negative count removes the last matches, so the first ones are skipped.
        int removed = count == 0 ? matches : (int)Math.Min((ulong)matches, Absolute(count));
        int skipped = count < 0 ? matches - removed : 0;
        int left = removed;
        list.Begin(target);
        for (int i = 0; i < list.Count; i++)
        {
            if (left > 0 && list.Read(body, i).SequenceEqual(arguments[2]) && skipped-- <= 0)
            {
                left--;
                continue;
            }

            list.Append(body, i, 1);
        }

        if (removed > 0)
        {
            list.PutOrDelete(target, list.Count - removed);
        }

        Reply.Integer(removed);
    }

    private static ulong Absolute(long value) => value < 0 ? (ulong)-(value + 1) + 1 : (ulong)value;

    private void Trim(RedisArguments arguments)
    {
        if (!TryReadRange(arguments, out long start, out long end))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        var (first, count) = Limit(start, end);
        if (target.Exists && count < list.Count)
        {
            list.Keep(target, body, first, count);
        }

        Reply.Ok();
    }

    private void Set(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!target.Exists)
        {
            Reply.Error(RedisErrors.NoSuchKey);
            return;
        }

        if (!list.TryLoad(target, out var body) || !session.TryReadInteger(arguments[1], out long index))
        {
            return;
        }

        index += index < 0 ? list.Count : 0;
        if (index < 0 || index >= list.Count)
        {
            Reply.Error(RedisErrors.IndexOutOfRange);
            return;
        }

        list.Begin(target);
        list.Append(body, 0, (int)index);
        list.AppendNew(arguments[2]);
        list.Append(body, (int)index + 1, list.Count - 1 - (int)index);
        if (list.TryPut(target))
        {
            Reply.Ok();
        }
    }
}
