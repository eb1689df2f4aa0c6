using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on keys of any type.</summary>
internal sealed class KeyCommands(RedisSession session)
{
    private readonly KeyExpiry _expiry = new(session);
    private readonly KeyWalk _walk = new(session);

    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.Exists or O.Touch:
                CountExisting(arguments);
                return true;
            case O.Delete or O.Unlink:
                Delete(arguments);
                return true;
            case O.Type:
                ReplyType(arguments[0]);
                return true;
            case O.Rename or O.RenameIfAbsent:
                Rename(arguments, onlyIfAbsent: opcode == O.RenameIfAbsent);
                return true;
            case O.Copy:
                Copy(arguments);
                return true;
            case O.Object:
                ReplyObject(arguments);
                return true;
            case O.DatabaseSize:
                Reply.Integer(session.Store.CountDocuments());
                return true;
            case O.Scan or O.Keys or O.AnyKey when !session.Store.CanWalk:
                Reply.Error(
                    $"ERR '{session.CommandName}' is not served in a transaction, because it walks over all keys"
                );
                return true;
            case O.Scan:
                _walk.Scan(arguments);
                return true;
            case O.Keys:
                _walk.ReplyKeys(arguments[0]);
                return true;
            case O.AnyKey:
                _walk.ReplyAnyKey();
                return true;
            default:
                return _expiry.TryRun(opcode, arguments);
        }
    }

    private void CountExisting(RedisArguments arguments)
    {
        long count = 0;
        for (int i = 0; i < arguments.Count; i++)
        {
            using var target = session.Open(arguments[i]);
            count += target.Exists ? 1 : 0;
        }

        Reply.Integer(count);
    }

    private void Delete(RedisArguments arguments)
    {
        long count = 0;
        for (int i = 0; i < arguments.Count; i++)
        {
            using var target = session.Open(arguments[i]);
            if (target.Exists)
            {
                session.Store.Delete(target);
                count++;
            }
        }

        Reply.Integer(count);
    }

    private void ReplyType(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        var type = target.Type;
        Reply.Simple(type == RedisType.Json ? "ReJSON-RL"u8 : RedisBody.NameOf(type));
    }

    private void Rename(RedisArguments arguments, bool onlyIfAbsent)
    {
        using var source = session.Open(arguments[0]);
        if (!source.Exists)
        {
            Reply.Error(RedisErrors.NoSuchKey);
            return;
        }

        using var target = session.OpenSecond(arguments[1]);
        bool isSame = source.LowerId.SequenceEqual(target.LowerId);
        if (onlyIfAbsent && target.Exists)
        {
            Reply.Integer(false);
            return;
        }

        if (!isSame)
        {
            BeginCopy(source);
            session.Store.Delete(source);
            session.Store.Replace(target, session.Content);
        }

        if (onlyIfAbsent)
        {
            Reply.Integer(true);
        }
        else
        {
            Reply.Ok();
        }
    }

    private void Copy(RedisArguments arguments)
    {
        if (!TryReadCopyOptions(arguments, out bool replaces))
        {
            return;
        }

        using var source = session.Open(arguments[0]);
        using var target = session.OpenSecond(arguments[1]);
        if (source.LowerId.SequenceEqual(target.LowerId))
        {
            Reply.Error("ERR source and destination objects are the same"u8);
            return;
        }

        bool isCopied = source.Exists && (replaces || !target.Exists);
        if (isCopied)
        {
            BeginCopy(source);
            session.Store.Replace(target, session.Content);
        }

        Reply.Integer(isCopied);
    }

    private void BeginCopy(RedisTarget source)
    {
        var view = source.View;
        session.Content.Begin(view, RedisBody.TypeOf(view), source.ExpiresAtTicks);
        session.Content.Append(view.Body);
    }

    private bool TryReadCopyOptions(RedisArguments arguments, out bool replaces)
    {
        replaces = false;
        for (int i = 2; i < arguments.Count; i++)
        {
            if (RedisNumber.IsWord(arguments[i], "REPLACE"u8))
            {
                replaces = true;
            }
            else if (RedisNumber.IsWord(arguments[i], "DB"u8) && i + 1 < arguments.Count)
            {
                if (!session.TryReadInteger(arguments[++i], out long number))
                {
                    return false;
                }

                if (number != 0)
                {
                    Reply.Error("ERR DB index is out of range"u8);
                    return false;
                }
            }
            else
            {
                Reply.Error(RedisErrors.Syntax);
                return false;
            }
        }

        return true;
    }

    private void ReplyObject(RedisArguments arguments)
    {
        bool isFrequency = RedisNumber.IsWord(arguments[0], "FREQ"u8);
        if ((!isFrequency && !RedisNumber.IsWord(arguments[0], "ENCODING"u8)) || arguments.Count != 2)
        {
            Reply.Error(
                $"ERR OBJECT {RedisReply.Quote(arguments[0])} is not served, or has a wrong number of "
                    + "arguments. OBJECT ENCODING key and OBJECT FREQ key are served"
            );
            return;
        }

        using var target = session.Open(arguments[1]);
        if (!target.Exists)
        {
            Reply.Null();
        }
        else if (isFrequency)
        {
            Reply.Error(RedisErrors.NoFrequency);
        }
        else
        {
            Reply.Bulk(RedisEncoding.Of(target.View, session.Value));
        }
    }
}
