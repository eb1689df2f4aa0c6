using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>LINSERT, LMOVE and RPOPLPUSH.</summary>
internal sealed class ListMoves(RedisSession session, ListValue list)
{
    private const long NoPivot = -1;

    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is none of these.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.ListInsert:
                Insert(arguments);
                return true;
            case O.ListMove:
                if (TryReadEnd(arguments[2], out bool fromLeft) && TryReadEnd(arguments[3], out bool toLeft))
                {
                    Move(arguments, fromLeft, toLeft);
                }

                return true;
            case O.ListPopRightPushLeft:
                Move(arguments, fromLeft: false, toLeft: true);
                return true;
            default:
                return false;
        }
    }

    private void Insert(RedisArguments arguments)
    {
        bool isBefore = RedisNumber.IsWord(arguments[1], "BEFORE"u8);
        if (!isBefore && !RedisNumber.IsWord(arguments[1], "AFTER"u8))
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        int at = 0;
        while (at < list.Count && !list.Read(body, at).SequenceEqual(arguments[2]))
        {
            at++;
        }

        if (at == list.Count)
        {
            Reply.Integer(target.Exists ? NoPivot : 0);
            return;
        }

        at += isBefore ? 0 : 1;
        list.Begin(target);
        list.Append(body, 0, at);
        list.AppendNew(arguments[3]);
        list.Append(body, at, list.Count - at);
        if (list.TryPut(target))
        {
            Reply.Integer(list.Count + 1);
        }
    }

    private bool TryReadEnd(ReadOnlySpan<byte> word, out bool isLeft)
    {
        isLeft = RedisNumber.IsWord(word, "LEFT"u8);
        if (isLeft || RedisNumber.IsWord(word, "RIGHT"u8))
        {
            return true;
        }

        Reply.Error(RedisErrors.Syntax);
        return false;
    }

    private void Move(RedisArguments arguments, bool fromLeft, bool toLeft)
    {
        using var source = session.Open(arguments[0]);
        if (!list.TryLoad(source, out var body))
        {
            return;
        }

        if (list.Count == 0)
        {
            Reply.Null();
            return;
        }

        int moved = fromLeft ? 0 : list.Count - 1;
        int firstKept = fromLeft ? 1 : 0;
        using var target = session.OpenSecond(arguments[1]);
        bool isSame = source.LowerId.SequenceEqual(target.LowerId);
        if (!isSame && !session.IsTypeOrNone(target, RedisType.List))
        {
            return;
        }

        list.Begin(target);
        if (toLeft)
        {
            list.Append(body, moved, 1);
        }

        if (isSame)
        {
            list.Append(body, firstKept, list.Count - 1);
        }
        else
        {
            list.AppendAll(target);
        }

        if (!toLeft)
        {
            list.Append(body, moved, 1);
        }

        // The other list is stored first, because it may become too long.
        if (list.TryPut(target))
        {
            Reply.Bulk(list.Read(body, moved));
            if (!isSame)
            {
                list.Keep(source, body, firstKept, list.Count - 1);
            }
        }
    }
}
