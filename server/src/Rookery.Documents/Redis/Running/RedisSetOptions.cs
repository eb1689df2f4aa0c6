using F = Rookery.Documents.Redis.Running.RedisSetFlags;

namespace Rookery.Documents.Redis.Running;

/// <summary>Options of SET and GETEX without an argument.</summary>
[Flags]
internal enum RedisSetFlags
{
    /// <summary>No option.</summary>
    None = 0,

    /// <summary>NX: only if the key does not exist.</summary>
    IfAbsent = 1,

    /// <summary>XX: only if the key exists.</summary>
    IfExists = 2,

    /// <summary>GET: reply with the old value.</summary>
    Get = 4,

    /// <summary>KEEPTTL.</summary>
    KeepExpiry = 8,

    /// <summary>PERSIST.</summary>
    Persist = 16,

    /// <summary>EX, PX, EXAT or PXAT.</summary>
    Expiry = 32,

    /// <summary>EX or EXAT: in seconds.</summary>
    Seconds = 64,

    /// <summary>EXAT or PXAT: since 1970.</summary>
    Absolute = 128,
}

/// <summary>The options of SET and GETEX.</summary>
internal readonly ref struct RedisSetOptions
{
    /// <summary>The options.</summary>
    public F Flags { get; private init; }

    /// <summary>The argument of EX, PX, EXAT or PXAT.</summary>
    public ReadOnlySpan<byte> Expiry { get; private init; }

    /// <summary>Reads the options after the fixed arguments.</summary>
    /// <returns>False if the syntax is wrong.</returns>
    public static bool TryRead(RedisArguments arguments, int first, bool isSet, out RedisSetOptions options)
    {
        options = default;
        var flags = F.None;
        ReadOnlySpan<byte> expiry = default;
        for (int i = first; i < arguments.Count; i++)
        {
            var (added, excluded) = Parse(arguments[i], isSet);
            if (added == F.None || (flags & excluded) != F.None)
            {
                return false;
            }

            flags |= added;
            if ((added & F.Expiry) != F.None)
            {
                if (++i == arguments.Count)
                {
                    return false;
                }

                expiry = arguments[i];
            }
        }

        options = new RedisSetOptions { Flags = flags, Expiry = expiry };
        return true;
    }

    /// <summary>Returns whether an option is set.</summary>
    public bool Has(F flag) => (Flags & flag) != F.None;

    private static (F Added, F Excluded) Parse(ReadOnlySpan<byte> word, bool isSet)
    {
        const F Times = F.Expiry | F.Persist | F.KeepExpiry;
        return isSet && RedisNumber.IsWord(word, "NX"u8) ? (F.IfAbsent, F.IfExists)
            : isSet && RedisNumber.IsWord(word, "XX"u8) ? (F.IfExists, F.IfAbsent)
            : isSet && RedisNumber.IsWord(word, "GET"u8) ? (F.Get, F.None)
            : isSet && RedisNumber.IsWord(word, "KEEPTTL"u8) ? (F.KeepExpiry, F.Expiry)
            : !isSet && RedisNumber.IsWord(word, "PERSIST"u8) ? (F.Persist, F.Expiry)
            : RedisNumber.IsWord(word, "EX"u8) ? (F.Expiry | F.Seconds, Times)
            : RedisNumber.IsWord(word, "PX"u8) ? (F.Expiry, Times)
            : RedisNumber.IsWord(word, "EXAT"u8) ? (F.Expiry | F.Seconds | F.Absolute, Times)
            : RedisNumber.IsWord(word, "PXAT"u8) ? (F.Expiry | F.Absolute, Times)
            : (F.None, F.None);
    }
}
