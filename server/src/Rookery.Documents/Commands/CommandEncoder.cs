using System.Buffers.Binary;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes commands in one call each; longer batches are built with <see cref="BatchWriter"/>. Each call gives a buffer
/// that the caller owns.
/// </summary>
public static class CommandEncoder
{
    /// <summary>A batch of one put. Allocates nothing.</summary>
    /// <inheritdoc cref="BatchWriter.Put"/>
    public static CommandBuffer Put(
        uint database,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        in ParsedDocument document,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.Batch, database, key);
        if (!id.IsEmpty)
        {
            CommandFormat.WritePut(buffer, id, expected, document);
            return Sealed(buffer);
        }

        int madeId = CommandFormat.WritePutWithoutId(buffer, expected, document);
        RequestHash.Seal(buffer);
        GuidId.Create(buffer.WrittenSpan[madeId..]);
        return buffer;
    }

    /// <summary>A batch of one delete. Allocates nothing.</summary>
    /// <inheritdoc cref="BatchWriter.Delete"/>
    public static CommandBuffer Delete(
        uint database,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.Batch, database, key);
        CommandFormat.WriteOperation(buffer, OperationKind.Delete, id, expected, 0);
        return Sealed(buffer);
    }

    /// <summary>A client's HiLo generator asks for a range (wire page, §3).</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="tag">The collection's tag ("users").</param>
    /// <param name="lastBatchSize">Size of the client's last range, 0 for the first.</param>
    /// <param name="lastRangeAtTicks">When it got it, UTC ticks.</param>
    /// <param name="lastMax">Its end.</param>
    /// <param name="separator">Between the tag and the number, usually "/".</param>
    /// <param name="key">The request's key.</param>
    public static CommandBuffer HiloNext(
        uint database,
        ReadOnlySpan<byte> tag,
        long lastBatchSize,
        long lastRangeAtTicks,
        long lastMax,
        byte separator,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.HiloNext, database, key);
        WriteInt64(buffer, lastBatchSize);
        WriteInt64(buffer, lastRangeAtTicks);
        WriteInt64(buffer, lastMax);
        buffer.GetSpan(1)[0] = separator;
        buffer.Advance(1);
        WriteTag(buffer, tag);
        return Sealed(buffer);
    }

    /// <summary>A client gives the rest of its range back.</summary>
    public static CommandBuffer HiloReturn(
        uint database,
        ReadOnlySpan<byte> tag,
        long last,
        long end,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.HiloReturn, database, key);
        WriteInt64(buffer, last);
        WriteInt64(buffer, end);
        WriteTag(buffer, tag);
        return Sealed(buffer);
    }

    /// <summary>The next value of an identity. Repeated by clients with one request id: pass its key.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="name">The identity, lower-cased, bar included.</param>
    /// <param name="key">The request's key.</param>
    public static CommandBuffer IdentityNext(uint database, ReadOnlySpan<byte> name, IdempotencyKey key)
    {
        CommandBuffer buffer = Begin(CommandKind.IdentityNext, database, key);
        WriteBytes(buffer, name);
        return Sealed(buffer);
    }

    /// <summary>Sets an identity; without <paramref name="force"/> only upwards.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="name">The identity, lower-cased, bar included.</param>
    /// <param name="value">The new value.</param>
    /// <param name="force">Also downwards.</param>
    /// <param name="key">The request's key.</param>
    public static CommandBuffer IdentitySeed(
        uint database,
        ReadOnlySpan<byte> name,
        long value,
        bool force,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.IdentitySeed, database, key);
        WriteInt64(buffer, value);
        buffer.GetSpan(1)[0] = force ? (byte)1 : (byte)0;
        buffer.Advance(1);
        WriteBytes(buffer, name);
        return Sealed(buffer);
    }

    /// <summary>Makes a database. Its number is given in apply.</summary>
    /// <param name="name">A name without a <see cref="DatabaseName.Problem"/>.</param>
    /// <param name="historyId">22 characters made at random by <see cref="HistoryId.Create"/>.</param>
    public static CommandBuffer CreateDatabase(string name, string historyId)
    {
        Invariant.Holds(DatabaseName.Problem(name) is null, "names are checked before they are encoded");
        CommandBuffer buffer = Begin(CommandKind.CreateDatabase, 0, default);
        WriteBytes(buffer, Encoding.UTF8.GetBytes(name));
        WriteBytes(buffer, Encoding.ASCII.GetBytes(historyId));
        WriteBytes(buffer, Encoding.UTF8.GetBytes(DatabaseName.ToLower(name)));
        return buffer;
    }

    /// <summary>Removes databases by name.</summary>
    public static CommandBuffer DeleteDatabases(IReadOnlyCollection<string> names)
    {
        CommandBuffer buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(buffer, CommandKind.DeleteDatabases, 0, names.Count, default);
        foreach (string name in names)
        {
            WriteBytes(buffer, Encoding.UTF8.GetBytes(DatabaseName.ToLower(name)));
        }

        return buffer;
    }

    /// <summary>Allows tombstones up to an etag to go.</summary>
    public static CommandBuffer SetTombstoneHorizon(uint database, long etag)
    {
        CommandBuffer buffer = Begin(CommandKind.SetTombstoneHorizon, database, default);
        WriteInt64(buffer, etag);
        return buffer;
    }

    /// <summary>Stores the client configuration, a JSON object.</summary>
    public static CommandBuffer PutClientConfiguration(uint database, ReadOnlySpan<byte> json)
    {
        CommandBuffer buffer = Begin(CommandKind.PutClientConfiguration, database, default);
        WriteBytes(buffer, json);
        return buffer;
    }

    /// <summary>Gives a database a new history id, so that no change vector from before matches any more.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="historyId">22 characters made at random by <see cref="HistoryId.Create"/>.</param>
    public static CommandBuffer RenewHistory(uint database, string historyId)
    {
        CommandBuffer buffer = Begin(CommandKind.RenewHistory, database, default);
        WriteBytes(buffer, Encoding.ASCII.GetBytes(historyId));
        return buffer;
    }

    private static CommandBuffer Begin(CommandKind kind, uint database, IdempotencyKey key)
    {
        CommandBuffer buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(buffer, kind, database, 1, key);
        return buffer;
    }

    private static CommandBuffer Sealed(CommandBuffer buffer)
    {
        RequestHash.Seal(buffer);
        return buffer;
    }

    // As with ids: what is not ASCII is lower-cased here, because nodes may know other versions of Unicode.
    private static void WriteTag(CommandBuffer buffer, ReadOnlySpan<byte> tag)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        WriteBytes(buffer, tag);
        WriteBytes(buffer, Ascii.IsValid(tag) ? [] : lower[..DocumentId.ToLower(tag, lower)]);
    }

    private static void WriteInt64(CommandBuffer buffer, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(buffer.GetSpan(8), value);
        buffer.Advance(8);
    }

    private static void WriteBytes(CommandBuffer buffer, ReadOnlySpan<byte> bytes) =>
        buffer.Advance(Varint.WriteBytes(buffer.GetSpan(Varint.MaxBytes32 + bytes.Length), bytes));
}

/// <summary>The random name of one history of a database: 22 characters of base64url, 128 bits.</summary>
public static class HistoryId
{
    /// <summary>Bytes of a history id.</summary>
    public const int Length = 22;

    /// <summary>Makes one.</summary>
    public static string Create() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(16));
}
