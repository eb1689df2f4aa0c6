namespace Rookery.Documents.Commands;

/// <summary>Encodes the commands that are not lists of documents. Each call gives a buffer that the caller owns.</summary>
public static class CommandEncoder
{
    /// <summary>A client's HiLo generator asks for a range (wire page, §3).</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="tag">The collection's tag ("users").</param>
    /// <param name="lastBatchSize">Size of the client's last range, 0 for the first.</param>
    /// <param name="lastRangeAtTicks">When it got it, UTC ticks.</param>
    /// <param name="lastMax">Its end.</param>
    /// <param name="separator">Between the tag and the number, usually "/".</param>
    public static CommandBuffer HiloNext(uint database, ReadOnlySpan<byte> tag, long lastBatchSize, long lastRangeAtTicks, long lastMax, byte separator) => throw new NotSupportedException();

    /// <summary>A client gives the rest of its range back.</summary>
    public static CommandBuffer HiloReturn(uint database, ReadOnlySpan<byte> tag, long last, long end) => throw new NotSupportedException();

    /// <summary>The next value of an identity. Repeated by clients with one request id: pass its key.</summary>
    public static CommandBuffer IdentityNext(uint database, ReadOnlySpan<byte> name, IdempotencyKey key) => throw new NotSupportedException();

    /// <summary>Sets an identity; without <paramref name="force"/> only upwards.</summary>
    public static CommandBuffer IdentitySeed(uint database, ReadOnlySpan<byte> name, long value, bool force, IdempotencyKey key) => throw new NotSupportedException();

    /// <summary>Makes a database. Its number is given in apply.</summary>
    /// <param name="name">The name, UTF-8.</param>
    /// <param name="historyId">22 characters made at random by <see cref="HistoryId.Create"/>.</param>
    public static CommandBuffer CreateDatabase(ReadOnlySpan<byte> name, ReadOnlySpan<byte> historyId) => throw new NotSupportedException();

    /// <summary>Removes databases by name.</summary>
    public static CommandBuffer DeleteDatabases(IReadOnlyCollection<string> names) => throw new NotSupportedException();

    /// <summary>Allows tombstones up to an etag to go.</summary>
    public static CommandBuffer SetTombstoneHorizon(uint database, long etag) => throw new NotSupportedException();

    /// <summary>Stores the client configuration, a JSON object.</summary>
    public static CommandBuffer PutClientConfiguration(uint database, ReadOnlySpan<byte> json) => throw new NotSupportedException();
}

/// <summary>The random name of one history of a database: 22 characters of base64url, 128 bits.</summary>
public static class HistoryId
{
    /// <summary>Bytes of a history id.</summary>
    public const int Length = 22;

    /// <summary>Makes one.</summary>
    public static string Create() => throw new NotSupportedException();
}
