using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on the time to live of keys.</summary>
internal sealed class KeyExpiry(RedisSession session)
{
    private const long NoKey = -2;
    private const long NoExpiry = -1;

    [Flags]
    private enum Condition
    {
        None = 0,
        IfNone = 1,
        IfAny = 2,
        IfGreater = 4,
        IfLess = 8,
    }

    private RedisReply Reply => session.Reply;

    /// <summary>Stores a key with another time to live, and the same value.</summary>
    public static void Change(RedisSession session, RedisTarget target, long expiresAtTicks)
    {
        var view = target.View;
        session.Content.Begin(view, RedisBody.TypeOf(view), expiresAtTicks);
        session.Content.Append(view.Body);
        session.Store.Put(target, session.Content);
    }

    /// <summary>Runs a command; false if it is none of these.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.Expire or O.ExpireMilliseconds:
                Expire(arguments, isSeconds: opcode == O.Expire, session.NowMilliseconds);
                return true;
            case O.ExpireAt or O.ExpireAtMilliseconds:
                Expire(arguments, isSeconds: opcode == O.ExpireAt, baseMilliseconds: 0);
                return true;
            case O.TimeToLive or O.TimeToLiveMilliseconds:
                ReplyTime(arguments[0], isSeconds: opcode == O.TimeToLive, session.NowMilliseconds);
                return true;
            case O.ExpireTime or O.ExpireTimeMilliseconds:
                ReplyTime(arguments[0], isSeconds: opcode == O.ExpireTime, baseMilliseconds: 0);
                return true;
            case O.Persist:
                Persist(arguments[0]);
                return true;
            default:
                return false;
        }
    }

    private void Expire(RedisArguments arguments, bool isSeconds, long baseMilliseconds)
    {
        if (!TryReadConditions(arguments, out var conditions) || !session.TryReadInteger(arguments[1], out long value))
        {
            return;
        }

        if (!RedisTime.TryCompute(value, isSeconds, baseMilliseconds, out long milliseconds))
        {
            session.ReplyInvalidExpiry();
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!target.Exists || !Holds(conditions, milliseconds, target.ExpiresAtTicks))
        {
            Reply.Integer(false);
            return;
        }

        if (milliseconds <= session.NowMilliseconds)
        {
            session.Store.Delete(target);
        }
        else
        {
            Change(session, target, RedisTime.ToTicks(milliseconds));
        }

        Reply.Integer(true);
    }

    private static bool Holds(Condition conditions, long milliseconds, long presentTicks)
    {
        bool hasExpiry = presentTicks != 0;
        long present = hasExpiry ? RedisTime.ToMilliseconds(presentTicks) : long.MaxValue;
        return !(
            ((conditions & Condition.IfNone) != Condition.None && hasExpiry)
            || ((conditions & Condition.IfAny) != Condition.None && !hasExpiry)
            || ((conditions & Condition.IfGreater) != Condition.None && (!hasExpiry || milliseconds <= present))
            || ((conditions & Condition.IfLess) != Condition.None && hasExpiry && milliseconds >= present)
        );
    }

    private bool TryReadConditions(RedisArguments arguments, out Condition conditions)
    {
        conditions = Condition.None;
        for (int i = 2; i < arguments.Count; i++)
        {
            var word = arguments[i];
            var condition =
                RedisNumber.IsWord(word, "NX"u8) ? Condition.IfNone
                : RedisNumber.IsWord(word, "XX"u8) ? Condition.IfAny
                : RedisNumber.IsWord(word, "GT"u8) ? Condition.IfGreater
                : RedisNumber.IsWord(word, "LT"u8) ? Condition.IfLess
                : Condition.None;
            if (condition == Condition.None)
            {
                Reply.Error($"ERR Unsupported option {RedisReply.Quote(word)}");
                return false;
            }

            conditions |= condition;
        }

        const Condition Comparisons = Condition.IfGreater | Condition.IfLess;
        if (
            (conditions & Condition.IfNone) != Condition.None
            && (conditions & (Condition.IfAny | Comparisons)) != Condition.None
        )
        {
            Reply.Error("ERR NX and XX, GT or LT options at the same time are not compatible"u8);
            return false;
        }

        if ((conditions & Comparisons) == Comparisons)
        {
            Reply.Error("ERR GT and LT options at the same time are not compatible"u8);
            return false;
        }

        return true;
    }

    private void ReplyTime(ReadOnlySpan<byte> key, bool isSeconds, long baseMilliseconds)
    {
        using var target = session.Open(key);
        if (!target.Exists || target.ExpiresAtTicks == 0)
        {
            Reply.Integer(target.Exists ? NoExpiry : NoKey);
            return;
        }

        long milliseconds = Math.Max(RedisTime.ToMilliseconds(target.ExpiresAtTicks) - baseMilliseconds, 0);
        Reply.Integer(isSeconds ? RedisTime.ToSeconds(milliseconds) : milliseconds);
    }

    private void Persist(ReadOnlySpan<byte> key)
    {
        using var target = session.Open(key);
        bool isChanged = target.ExpiresAtTicks != 0;
        if (isChanged)
        {
            Change(session, target, expiresAtTicks: 0);
        }

        Reply.Integer(isChanged);
    }
}
