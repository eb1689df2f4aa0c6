using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on sets.</summary>
internal sealed class SetCommands(RedisSession session)
{
    private readonly RedisArray _members = new();

    private RedisReply Reply => session.Reply;

    private RedisIndex Index => session.Index;

    /// <summary>Returns large memory after a command.</summary>
    public void Trim() => _members.Trim();

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        if (opcode == O.SetPop)
        {
            Pop(arguments);
            return true;
        }

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
                Reply.Integer(_members.Count);
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
        _members.Load(body);
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
        for (int i = 0; i < _members.Count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(_members.Json(body, i));
            int argument = Index.Find(arguments, _members.Read(body, i, session.Value));
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
        for (int i = 0; i < _members.Count; i++)
        {
            if (Index.Find(arguments, _members.Read(body, i, session.Value)) >= 0)
            {
                removed++;
                continue;
            }

            session.Content.AppendComma();
            session.Content.Append(_members.Json(body, i));
        }

        Index.End();
        session.Content.Append("]"u8);
        if (removed > 0)
        {
            session.PutOrDelete(target, _members.Count - removed);
        }

        Reply.Integer(removed);
    }

    private void ReplyMembers(ReadOnlySpan<byte> body)
    {
        Reply.Set(_members.Count);
        for (int i = 0; i < _members.Count; i++)
        {
            Reply.Bulk(_members.Read(body, i, session.Value));
        }
    }

    private void ReplyIsMember(ReadOnlySpan<byte> body, RedisArguments arguments, bool isArray)
    {
        Index.Begin(arguments, first: 1, step: 1);
        for (int i = 0; i < _members.Count; i++)
        {
            int argument = Index.Find(arguments, _members.Read(body, i, session.Value));
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
        int popped = (int)Math.Min(count, _members.Count);
        var random = new RedisRandom(session.Store.Seed);
        for (int i = 0; i < popped; i++)
        {
            _members.Swap(i, i + (int)random.Next(_members.Count - i));
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
            Reply.Bulk(_members.Read(body, i, session.Value));
        }

        if (popped > 0)
        {
            StoreRest(target, body, popped);
        }
    }

    private void StoreRest(RedisTarget target, ReadOnlySpan<byte> body, int popped)
    {
        Begin(target);
        for (int i = popped; i < _members.Count; i++)
        {
            session.Content.AppendComma();
            session.Content.Append(_members.Json(body, i));
        }

        session.Content.Append("]"u8);
        session.PutOrDelete(target, _members.Count - popped);
    }

    private void Scan(RedisTarget target, RedisArguments arguments)
    {
        if (!ScanOptions.TryBegin(session, target, RedisType.Set, arguments, out var pattern))
        {
            return;
        }

        var body = Load(target);
        int matches = 0;
        for (int i = 0; i < _members.Count; i++)
        {
            matches += session.IsMatch(pattern, _members.Read(body, i, session.Value)) ? 1 : 0;
        }

        ScanOptions.Begin(Reply, matches);
        for (int i = 0; i < _members.Count; i++)
        {
            var member = _members.Read(body, i, session.Value);
            if (session.IsMatch(pattern, member))
            {
                Reply.Bulk(member);
            }
        }
    }
}
