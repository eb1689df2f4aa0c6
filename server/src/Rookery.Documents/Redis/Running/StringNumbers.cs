using System.Buffers.Text;
using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on strings that are numbers.</summary>
internal sealed class StringNumbers(RedisSession session)
{
    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is none of these.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.Increment or O.Decrement:
                Increment(arguments[0], opcode == O.Increment ? 1 : -1);
                return true;
            case O.IncrementBy:
                if (session.TryReadInteger(arguments[1], out long increment))
                {
                    Increment(arguments[0], increment);
                }

                return true;
            case O.DecrementBy:
                Decrement(arguments);
                return true;
            case O.IncrementByFloat:
                IncrementByFloat(arguments);
                return true;
            default:
                return false;
        }
    }

    private void Decrement(RedisArguments arguments)
    {
        if (!session.TryReadInteger(arguments[1], out long decrement))
        {
            return;
        }

        if (decrement == long.MinValue)
        {
            Reply.Error("ERR decrement would overflow"u8);
            return;
        }

        Increment(arguments[0], -decrement);
    }

    private void Increment(ReadOnlySpan<byte> key, long increment)
    {
        using var target = session.Open(key);
        if (!session.IsTypeOrNone(target, RedisType.String))
        {
            return;
        }

        long value = 0;
        if (target.Exists)
        {
            RedisBody.TryReadString(target.View, session.Value, out var text);
            if (!session.TryReadInteger(text, out value))
            {
                return;
            }
        }

        if (increment > 0 ? value > long.MaxValue - increment : value < long.MinValue - increment)
        {
            Reply.Error(RedisErrors.Overflow);
            return;
        }

        value += increment;
        Span<byte> digits = stackalloc byte[RedisNumber.MaxBytes];
        Utf8Formatter.TryFormat(value, digits, out int length);
        if (session.TryChangeString(target, digits[..length]))
        {
            Reply.Integer(value);
        }
    }

    private void IncrementByFloat(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.String))
        {
            return;
        }

        var value = default(ExtendedFloat);
        if (target.Exists)
        {
            RedisBody.TryReadString(target.View, session.Value, out var text);
            if (!session.TryReadFloat(text, out value))
            {
                Reply.Error(RedisErrors.NotFloat);
                return;
            }
        }

        if (!session.TryReadFloat(arguments[1], out var increment))
        {
            Reply.Error(RedisErrors.NotFloat);
            return;
        }

        if (!ExtendedFloat.TryAdd(value, increment, out var sum))
        {
            Reply.Error(RedisErrors.NotFinite);
            return;
        }

        byte[] digits = sum.Format();
        if (session.TryChangeString(target, digits))
        {
            Reply.Bulk(digits);
        }
    }
}
