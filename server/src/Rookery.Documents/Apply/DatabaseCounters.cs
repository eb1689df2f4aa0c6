using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>
/// Counters of one database, stored in one row. Each entry that changes the database rewrites the row.
/// </summary>
internal record struct DatabaseCounters
{
    public const int Bytes = 1 + (8 * sizeof(long));
    private const byte Format = 1;

    public long Documents { get; set; }

    public long Tombstones { get; set; }

    public long LastDocumentEtag { get; set; }

    public long LastEtag { get; set; }

    /// <summary>The highest etag of a removed document tombstone; 0 if none was removed.</summary>
    public long TombstoneHorizon { get; set; }

    public long Identities { get; set; }

    public long IdempotencyKeys { get; set; }

    /// <summary>Idempotency keys used before this log time, in UTC ticks, may be missing.</summary>
    public long IdempotencyHorizonTicks { get; set; }

    public readonly void Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        ReadOnlySpan<long> numbers =
        [
            Documents,
            Tombstones,
            LastDocumentEtag,
            LastEtag,
            TombstoneHorizon,
            Identities,
            IdempotencyKeys,
            IdempotencyHorizonTicks,
        ];
        for (int i = 0; i < numbers.Length; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(buffer[(1 + (i * sizeof(long)))..], numbers[i]);
        }
    }

    public static DatabaseCounters Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length == Bytes && value[0] == Format, "database counters");
        return new DatabaseCounters
        {
            Documents = ReadCounter(value, position: 0),
            Tombstones = ReadCounter(value, position: 1),
            LastDocumentEtag = ReadCounter(value, position: 2),
            LastEtag = ReadCounter(value, position: 3),
            TombstoneHorizon = ReadCounter(value, position: 4),
            Identities = ReadCounter(value, position: 5),
            IdempotencyKeys = ReadCounter(value, position: 6),
            IdempotencyHorizonTicks = ReadCounter(value, position: 7),
        };
    }

    private static long ReadCounter(ReadOnlySpan<byte> value, int position) =>
        BinaryPrimitives.ReadInt64LittleEndian(value[(1 + (position * sizeof(long)))..]);
}
