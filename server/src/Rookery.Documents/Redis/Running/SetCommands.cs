using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on sets.</summary>
internal sealed class SetCommands(RedisSession session, RedisArray members)
{
    private readonly SetAlgebra _algebra = new(session, members);
    private readonly SetRandom _random = new(session, members);

    private RedisReply Reply => session.Reply;

    private RedisIndex Index => session.Index;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim()
    {
        members.Trim();
        _algebra.Trim();
    }

    /// <summary>Releases all memory.</summary>
    public void Release() => _algebra.Release();

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.SetPop:
                Pop(arguments);
                return true;
            case O.SetMove:
                Move(arguments);
                return true;
            case O.SetRandomMember:
                _random.Run(arguments);
                return true;
            default:
                return _algebra.TryRun(opcode, arguments) || TryRunOnKey(opcode, arguments);
        }
    }

    private bool TryRunOnKey(O opcode, RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (opcode == O.SetScan)
        {
            Scan(target, arguments);
            return true;
        }

        if (!session.IsTypeOrNone(target, RedisType.Set))
        {
            return true;
        }

        var body = Load(target);
        switch (opcode)
        {
            case O.SetAdd:
                Add(target, body, arguments);
                return true;
            case O.SetRemove:
                Remove(target, body, arguments);
                return true;
            case O.SetMembers:
                ReplyMembers(body);
                return true;
            case O.SetCount:
                Reply.Integer(members.Count);
                return true;
            case O.SetIsMember or O.SetAreMembers:
                ReplyIsMember(body, arguments, isArray: opcode == O.SetAreMembers);
                return true;
            default:
                return false;
        }
    }

    private ReadOnlySpan<byte> Load(RedisTarget target)
    {
        var body = target.Exists ? target.View.Body : default;
        members.Load(body);
        return body;
    }

    private void Begin(RedisTarget target)
    {
        if (target.Exists)
        {
            session.Content.Begin(target.View, RedisType.Set, target.ExpiresAtTicks);
        }
        else
        {
            session.Content.Begin(RedisType.Set, expiresAtTicks: 0);
        }

        session.Content.Append("\"Set\":["u8);
    }

    private void Add(RedisTarget target, ReadOnlySpan<byte> body, RedisArguments arguments)
    {
        Begin(target);
        Index.Begin(arguments, first: 1, step: 1);
        for (int i = 0; i < members.Count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(members.Json(body, i));
            int argument = Index.Find(arguments, members.Read(body, i, session.Value));
            if (argument >= 0)
            {
                Index.TryMark(argument);
            }
        }

        int added = 0;
        for (int i = 0; i < Index.Count; i++)
        {
            if (Index.TryMark(Index.Find(arguments, arguments[1 + i])))
            {
                session.Content.AppendComma();
                session.Content.AppendElement(arguments[1 + i]);
                added++;
            }
        }

        Index.End();
        session.Content.Append("]"u8);
        if (added == 0 || session.TryPut(target))
        {
            Reply.Integer(added);
        }
    }

    private void Remove(RedisTarget target, ReadOnlySpan<byte> body, RedisArguments arguments)
    {
        Begin(target);
        Index.Begin(arguments, first: 1, step: 1);
        int removed = 0;
        for (int i = 0; i < members.Count; i++)
        {
            if (Index.Find(arguments, members.Read(body, i, session.Value)) >= 0)
            {
                removed++;
                continue;
            }

            session.Content.AppendComma();
            session.Content.Append(members.Json(body, i));
        }

        Index.End();
        session.Content.Append("]"u8);
        if (removed > 0)
        {
            session.PutOrDelete(target, members.Count - removed);
        }

        Reply.Integer(removed);
    }

    private void ReplyMembers(ReadOnlySpan<byte> body)
    {
        Reply.Set(members.Count);
        for (int i = 0; i < members.Count; i++)
        {
            Reply.Bulk(members.Read(body, i, session.Value));
        }
    }

    private void ReplyIsMember(ReadOnlySpan<byte> body, RedisArguments arguments, bool isArray)
    {
        Index.Begin(arguments, first: 1, step: 1);
        for (int i = 0; i < members.Count; i++)
        {
            int argument = Index.Find(arguments, members.Read(body, i, session.Value));
            if (argument >= 0)
            {
                Index.TryMark(argument);
            }
        }

        if (isArray)
        {
            Reply.Array(Index.Count);
        }

        for (int i = 0; i < Index.Count; i++)
        {
            Reply.Integer(Index.IsMarked(Index.Find(arguments, arguments[1 + i])));
        }

        Index.End();
    }

    // The members are chosen by the time and the etag of the entry, so that all members of the cluster choose the same.
    private void Pop(RedisArguments arguments)
    {
        bool hasCount = arguments.Count > 1;
        if (arguments.Count > 2)
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        long count = 1;
        if (hasCount && (!RedisNumber.TryRead(arguments[1], out count) || count < 0))
        {
            Reply.Error(RedisErrors.NotPositive);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Set))
        {
            return;
        }

        var body = Load(target);
        int popped = (int)Math.Min(count, members.Count);
        var random = new RedisRandom(session.Store.Seed);
        for (int i = 0; i < popped; i++)
        {
            members.Swap(i, i + (int)random.Next(members.Count - i));
        }

        if (hasCount)
        {
            Reply.Set(popped);
        }
        else if (popped == 0)
        {
            Reply.Null();
        }

        for (int i = 0; i < popped; i++)
        {
            Reply.Bulk(members.Read(body, i, session.Value));
        }

        if (popped > 0)
        {
            StoreRest(target, body, popped);
        }
    }

    private void StoreRest(RedisTarget target, ReadOnlySpan<byte> body, int popped)
    {
        Begin(target);
        for (int i = popped; i < members.Count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(members.Json(body, i));
        }

        session.Content.Append("]"u8);
        session.PutOrDelete(target, members.Count - popped);
    }

    private void Move(RedisArguments arguments)
    {
        using var source = session.Open(arguments[0]);
        using var target = session.OpenSecond(arguments[1]);
        if (!source.Exists)
        {
            Reply.Integer(false);
            return;
        }

        if (!session.IsTypeOrNone(source, RedisType.Set) || !session.IsTypeOrNone(target, RedisType.Set))
        {
            return;
        }

        var member = arguments[2];
        bool isMember = Contains(Load(source), member);
        if (!isMember || source.LowerId.SequenceEqual(target.LowerId))
        {
            Reply.Integer(isMember);
        }
        else if (TryAdd(target, member)) // before the removal, because the other set may become too long
        {
            RemoveOne(source, member);
            Reply.Integer(true);
        }
    }

    private bool Contains(ReadOnlySpan<byte> body, ReadOnlySpan<byte> member)
    {
        int i = 0;
        while (i < members.Count && !members.Read(body, i, session.Value).SequenceEqual(member))
        {
            i++;
        }

        return i < members.Count;
    }

    private bool TryAdd(RedisTarget target, ReadOnlySpan<byte> member)
    {
        var body = Load(target);
        if (Contains(body, member))
        {
            return true;
        }

        Begin(target);
        for (int i = 0; i < members.Count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(members.Json(body, i));
        }

        session.Content.AppendComma();
        session.Content.AppendElement(member);
        session.Content.Append("]"u8);
        return session.TryPut(target);
    }

    private void RemoveOne(RedisTarget source, ReadOnlySpan<byte> member)
    {
        var body = Load(source);
        int kept = 0;
        Begin(source);
        for (int i = 0; i < members.Count; i++)
        {
            if (!members.Read(body, i, session.Value).SequenceEqual(member))
            {
                session.Content.AppendComma();
                session.Content.Append(members.Json(body, i));
                kept++;
            }
        }

        session.Content.Append("]"u8);
        session.PutOrDelete(source, kept);
    }

    private void Scan(RedisTarget target, RedisArguments arguments)
    {
        if (!ScanOptions.TryBegin(session, target, RedisType.Set, arguments, out var pattern))
        {
            return;
        }

        var body = Load(target);
        int matches = 0;
        for (int i = 0; i < members.Count; i++)
        {
            matches += session.IsMatch(pattern, members.Read(body, i, session.Value)) ? 1 : 0;
        }

        ScanOptions.Begin(Reply, matches);
        for (int i = 0; i < members.Count; i++)
        {
            var member = members.Read(body, i, session.Value);
            if (session.IsMatch(pattern, member))
            {
                Reply.Bulk(member);
            }
        }
    }
}
