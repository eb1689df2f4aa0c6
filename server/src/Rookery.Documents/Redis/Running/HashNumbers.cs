using System.Buffers.Text;
using Rookery.Json;
using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>The commands on fields of hashes that are numbers.</summary>
internal sealed class HashNumbers(RedisSession session)
{
    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is none of these.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.HashIncrementBy:
                Increment(arguments);
                return true;
            case O.HashIncrementByFloat:
                IncrementByFloat(arguments);
                return true;
            default:
                return false;
        }
    }

    private void Increment(RedisArguments arguments)
    {
        if (!session.TryReadInteger(arguments[2], out long increment))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        long value = 0;
        if (TryFind(target, arguments[1], out var json))
        {
            if (!RedisNumber.TryRead(RedisBody.ReadElement(json, session.Value), out value))
            {
                Reply.Error("ERR hash value is not an integer"u8);
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
        if (TryStore(target, arguments[1], digits[..length]))
        {
            Reply.Integer(value);
        }
    }

    private void IncrementByFloat(RedisArguments arguments)
    {
        if (!session.TryReadFloat(arguments[2], out var increment))
        {
            Reply.Error(RedisErrors.NotFloat);
            return;
        }

        if (increment.IsInfinite)
        {
            Reply.Error("ERR value is NaN or Infinity"u8);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!session.IsTypeOrNone(target, RedisType.Hash))
        {
            return;
        }

        var value = default(ExtendedFloat);
        if (
            TryFind(target, arguments[1], out var json)
            && !session.TryReadFloat(RedisBody.ReadElement(json, session.Value), out value)
        )
        {
            Reply.Error("ERR hash value is not a float"u8);
            return;
        }

        if (!ExtendedFloat.TryAdd(value, increment, out var sum))
        {
            Reply.Error(RedisErrors.NotFinite);
            return;
        }

        byte[] digits = sum.Format();
        if (TryStore(target, arguments[1], digits))
        {
            Reply.Bulk(digits);
        }
    }

    private bool TryFind(RedisTarget target, ReadOnlySpan<byte> field, out ReadOnlySpan<byte> json)
    {
        json = default;
        return target.Exists && HashCommands.TryFind(session, target.View.Body, field, out json);
    }

    // Stores the sum. A value that is a JSON number, as in a document of another client, stays one.
    private bool TryStore(RedisTarget target, ReadOnlySpan<byte> field, ReadOnlySpan<byte> digits)
    {
        HashCommands.Begin(session, target);
        var body = target.Exists ? target.View.Body : default;
        bool isFound = false;
        int at = 0;
        while (StoredJson.TryReadMember(body, ref at, out var name, out int start))
        {
            session.Content.AppendComma();
            if (isFound || !RedisField.Read(body, name, session.Field).SequenceEqual(field))
            {
                session.Content.Append(body[(name.Start - 1)..at]);
                continue;
            }

            isFound = true;
            session.Content.Append(body[(name.Start - 1)..start]);
            if (body[start] is (byte)'"' or (byte)'{')
            {
                session.Content.AppendElement(digits);
            }
            else
            {
                session.Content.Append(digits);
            }
        }

        if (!isFound)
        {
            HashCommands.Append(session, field, digits);
        }

        return session.TryPut(target);
    }
}
