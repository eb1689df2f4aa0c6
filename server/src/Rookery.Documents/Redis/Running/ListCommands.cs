using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on lists.</summary>
internal sealed class ListCommands(RedisSession session)
{
    private readonly RedisArray _elements = new();

    private RedisReply Reply => session.Reply;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim() => _elements.Trim();

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
            default:
                return false;
        }
    }

    // Loads the elements; false if the key has another type, which is replied.
    private bool TryLoad(RedisTarget target, out ReadOnlySpan<byte> body)
    {
        body = default;
        if (!session.IsTypeOrNone(target, RedisType.List))
        {
            return false;
        }

        body = target.Exists ? target.View.Body : default;
        _elements.Load(body);
        return true;
    }

    private void Begin(RedisTarget target)
    {
        if (target.Exists)
        {
            session.Content.Begin(target.View, RedisType.List, target.ExpiresAtTicks);
        }
        else
        {
            session.Content.Begin(RedisType.List, expiresAtTicks: 0);
        }

        session.Content.Append("\"List\":["u8);
    }

    private void Append(ReadOnlySpan<byte> body, int first, int count)
    {
        for (int i = first; i < first + count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(_elements.Json(body, i));
        }
    }

    private void Push(RedisArguments arguments, bool isLeft, bool onlyIfExists)
    {
        using var target = session.Open(arguments[0]);
        if (!TryLoad(target, out var body))
        {
            return;
        }

        if (onlyIfExists && !target.Exists)
        {
            Reply.Integer(false);
            return;
        }

        Begin(target);
        if (isLeft)
        {
            for (int i = arguments.Count - 1; i > 0; i--)
            {
                session.Content.AppendComma();
                session.Content.AppendElement(arguments[i]);
            }
        }

        Append(body, 0, _elements.Count);
        for (int i = 1; i < arguments.Count && !isLeft; i++)
        {
            session.Content.AppendComma();
            session.Content.AppendElement(arguments[i]);
        }

        session.Content.Append("]"u8);
        int count = _elements.Count + arguments.Count - 1;
        if (session.TryPut(target))
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
        if (!TryLoad(target, out var body))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Null();
            return;
        }

        int popped = (int)Math.Min(count, _elements.Count);
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
            Reply.Bulk(_elements.Read(body, isLeft ? i : _elements.Count - 1 - i, session.Value));
        }

        if (popped > 0)
        {
            Keep(target, body, isLeft ? popped : 0, _elements.Count - popped);
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
            if (!TryLoad(target, out var body))
            {
                return;
            }

            if (_elements.Count > 0)
            {
                Reply.Array(2);
                Reply.Bulk(arguments[i]);
                Reply.Bulk(_elements.Read(body, isLeft ? 0 : _elements.Count - 1, session.Value));
                Keep(target, body, isLeft ? 1 : 0, _elements.Count - 1);
                return;
            }
        }

        Reply.Null();
    }

    private void Keep(RedisTarget target, ReadOnlySpan<byte> body, int first, int count)
    {
        Begin(target);
        Append(body, first, count);
        session.Content.Append("]"u8);
        session.PutOrDelete(target, count);
    }

    private void Length(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (TryLoad(target, out _))
        {
            Reply.Integer(_elements.Count);
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
        start = start < 0 ? Math.Max(start + _elements.Count, 0) : start;
        end = Math.Min(end < 0 ? end + _elements.Count : end, _elements.Count - 1);
        return start > end ? (0, 0) : ((int)start, (int)(end - start + 1));
    }

    private void ReplyRange(RedisArguments arguments)
    {
        if (!TryReadRange(arguments, out long start, out long end))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!TryLoad(target, out var body))
        {
            return;
        }

        var (first, count) = Limit(start, end);
        Reply.Array(count);
        for (int i = first; i < first + count; i++)
        {
            Reply.Bulk(_elements.Read(body, i, session.Value));
        }
    }

    private void ReplyIndex(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!TryLoad(target, out var body))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Null();
        }
        else if (session.TryReadInteger(arguments[1], out long index))
        {
            index += index < 0 ? _elements.Count : 0;
            if (index >= 0 && index < _elements.Count)
            {
                Reply.Bulk(_elements.Read(body, (int)index, session.Value));
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
        if (!TryLoad(target, out var body))
        {
            return;
        }

        int matches = 0;
        for (int i = 0; i < _elements.Count; i++)
        {
            matches += _elements.Read(body, i, session.Value).SequenceEqual(arguments[2]) ? 1 : 0;
        }

        // A negative count removes the last ones, so the first ones are kept.
        int removed = count == 0 ? matches : (int)Math.Min((ulong)matches, Absolute(count));
        int skipped = count < 0 ? matches - removed : 0;
        int left = removed;
        Begin(target);
        for (int i = 0; i < _elements.Count; i++)
        {
            if (left > 0 && _elements.Read(body, i, session.Value).SequenceEqual(arguments[2]) && skipped-- <= 0)
            {
                left--;
                continue;
            }

            Append(body, i, 1);
        }

        session.Content.Append("]"u8);
        if (removed > 0)
        {
            session.PutOrDelete(target, _elements.Count - removed);
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
        if (!TryLoad(target, out var body))
        {
            return;
        }

        var (first, count) = Limit(start, end);
        if (target.Exists && count < _elements.Count)
        {
            Keep(target, body, first, count);
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

        if (!TryLoad(target, out var body) || !session.TryReadInteger(arguments[1], out long index))
        {
            return;
        }

        index += index < 0 ? _elements.Count : 0;
        if (index < 0 || index >= _elements.Count)
        {
            Reply.Error(RedisErrors.IndexOutOfRange);
            return;
        }

        Begin(target);
        Append(body, 0, (int)index);
        session.Content.AppendComma();
        session.Content.AppendElement(arguments[2]);
        Append(body, (int)index + 1, _elements.Count - 1 - (int)index);
        session.Content.Append("]"u8);
        if (session.TryPut(target))
        {
            Reply.Ok();
        }
    }
}
