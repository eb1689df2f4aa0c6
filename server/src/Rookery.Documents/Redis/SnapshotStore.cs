using Rookery.Documents.Databases;

namespace Rookery.Documents.Redis;

/// <summary>The documents of a snapshot, for commands that only read.</summary>
internal sealed class SnapshotStore : RedisStore
{
    // Copying this many bytes takes about a second.
    private const long MaxSpentBytes = 2L << 30;

    private DatabaseReader _reader;
    private CancellationToken _cancellation;
    private long _spentBytes;

    /// <inheritdoc/>
    public override bool CanWalk => true;

    /// <summary>Begins a command.</summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="nowTicks">The cluster's time, in UTC ticks.</param>
    /// <param name="cancellation">Ends the command before its next key.</param>
    public void Begin(in DatabaseReader reader, long nowTicks, CancellationToken cancellation)
    {
        _reader = reader;
        _cancellation = cancellation;
        NowTicks = nowTicks;
        ExpiryTicks = reader.Hidden.Ticks;
        if (ExpiryTicks == 0 && reader.Database.HasExpiring && !reader.Database.Configurations.KeepsExpired)
        {
            // While the time is in doubt, the log compares expiries with its last steady time. A key that a write finds
            // absent must not be present for a read.
            ExpiryTicks = reader.ReadExpiryTicks();
        }

        _spentBytes = 0;
    }

    /// <inheritdoc/>
    public override Document Find(ReadOnlySpan<byte> lowerId)
    {
        _cancellation.ThrowIfCancellationRequested();
        if (!_reader.TryGetByLowerId(lowerId, out var document))
        {
            return default;
        }

        try
        {
            Spend(document.Length); // a command may name one large document many times
            return document;
        }
        catch (RedisLimitException)
        {
            document.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public override void Put(RedisTarget target, RedisContent content) => throw ReadOnly();

    /// <inheritdoc/>
    public override void Replace(RedisTarget target, RedisContent content) => throw ReadOnly();

    /// <inheritdoc/>
    public override void Delete(RedisTarget target) => throw ReadOnly();

    /// <inheritdoc/>
    public override void Spend(long bytes)
    {
        _spentBytes += bytes;
        if (_spentBytes > MaxSpentBytes)
        {
            throw new RedisLimitException(
                "The command takes too much time. Name fewer keys and paths, and use shorter patterns and numbers."
            );
        }
    }

    /// <inheritdoc/>
    public override long CountDocuments() => _reader.ReadStatistics().Documents;

    private static InvalidOperationException ReadOnly() => new("a command that writes runs in the log");
}
