using System.Collections.Concurrent;

namespace Rookery.Redis.Connections;

/// <summary>The Redis connections of this node. Thread-safe.</summary>
/// <param name="max">Maximum number of connections at once.</param>
internal sealed class ClientList(int max)
{
    private readonly ConcurrentDictionary<long, RedisConnection> _connections = new();
    private long _lastId;
    private int _count;

    /// <summary>Connections now.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Connections with subscriptions.</summary>
    public int Subscribers => _connections.Count(static client => client.Value.Subscriptions.Count > 0);

    /// <summary>Maximum number of connections at once.</summary>
    public int Max => max;

    /// <summary>Maximum number of connections of one remote address, so that one host cannot take all.</summary>
    public int MaxOfAddress => Math.Max(64, max / 4);

    /// <summary>The connections, by number.</summary>
    public IEnumerable<RedisConnection> All => _connections.Values.OrderBy(static connection => connection.Id);

    /// <summary>Returns the number of the next connection, from 1.</summary>
    public long NextId() => Interlocked.Increment(ref _lastId);

    /// <summary>Adds a connection; returns false if there are too many.</summary>
    public bool TryAdd(RedisConnection connection)
    {
        if (Interlocked.Increment(ref _count) > max)
        {
            Interlocked.Decrement(ref _count);
            return false;
        }

        _connections[connection.Id] = connection;
        return true;
    }

    /// <summary>Removes a connection that <see cref="TryAdd"/> added.</summary>
    public void Remove(RedisConnection connection)
    {
        if (_connections.TryRemove(connection.Id, out _))
        {
            Interlocked.Decrement(ref _count);
        }
    }
}
