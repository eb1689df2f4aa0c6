using Rookery.Documents.Redis.Running;
using Rookery.Platform;
using Rookery.Redis.Changes;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Messages;

/// <summary>Which connections of this node subscribe to which channels and patterns. Thread-safe.</summary>
internal sealed class Channels
{
    [ThreadStatic]
    private static List<byte[]>? _matches;

    private readonly Lock _gate = new();
    private readonly Dictionary<byte[], List<Subscriptions>> _channels = new(BytesComparer.Instance);
    private readonly Dictionary<byte[], List<Subscriptions>> _patterns = new(BytesComparer.Instance);

    // The patterns, so that a message is compared with them without the lock. Null after a change.
    private byte[][]? _patternList;

    /// <summary>Channels and patterns with subscribers.</summary>
    public int Count => ChannelCount + PatternCount;

    /// <summary>Channels with subscribers.</summary>
    public int ChannelCount
    {
        get
        {
            lock (_gate)
            {
                return _channels.Count;
            }
        }
    }

    /// <summary>Patterns with subscribers.</summary>
    public int PatternCount
    {
        get
        {
            lock (_gate)
            {
                return _patterns.Count;
            }
        }
    }

    /// <summary>Adds a subscriber, and confirms to it before it receives messages.</summary>
    public void Add(Subscriptions subscriber, byte[] name, bool isPattern, Action confirm)
    {
        lock (_gate)
        {
            var all = isPattern ? _patterns : _channels;
            if (!all.TryGetValue(name, out var subscribers))
            {
                all.Add(name, subscribers = []);
                _patternList = isPattern ? null : _patternList;
            }

            subscribers.Add(subscriber);
            confirm();
        }
    }

    /// <summary>Removes a subscriber.</summary>
    public void Remove(Subscriptions subscriber, byte[] name, bool isPattern)
    {
        lock (_gate)
        {
            var all = isPattern ? _patterns : _channels;
            if (all.TryGetValue(name, out var subscribers) && subscribers.Remove(subscriber) && subscribers.Count == 0)
            {
                all.Remove(name);
                _patternList = isPattern ? null : _patternList;
            }
        }
    }

    /// <summary>Sends a message to the subscribers on this node.</summary>
    /// <returns>The number of receivers; a client that subscribes twice counts twice, as in Redis.</returns>
    public int Publish(ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        var matches = _matches ??= [];
        matches.Clear();
        foreach (byte[] pattern in ListPatterns())
        {
            if (RedisPattern.IsMatch(pattern, channel))
            {
                matches.Add(pattern);
            }
        }

        // With the lock, all subscribers receive messages in the same order, and none after the confirmation that it
        // has unsubscribed.
        int receivers = 0;
        lock (_gate)
        {
            if (_channels.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(channel, out var subscribers))
            {
                foreach (var subscriber in subscribers)
                {
                    subscriber.Post(pattern: default, channel, message);
                    receivers++;
                }
            }

            foreach (byte[] pattern in matches)
            {
                foreach (var subscriber in _patterns.GetValueOrDefault(pattern) ?? [])
                {
                    subscriber.Post(pattern, channel, message);
                    receivers++;
                }
            }
        }

        matches.Clear();
        return receivers;
    }

    /// <summary>Returns the subscribers that may receive keyspace notifications, each once.</summary>
    public IReadOnlyCollection<Subscriptions> ListNotified()
    {
        var notified = new HashSet<Subscriptions>();
        lock (_gate)
        {
            foreach (var (name, subscribers) in _channels)
            {
                if (KeyspaceNotification.MayReach(name, isPattern: false))
                {
                    notified.UnionWith(subscribers);
                }
            }

            foreach (var (pattern, subscribers) in _patterns)
            {
                if (KeyspaceNotification.MayReach(pattern, isPattern: true))
                {
                    notified.UnionWith(subscribers);
                }
            }
        }

        return notified;
    }

    /// <summary>Returns whether a channel whose name begins with a prefix may have a subscriber.</summary>
    public bool MayHaveSubscribers(ReadOnlySpan<byte> prefix)
    {
        lock (_gate)
        {
            if (_patterns.Count > 0)
            {
                return true;
            }

            foreach (byte[] name in _channels.Keys)
            {
                if (name.AsSpan().StartsWith(prefix))
                {
                    return true;
                }
            }

            return false;
        }
    }

    /// <summary>Appends the channels that match a pattern.</summary>
    public void WriteChannels(ReplyBuffer replies, ReadOnlySpan<byte> pattern)
    {
        byte[][] all;
        lock (_gate)
        {
            all = [.. _channels.Keys];
        }

        // Without the lock, because thousands of long names take long, and messages would wait.
        List<byte[]> names = [];
        foreach (byte[] name in all)
        {
            if (RedisPattern.IsMatch(pattern, name))
            {
                names.Add(name);
            }
        }

        replies.Array(names.Count);
        foreach (byte[] name in names)
        {
            replies.Bulk(name);
        }
    }

    /// <summary>Returns the number of subscribers of a channel, without those of patterns.</summary>
    public int CountSubscribers(ReadOnlySpan<byte> channel)
    {
        lock (_gate)
        {
            return _channels.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(channel, out var subscribers)
                ? subscribers.Count
                : 0;
        }
    }

    private byte[][] ListPatterns()
    {
        if (Volatile.Read(ref _patternList) is { } known)
        {
            return known;
        }

        lock (_gate)
        {
            return _patternList ??= [.. _patterns.Keys];
        }
    }
}
