using Rookery.Platform;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Messages;

/// <summary>
/// The channels and patterns to which one connection subscribes. Its own thread changes them; any thread posts
/// messages.
/// </summary>
internal sealed class Subscriptions(RedisConnection connection) : IDisposable
{
    /// <summary>
    /// Maximum number of channels and patterns of one connection: each message is compared with all patterns.
    /// </summary>
    private const int MaxCount = 4096;

    /// <summary>
    /// Maximum number of bytes of a connection's patterns together: to match one takes up to as many steps as the
    /// product of its length and the channel's.
    /// </summary>
    private const int MaxPatternBytes = 64 << 10;

    /// <summary>Longest name of a channel or pattern in bytes.</summary>
    public const int MaxNameBytes = 1024;

    // Memory of a name's entries in the sets and lists here and in Channels.
    private const int BytesAroundName = 256;

    private readonly HashSet<byte[]> _channels = new(BytesComparer.Instance);
    private readonly HashSet<byte[]> _patterns = new(BytesComparer.Instance);
    private int _patternBytes;

    /// <summary>The error for a name that is longer than <see cref="MaxNameBytes"/>.</summary>
    public static string LongName => $"ERR The name of a channel or pattern has at most {MaxNameBytes} bytes.";

    public int ChannelCount => _channels.Count;

    public int PatternCount => _patterns.Count;

    /// <summary>Channels and patterns.</summary>
    public int Count => _channels.Count + _patterns.Count;

    /// <summary>Subscribes and posts the confirmation.</summary>
    /// <returns>The error if the subscription is refused; otherwise null.</returns>
    public string? Add(byte[] key, bool isPattern)
    {
        var own = isPattern ? _patterns : _channels;
        if (own.Contains(key))
        {
            Confirm(isPattern ? "psubscribe"u8 : "subscribe"u8, key);
            return null;
        }

        if (key.Length > MaxNameBytes)
        {
            return LongName;
        }

        if (Count >= MaxCount)
        {
            return $"ERR A connection subscribes to at most {MaxCount} channels and patterns.";
        }

        if (isPattern && _patternBytes + key.Length > MaxPatternBytes)
        {
            return $"ERR The patterns of a connection have at most {MaxPatternBytes} bytes together.";
        }

        if (!connection.Held.TryAdd(CostOf(key)))
        {
            return ReplyBuffer.NoMemory;
        }

        own.Add(key);
        _patternBytes += isPattern ? key.Length : 0;
        connection.Node.Channels.Add(
            this,
            key,
            isPattern,
            () => Confirm(isPattern ? "psubscribe"u8 : "subscribe"u8, key)
        );
        return null;
    }

    /// <summary>Unsubscribes and posts the confirmation.</summary>
    public void Remove(ReadOnlySpan<byte> name, bool isPattern)
    {
        byte[] key = name.ToArray();
        Forget(key, isPattern);
        Confirm(isPattern ? "punsubscribe"u8 : "unsubscribe"u8, key);
    }

    /// <summary>Unsubscribes from all channels, or from all patterns, and posts a confirmation for each.</summary>
    public void RemoveAll(bool isPattern)
    {
        byte[][] names = [.. isPattern ? _patterns : _channels];
        foreach (byte[] name in names)
        {
            Remove(name, isPattern);
        }

        if (names.Length == 0)
        {
            Confirm(isPattern ? "punsubscribe"u8 : "unsubscribe"u8, name: null);
        }
    }

    /// <summary>Unsubscribes from everything without confirmations, as RESET does.</summary>
    public void Clear()
    {
        foreach (byte[] name in _channels.ToArray())
        {
            Forget(name, isPattern: false);
        }

        foreach (byte[] name in _patterns.ToArray())
        {
            Forget(name, isPattern: true);
        }
    }

    /// <summary>Posts a message.</summary>
    /// <param name="pattern">The pattern that matches the channel; empty for a subscriber of the channel.</param>
    /// <param name="channel">The channel.</param>
    /// <param name="message">The message.</param>
    public void Post(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        var encoded = new ReplyBuffer { Version = connection.Replies.Version };
        encoded.Push(pattern.IsEmpty ? 3 : 4);
        encoded.Bulk(pattern.IsEmpty ? "message"u8 : "pmessage"u8);
        if (!pattern.IsEmpty)
        {
            encoded.Bulk(pattern);
        }

        encoded.Bulk(channel);
        encoded.Bulk(message);
        connection.Output.Post(encoded.Written);
        encoded.Release();
    }

    /// <summary>Ends the connection at once; any thread may call it.</summary>
    public void Disconnect(string reason) => connection.Kill(reason);

    /// <inheritdoc/>
    public void Dispose() => Clear();

    private static int CostOf(byte[] name) => BytesAroundName + name.Length;

    private void Forget(byte[] name, bool isPattern)
    {
        if ((isPattern ? _patterns : _channels).Remove(name))
        {
            connection.Node.Channels.Remove(this, name, isPattern);
            _patternBytes -= isPattern ? name.Length : 0;
            connection.Held.Remove(CostOf(name));
        }
    }

    private void Confirm(ReadOnlySpan<byte> kind, byte[]? name)
    {
        var encoded = new ReplyBuffer { Version = connection.Replies.Version };
        encoded.Push(3);
        encoded.Bulk(kind);
        if (name is null)
        {
            encoded.Null();
        }
        else
        {
            encoded.Bulk(name);
        }

        encoded.Integer(Count);
        connection.Output.Post(encoded.Written);
        encoded.Release();
    }
}
