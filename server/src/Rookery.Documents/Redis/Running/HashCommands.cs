using Rookery.Json;
using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on hashes: the top-level members of documents.</summary>
internal sealed class HashCommands(RedisSession session)
{
    private readonly HashNumbers _numbers = new(session);
    private readonly HashRandom _random = new(session);

    private RedisReply Reply => session.Reply;

    private RedisIndex Index => session.Index;

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.HashSet or O.HashSetMany:
                Set(arguments, repliesCount: opcode == O.HashSet);
                return true;
            case O.HashSetIfAbsent:
                SetIfAbsent(arguments);
                return true;
            case O.HashGet or O.HashExists or O.HashStringLength:
                ReplyField(opcode, arguments);
                return true;
            case O.HashGetMany:
                GetMany(arguments);
                return true;
            case O.HashGetAll or O.HashKeys or O.HashValues:
                ReplyAll(opcode, arguments[0]);
                return true;
            case O.HashDelete:
                Delete(arguments);
                return true;
            case O.HashLength:
                Length(arguments[0]);
                return true;
            case O.HashScan:
                Scan(arguments);
                return true;
            case O.HashRandomField:
                _random.Run(arguments);
                return true;
            default:
                return _numbers.TryRun(opcode, arguments);
        }
    }

    /// <summary>Finds a field of a hash.</summary>
    /// <param name="session">The session.</param>
    /// <param name="body">The document's members.</param>
    /// <param name="field">The field.</param>
    /// <param name="value">The JSON of its value.</param>
    public static bool TryFind(
        RedisSession session,
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> field,
        out ReadOnlySpan<byte> value
    )
    {
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            if (RedisField.Read(body, name, session.Field).SequenceEqual(field))
            {
                value = body[start..at];
                return true;
            }
        }

        value = default;
        return false;
    }

    /// <summary>Begins the next version of a hash; its members follow.</summary>
    public static void Begin(RedisSession session, RedisTarget target)
    {
        if (target.Exists)
        {
            session.Content.Begin(target.View, RedisType.Hash, target.ExpiresAtTicks);
        }
        else
        {
            session.Content.Begin(RedisType.Hash, expiresAtTicks: 0);
        }
    }

    /// <summary>Appends a member.</summary>
    public static void Append(RedisSession session, ReadOnlySpan<byte> field, ReadOnlySpan<byte> value)
    {
        session.Content.AppendComma();
        RedisField.Append(session.Content, field, session.Field);
        session.Content.AppendElement(value);
    }

    private static ReadOnlySpan<byte> BodyOf(RedisTarget target) => target.Exists ? target.View.Body : default;

    private void Set(RedisArguments arguments, bool repliesCount)
    {
        if (arguments.Count % 2 == 0)
        {
            Reply.Error($"ERR wrong number of arguments for '{session.CommandName}' command");
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        if (!TryStore(target, arguments, out int added))
        {
            return;
        }

        if (repliesCount)
        {
            Reply.Integer(added);
        }
        else
        {
            Reply.Ok();
        }
    }

    private bool TryStore(RedisTarget target, RedisArguments arguments, out int added)
    {
        Begin(session, target);
        Index.Begin(arguments, first: 1, step: 2);
        var body = BodyOf(target);
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out _))
        {
            int i = Index.Find(arguments, RedisField.Read(body, name, session.Field));
            if (i < 0)
            {
                session.Content.AppendComma();
                session.Content.Append(body[(name.Start - 1)..at]);
            }
            else if (Index.TryMark(i))
            {
                Append(session, arguments[1 + (2 * i)], arguments[2 + (2 * i)]);
            }
        }

        added = 0;
        for (int i = 0; i < Index.Count; i++)
        {
            int last = Index.Find(arguments, arguments[1 + (2 * i)]);
            if (Index.TryMark(last))
            {
                Append(session, arguments[1 + (2 * last)], arguments[2 + (2 * last)]);
                added++;
            }
        }

        Index.End();
        return session.TryPut(target);
    }

    private void SetIfAbsent(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        if (TryFind(session, BodyOf(target), arguments[1], out _))
        {
            Reply.Integer(false);
        }
        else if (TryStore(target, arguments, out _))
        {
            Reply.Integer(true);
        }
    }

    private void ReplyField(O opcode, RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        bool exists = TryFind(session, BodyOf(target), arguments[1], out var json);
        var value = exists ? RedisBody.ReadElement(json, session.Value) : default;
        switch (opcode)
        {
            case O.HashExists:
                Reply.Integer(exists);
                break;
            case O.HashStringLength:
                Reply.Integer(value.Length);
                break;
            case O.HashGet when exists:
                Reply.Bulk(value);
                break;
            default:
                Reply.Null();
                break;
        }
    }

    private void GetMany(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        Index.Begin(arguments, first: 1, step: 1);
        var places = Index.Places;
        var body = BodyOf(target);
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            int i = Index.Find(arguments, RedisField.Read(body, name, session.Field));
            if (i >= 0 && Index.TryMark(i))
            {
                places[i] = new RedisSlice(start, at - start);
            }
        }

        Reply.Array(arguments.Count - 1);
        for (int i = 0; i < Index.Count; i++)
        {
            int last = Index.Find(arguments, arguments[1 + i]);
            if (Index.IsMarked(last))
            {
                Reply.Bulk(RedisBody.ReadElement(body.Slice(places[last].Start, places[last].Length), session.Value));
            }
            else
            {
                Reply.Null();
            }
        }

        Index.End();
    }

    private void ReplyAll(O opcode, ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        var body = BodyOf(target);
        int count = Count(body);
        if (opcode == O.HashGetAll)
        {
            Reply.Map(count);
        }
        else
        {
            Reply.Array(count);
        }

        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            if (opcode != O.HashValues)
            {
                Reply.Bulk(RedisField.Read(body, name, session.Field));
            }

            if (opcode != O.HashKeys)
            {
                Reply.Bulk(RedisBody.ReadElement(body[start..at], session.Value));
            }
        }
    }

    private static int Count(ReadOnlySpan<byte> body)
    {
        int at = 0;
        int count = 0;
        while (StoredJson.TryReadMember(body, ref at, out _, out _))
        {
            count++;
        }

        return count;
    }

    private void Delete(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        int deleted = 0;
        int kept = 0;
        var body = BodyOf(target);
        Begin(session, target);
        Index.Begin(arguments, first: 1, step: 1);
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out _))
        {
            if (Index.Find(arguments, RedisField.Read(body, name, session.Field)) >= 0)
            {
                deleted++;
                continue;
            }

            session.Content.AppendComma();
            session.Content.Append(body[(name.Start - 1)..at]);
            kept++;
        }

        Index.End();
        if (deleted > 0)
        {
            session.PutOrDelete(target, kept);
        }

        Reply.Integer(deleted);
    }

    private void Length(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (session.IsTypeOrNone(target, RedisType.Hash))
        {
            Reply.Integer(Count(BodyOf(target)));
        }
    }

    private void Scan(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!ScanOptions.TryBegin(session, target, RedisType.Hash, arguments, out var pattern))
        {
            return;
        }

        var body = BodyOf(target);
        int matches = 0;
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out _))
        {
            matches += session.IsMatch(pattern, RedisField.Read(body, name, session.Field)) ? 1 : 0;
        }

        ScanOptions.Begin(Reply, 2 * matches);
        at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            var field = RedisField.Read(body, name, session.Field);
            if (session.IsMatch(pattern, field))
            {
                Reply.Bulk(field);
                Reply.Bulk(RedisBody.ReadElement(body[start..at], session.Value));
            }
        }
    }
}
