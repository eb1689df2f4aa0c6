using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Documents.Redis.Running;

/// <summary>What the commands of all types share: the documents, the reply, and buffers.</summary>
internal sealed class RedisSession : IDisposable
{
    private readonly RedisTarget _first = new();
    private readonly RedisTarget _second = new();
    private RedisStore? _store;

    /// <summary>The documents.</summary>
    public RedisStore Store
    {
        get => _store ?? throw new InvalidOperationException("a command has documents");
        set => _store = value;
    }

    /// <summary>The documents of a snapshot, for commands that walk over all keys.</summary>
    public DatabaseReader Reader { get; set; }

    /// <summary>The name of the command in small letters, for errors.</summary>
    public string CommandName { get; set; } = string.Empty;

    /// <summary>Ends walks over all keys.</summary>
    public CancellationToken Cancellation { get; set; }

    /// <summary>Receives the reply.</summary>
    public RedisReply Reply { get; } = new();

    /// <summary>The content that is built.</summary>
    public RedisContent Content { get; } = new();

    /// <summary>A buffer for a decoded value.</summary>
    public PooledBytes Value { get; } = new();

    /// <summary>A buffer for a decoded field.</summary>
    public PooledBytes Field { get; } = new();

    /// <summary>Finds fields and members among the arguments.</summary>
    public RedisIndex Index { get; } = new();

    /// <summary>A buffer for a new value.</summary>
    public PooledBytes Built { get; } = new();

    /// <summary>Looks up a key; dispose the result before the next.</summary>
    public RedisTarget Open(ReadOnlySpan<byte> key)
    {
        _first.Open(Store, key);
        return _first;
    }

    /// <summary>Looks up the second key of a command.</summary>
    public RedisTarget OpenSecond(ReadOnlySpan<byte> key)
    {
        _second.Open(Store, key);
        return _second;
    }

    /// <summary>Returns the present time in milliseconds since 1970.</summary>
    public long NowMilliseconds => RedisTime.ToMilliseconds(Store.NowTicks);

    /// <summary>Returns whether a text matches a pattern, and counts the work.</summary>
    /// <exception cref="RedisLimitException">The command takes more work than a command may.</exception>
    public bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        const long FreeSteps = 4096; // KEYS may compare millions of keys, and ends when its client leaves
        long steps = (long)pattern.Length * text.Length;
        if (steps > FreeSteps || !Store.CanWalk)
        {
            Store.Spend(steps);
        }

        return RedisPattern.IsMatch(pattern, text);
    }

    /// <summary>Reads a number; false if it is none. Counts the work.</summary>
    /// <exception cref="RedisLimitException">The command takes more work than a command may.</exception>
    public bool TryReadFloat(ReadOnlySpan<byte> text, out ExtendedFloat value)
    {
        const int FreeDigits = 64;
        const int BytesPerDigit = 64; // a number of 5,000 digits takes about 0.1 ms
        bool isRead = ExtendedFloat.TryRead(text, out value);
        int digits = Math.Max(text.Length, value.Digits);
        if (digits > FreeDigits)
        {
            Store.Spend((long)BytesPerDigit * digits);
        }

        return isRead;
    }

    /// <summary>Reads an integer argument, or replies with an error.</summary>
    public bool TryReadInteger(ReadOnlySpan<byte> argument, out long value)
    {
        if (RedisNumber.TryRead(argument, out value))
        {
            return true;
        }

        Reply.Error(RedisErrors.NotInteger);
        return false;
    }

    /// <summary>Replies with an error if a key exists and has another type.</summary>
    public bool IsTypeOrNone(RedisTarget target, RedisType type)
    {
        if (!target.Exists || target.Type == type)
        {
            return true;
        }

        Reply.Error(RedisErrors.WrongType);
        return false;
    }

    /// <summary>Stores the built content, or replies with an error if it is too long.</summary>
    public bool TryPut(RedisTarget target)
    {
        if (!Content.Fits)
        {
            Reply.Error(RedisErrors.TooLong);
            return false;
        }

        Store.Put(target, Content);
        return true;
    }

    /// <summary>
    /// Stores the built content, which is not longer than before except for its metadata, or deletes a value without
    /// elements.
    /// </summary>
    public void PutOrDelete(RedisTarget target, int elements)
    {
        if (elements == 0)
        {
            Store.Delete(target);
        }
        else
        {
            Store.Put(target, Content);
        }
    }

    /// <summary>Stores a string as a new value.</summary>
    public bool TryPutString(RedisTarget target, ReadOnlySpan<byte> value, long expiresAtTicks)
    {
        if (!RedisContent.MayFit(value.Length))
        {
            Reply.Error(RedisErrors.TooLong);
            return false;
        }

        Content.Begin(RedisType.String, expiresAtTicks);
        Content.AppendString(value);
        return TryPut(target);
    }

    /// <summary>Stores a string as the changed value of a key, which keeps its time to live.</summary>
    public bool TryChangeString(RedisTarget target, ReadOnlySpan<byte> value)
    {
        if (!target.Exists)
        {
            return TryPutString(target, value, expiresAtTicks: 0);
        }

        if (!RedisContent.MayFit(value.Length))
        {
            Reply.Error(RedisErrors.TooLong);
            return false;
        }

        Content.Begin(target.View, RedisType.String, target.ExpiresAtTicks);
        Content.AppendString(value);
        return TryPut(target);
    }

    /// <summary>Replies that the time of a command is not valid.</summary>
    public void ReplyInvalidExpiry() => Reply.Error($"ERR invalid expire time in '{CommandName}' command");

    /// <summary>Returns large memory after a command.</summary>
    public void Trim()
    {
        Content.Trim();
        Value.Clear();
        Field.Clear();
        Built.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _first.Dispose();
        _second.Dispose();
        Content.Dispose();
        Value.Release();
        Built.Release();
        Field.Release();
    }
}
