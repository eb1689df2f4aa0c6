using System.Buffers.Binary;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes commands, one per call. <see cref="BatchWriter"/> encodes batches of several operations. The caller owns the
/// returned buffer.
/// </summary>
public static class CommandEncoder
{
    // The database number of commands that concern no single database.
    private const uint NoDatabase = 0;

    /// <summary>Encodes a batch of one put. Allocates nothing.</summary>
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
            return AddRequestHash(buffer);
        }

        int idOffset = CommandFormat.WritePutWithoutId(buffer, expected, document);
        // The GUID is created after the hash: a repeated request gets another GUID, and must have the same hash.
        RequestHash.Write(buffer);
        GuidId.Create(buffer.WrittenSpan[idOffset..]);
        return buffer;
    }

    /// <summary>Encodes a batch of one delete. Allocates nothing.</summary>
    /// <inheritdoc cref="BatchWriter.Delete"/>
    public static CommandBuffer Delete(
        uint database,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        IdempotencyKey key
    )
    {
        CommandBuffer buffer = Begin(CommandKind.Batch, database, key);
        CommandFormat.WriteOperation(buffer, OperationKind.Delete, id, expected, flags: 0);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes a put of one compare-exchange value.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The value's key, which <see cref="CompareExchangeKey"/> accepts.</param>
    /// <param name="index">The index that the value must have; 0 if it must not exist.</param>
    /// <param name="value">The value, an object with the member Object.</param>
    /// <param name="requestKey">The request's idempotency key, or none.</param>
    public static CommandBuffer PutCompareExchange(
        uint database,
        ReadOnlySpan<byte> key,
        long index,
        in ParsedDocument value,
        IdempotencyKey requestKey
    )
    {
        CommandBuffer buffer = Begin(CommandKind.CompareExchange, database, requestKey);
        CommandFormat.WriteCompareExchangePut(buffer, key, index, value);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes a delete of one compare-exchange value.</summary>
    /// <inheritdoc cref="PutCompareExchange"/>
    public static CommandBuffer DeleteCompareExchange(
        uint database,
        ReadOnlySpan<byte> key,
        long index,
        IdempotencyKey requestKey
    )
    {
        CommandBuffer buffer = Begin(CommandKind.CompareExchange, database, requestKey);
        CommandFormat.WriteCompareExchangeDelete(buffer, key, index);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes a request for the next id range of a client's HiLo generator.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="tag">The collection's tag (for instance "users").</param>
    /// <param name="lastBatchSize">Size of the client's last range; 0 for its first request.</param>
    /// <param name="lastRangeAtTicks">Time at which the client received its last range, in UTC ticks.</param>
    /// <param name="lastMax">Last number of the client's last range.</param>
    /// <param name="separator">Character between the tag and the number, usually "/".</param>
    /// <param name="key">The request's idempotency key, or none.</param>
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
        WriteByte(buffer, separator);
        WriteTag(buffer, tag);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes the return of the unused end of a client's range.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="tag">The collection's tag.</param>
    /// <param name="last">The last number that the client used.</param>
    /// <param name="end">The last number of its range.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
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
        return AddRequestHash(buffer);
    }

    /// <summary>
    /// Encodes a request for the next value of an identity. Clients retry it with the same request id. Pass that id as
    /// the key.
    /// </summary>
    /// <param name="database">The database's number.</param>
    /// <param name="name">The identity's name, lower-cased, with the <c>|</c> at its end.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    public static CommandBuffer IdentityNext(uint database, ReadOnlySpan<byte> name, IdempotencyKey key)
    {
        CommandBuffer buffer = Begin(CommandKind.IdentityNext, database, key);
        WriteBytes(buffer, name);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes a new value of an identity; lowers it only with <paramref name="force"/>.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="name">The identity's name, lower-cased, with the <c>|</c> at its end.</param>
    /// <param name="value">The new value.</param>
    /// <param name="force">Whether the identity may be lowered.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
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
        WriteByte(buffer, force ? (byte)1 : (byte)0);
        WriteBytes(buffer, name);
        return AddRequestHash(buffer);
    }

    /// <summary>Encodes the creation of a database. Apply chooses its number.</summary>
    /// <param name="name">A valid name: <see cref="DatabaseName.Problem"/> returns null for it.</param>
    /// <param name="historyId">22 random characters, from <see cref="HistoryId.Create"/>.</param>
    public static CommandBuffer CreateDatabase(string name, string historyId)
    {
        Invariant.Holds(DatabaseName.Problem(name) is null, "names are checked before they are encoded");
        CommandBuffer buffer = Begin(CommandKind.CreateDatabase, NoDatabase, key: default);
        WriteBytes(buffer, Encoding.UTF8.GetBytes(name));
        WriteBytes(buffer, Encoding.ASCII.GetBytes(historyId));
        WriteBytes(buffer, Encoding.UTF8.GetBytes(DatabaseName.ToLower(name)));
        return buffer;
    }

    /// <summary>Encodes the deletion of databases by name.</summary>
    public static CommandBuffer DeleteDatabases(IReadOnlyCollection<string> names)
    {
        CommandBuffer buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(buffer, CommandKind.DeleteDatabases, NoDatabase, names.Count, key: default);
        foreach (string name in names)
        {
            WriteBytes(buffer, Encoding.UTF8.GetBytes(DatabaseName.ToLower(name)));
        }

        return buffer;
    }

    /// <summary>Encodes the removal of tombstones up to an etag.</summary>
    public static CommandBuffer SetTombstoneHorizon(uint database, long etag)
    {
        CommandBuffer buffer = Begin(CommandKind.SetTombstoneHorizon, database, default);
        WriteInt64(buffer, etag);
        return buffer;
    }

    /// <summary>Encodes a client configuration of the old form, a JSON object.</summary>
    public static CommandBuffer PutClientConfiguration(uint database, ReadOnlySpan<byte> json)
    {
        CommandBuffer buffer = Begin(CommandKind.PutClientConfiguration, database, default);
        WriteBytes(buffer, json);
        return buffer;
    }

    /// <summary>Encodes a new text of a configuration of a database, or of the server.</summary>
    /// <param name="database">The database's number; 0 for the server.</param>
    /// <param name="name">One of <see cref="ConfigurationName"/>.</param>
    /// <param name="json">A valid JSON text of at most <see cref="DatabaseConfigurations.MaxBytes"/>; <c>null</c>
    /// removes the configuration.</param>
    /// <param name="expectedEtag">The etag that the configuration must have, 0 if it must never have been set; null for
    /// any.</param>
    public static CommandBuffer SetConfiguration(
        uint database,
        string name,
        ReadOnlySpan<byte> json,
        long? expectedEtag = null
    )
    {
        Invariant.Holds(
            DatabaseConfigurations.IsName(name) && !json.IsEmpty,
            "configurations are validated before they are encoded"
        );
        CommandBuffer buffer = Begin(CommandKind.SetConfiguration, database, default);
        WriteInt64(buffer, expectedEtag ?? -1);
        WriteBytes(buffer, Encoding.ASCII.GetBytes(name));
        WriteBytes(buffer, json);
        return buffer;
    }

    /// <summary>Encodes a new configuration of a database's revisions.</summary>
    public static CommandBuffer ConfigureRevisions(
        uint database,
        RevisionsConfiguration configuration,
        IdempotencyKey key = default
    )
    {
        CommandBuffer buffer = Begin(CommandKind.ConfigureRevisions, database, key);
        WriteBytes(buffer, configuration.Encode());
        return AddRequestHash(buffer);
    }

    /// <summary>
    /// Encodes the start of a new history of a database (<see cref="HistoryId"/>). The change vectors of the earlier
    /// history then match no document.
    /// </summary>
    /// <param name="database">The database's number.</param>
    /// <param name="historyId">22 random characters, from <see cref="HistoryId.Create"/>.</param>
    public static CommandBuffer RenewHistory(uint database, string historyId)
    {
        CommandBuffer buffer = Begin(CommandKind.RenewHistory, database, default);
        WriteBytes(buffer, Encoding.ASCII.GetBytes(historyId));
        return buffer;
    }

    private static CommandBuffer Begin(CommandKind kind, uint database, IdempotencyKey key)
    {
        CommandBuffer buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(buffer, kind, database, operations: 1, key);
        return buffer;
    }

    private static CommandBuffer AddRequestHash(CommandBuffer buffer)
    {
        RequestHash.Write(buffer);
        return buffer;
    }

    // Writes the tag, then its lower-case form, which is empty for an ASCII tag: apply lower-cases only ASCII, because
    // nodes may use different versions of Unicode.
    private static void WriteTag(CommandBuffer buffer, ReadOnlySpan<byte> tag)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        WriteBytes(buffer, tag);
        WriteBytes(buffer, Ascii.IsValid(tag) ? [] : lower[..DocumentId.ToLower(tag, lower)]);
    }

    private static void WriteByte(CommandBuffer buffer, byte value)
    {
        buffer.GetSpan(1)[0] = value;
        buffer.Advance(1);
    }

    private static void WriteInt64(CommandBuffer buffer, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(buffer.GetSpan(8), value);
        buffer.Advance(8);
    }

    private static void WriteBytes(CommandBuffer buffer, ReadOnlySpan<byte> bytes) =>
        buffer.Advance(Varint.WriteBytes(buffer.GetSpan(Varint.MaxBytes32 + bytes.Length), bytes));
}

/// <summary>
/// The random id of a history of a database: 128 bits as 22 characters of base64url. A history lasts from the creation
/// or restore of the database to the next restore. Each change vector contains its id.
/// </summary>
public static class HistoryId
{
    /// <summary>Length of a history id, in bytes.</summary>
    public const int Length = 22;

    /// <summary>Creates a random history id.</summary>
    public static string Create() => Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(16));
}
