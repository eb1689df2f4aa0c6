using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on strings.</summary>
internal sealed class StringCommands(RedisSession session)
{
    private const long NoExpiry = 0;

    private readonly StringNumbers _numbers = new(session);

    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.Get:
                Get(arguments[0]);
                return true;
            case O.Set:
                Set(arguments);
                return true;
            case O.SetIfAbsent:
                SetIfAbsent(arguments);
                return true;
            case O.SetWithSeconds or O.SetWithMilliseconds:
                SetWithExpiry(arguments, isSeconds: opcode == O.SetWithSeconds);
                return true;
            case O.GetMany:
                GetMany(arguments);
                return true;
            case O.SetMany or O.SetManyIfAbsent:
                SetMany(arguments, onlyIfAbsent: opcode == O.SetManyIfAbsent);
                return true;
            case O.GetSet:
                GetSet(arguments);
                return true;
            case O.GetDelete:
                GetDelete(arguments[0]);
                return true;
            case O.GetExpire:
                GetExpire(arguments);
                return true;
            case O.Append:
                Append(arguments);
                return true;
            case O.StringLength:
                Length(arguments[0]);
                return true;
            case O.GetRange:
                GetRange(arguments);
                return true;
            case O.SetRange:
                SetRange(arguments);
                return true;
            default:
                return _numbers.TryRun(opcode, arguments);
        }
    }

    // Replies with the value, null, or an error; false for an error.
    private bool TryReplyValue(RedisTarget target)
    {
        if (!target.Exists)
        {
            Reply.Null();
            return true;
        }

        if (RedisBody.TryReadString(target.View, session.Value, out var value))
        {
            Reply.Bulk(value);
            return true;
        }

        Reply.Error(RedisErrors.WrongType);
        return false;
    }

    private void Get(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        TryReplyValue(target);
    }

    private void Set(RedisArguments arguments)
    {
        if (!RedisSetOptions.TryRead(arguments, first: 2, isSet: true, out var options))
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        long expiresAtTicks = NoExpiry;
        if (options.Has(RedisSetFlags.Expiry) && !TryReadExpiry(options, out expiresAtTicks, out _))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        bool replies = options.Has(RedisSetFlags.Get);
        if (replies && (!CanPut(arguments[1]) || !TryReplyValue(target)))
        {
            return;
        }

        if (target.Exists ? options.Has(RedisSetFlags.IfAbsent) : options.Has(RedisSetFlags.IfExists))
        {
            if (!replies)
            {
                Reply.Null();
            }

            return;
        }

        expiresAtTicks = options.Has(RedisSetFlags.KeepExpiry) ? target.ExpiresAtTicks : expiresAtTicks;
        if (session.TryPutString(target, arguments[1], expiresAtTicks) && !replies)
        {
            Reply.Ok();
        }
    }

    private void SetIfAbsent(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (target.Exists)
        {
            Reply.Integer(false);
        }
        else if (session.TryPutString(target, arguments[1], NoExpiry))
        {
            Reply.Integer(true);
        }
    }

    private void SetWithExpiry(RedisArguments arguments, bool isSeconds)
    {
        if (!TryComputeExpiry(arguments[1], isSeconds, isAbsolute: false, out long milliseconds))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (session.TryPutString(target, arguments[2], RedisTime.ToTicks(milliseconds)))
        {
            Reply.Ok();
        }
    }

    private void GetMany(RedisArguments arguments)
    {
        Reply.Array(arguments.Count);
        for (int i = 0; i < arguments.Count; i++)
        {
            using var target = session.Open(arguments[i]);
            if (target.Exists && RedisBody.TryReadString(target.View, session.Value, out var value))
            {
                Reply.Bulk(value);
            }
            else
            {
                Reply.Null();
            }
        }
    }

    private void SetMany(RedisArguments arguments, bool onlyIfAbsent)
    {
        if (arguments.Count % 2 != 0)
        {
            Reply.Error($"ERR wrong number of arguments for '{session.CommandName}' command");
            return;
        }

        for (int i = 0; i < arguments.Count; i += 2)
        {
            if (!CanPut(arguments[i + 1]))
            {
                return;
            }

            using var target = session.Open(arguments[i]);
            if (onlyIfAbsent && target.Exists)
            {
                Reply.Integer(false);
                return;
            }
        }

        for (int i = 0; i < arguments.Count; i += 2)
        {
            using var target = session.Open(arguments[i]);
            session.TryPutString(target, arguments[i + 1], NoExpiry);
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

    private void GetSet(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (CanPut(arguments[1]) && TryReplyValue(target))
        {
            session.TryPutString(target, arguments[1], NoExpiry);
        }
    }

    private void GetDelete(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (TryReplyValue(target) && target.Exists)
        {
            session.Store.Delete(target);
        }
    }

    private void GetExpire(RedisArguments arguments)
    {
        if (!RedisSetOptions.TryRead(arguments, first: 1, isSet: false, out var options))
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!target.Exists || target.Type != RedisType.String)
        {
            TryReplyValue(target);
            return;
        }

        long expiresAtTicks = NoExpiry;
        bool hasExpiry = options.Has(RedisSetFlags.Expiry);
        bool isPast = false;
        if (hasExpiry && !TryReadExpiry(options, out expiresAtTicks, out isPast))
        {
            return;
        }

        TryReplyValue(target);
        if (isPast)
        {
            session.Store.Delete(target);
        }
        else if (hasExpiry || (options.Has(RedisSetFlags.Persist) && target.ExpiresAtTicks != NoExpiry))
        {
            KeyExpiry.Change(session, target, expiresAtTicks);
        }
    }

    private void Append(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.String))
        {
            return;
        }

        Build(target);
        session.Built.Append(arguments[1]);
        if (session.TryChangeString(target, session.Built.Written))
        {
            Reply.Integer(session.Built.Length);
        }
    }

    private void Length(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        if (session.IsTypeOrNone(target, RedisType.String))
        {
            Reply.Integer(Read(target).Length);
        }
    }

    private void GetRange(RedisArguments arguments)
    {
        if (
            !session.TryReadInteger(arguments[1], out long start) || !session.TryReadInteger(arguments[2], out long end)
        )
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (session.IsTypeOrNone(target, RedisType.String))
        {
            Reply.Bulk(Slice(Read(target), start, end));
        }
    }

    private void SetRange(RedisArguments arguments)
    {
        if (!session.TryReadInteger(arguments[1], out long offset))
        {
            return;
        }

        if (offset < 0)
        {
            Reply.Error("ERR offset is out of range"u8);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.String))
        {
            return;
        }

        var value = arguments[2];
        if (value.IsEmpty)
        {
            Reply.Integer(Read(target).Length);
            return;
        }

        if (!RedisContent.MayFit(offset) || !RedisContent.MayFit(offset + value.Length))
        {
            Reply.Error(RedisErrors.TooLong);
            return;
        }

        Build(target);
        int missing = (int)offset + value.Length - session.Built.Length;
        if (missing > 0)
        {
            session.Built.Reserve(missing)[..missing].Clear();
            session.Built.Advance(missing);
        }

        value.CopyTo(session.Built.WrittenMemory.Span[(int)offset..]);
        if (session.TryChangeString(target, session.Built.Written))
        {
            Reply.Integer(session.Built.Length);
        }
    }

    private static ReadOnlySpan<byte> Slice(ReadOnlySpan<byte> value, long start, long end)
    {
        if (start < 0 && end < 0 && start > end)
        {
            return default;
        }

        start = start < 0 ? Math.Max(start + value.Length, 0) : start;
        end = end < 0 ? Math.Max(end + value.Length, 0) : end;
        end = Math.Min(end, value.Length - 1);
        return start > end || value.IsEmpty ? default : value[(int)start..((int)end + 1)];
    }

    private ReadOnlySpan<byte> Read(RedisTarget target) =>
        target.Exists && RedisBody.TryReadString(target.View, session.Value, out var value) ? value : default;

    private void Build(RedisTarget target)
    {
        session.Built.Clear();
        session.Built.Append(Read(target));
    }

    // Whether a new value fits, so that nothing is replied or stored before it is refused.
    private bool CanPut(ReadOnlySpan<byte> value)
    {
        if (RedisContent.MayFit(value.Length))
        {
            session.Content.Begin(RedisType.String, DateTime.MaxValue.Ticks);
            session.Content.AppendString(value);
            if (session.Content.Fits)
            {
                return true;
            }
        }

        Reply.Error(RedisErrors.TooLong);
        return false;
    }

    private bool TryReadExpiry(scoped in RedisSetOptions options, out long expiresAtTicks, out bool isPast)
    {
        bool isRead = TryComputeExpiry(
            options.Expiry,
            options.Has(RedisSetFlags.Seconds),
            options.Has(RedisSetFlags.Absolute),
            out long milliseconds
        );
        expiresAtTicks = RedisTime.ToTicks(milliseconds);
        isPast = isRead && options.Has(RedisSetFlags.Absolute) && milliseconds <= session.NowMilliseconds;
        return isRead;
    }

    private bool TryComputeExpiry(ReadOnlySpan<byte> argument, bool isSeconds, bool isAbsolute, out long milliseconds)
    {
        milliseconds = 0;
        if (!session.TryReadInteger(argument, out long value))
        {
            return false;
        }

        if (
            value <= 0
            || !RedisTime.TryCompute(value, isSeconds, isAbsolute ? 0 : session.NowMilliseconds, out milliseconds)
        )
        {
            session.ReplyInvalidExpiry();
            return false;
        }

        return true;
    }
}
