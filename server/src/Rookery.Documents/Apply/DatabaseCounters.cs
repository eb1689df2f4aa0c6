using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>
/// Counters of one database, stored in one row. Each entry that changes the database rewrites the row.
/// </summary>
internal record struct DatabaseCounters
{
    public const int MaxBytes = OldBytes + (7 * sizeof(long));
    private const int OldBytes = 1 + (OldNumbers * sizeof(long));
    private const int OldNumbers = 8;
    private const byte Format = 2;
    private const byte OldFormat = 1; // ends before CompareExchangeValues; older programs read only this format

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

    /// <summary>Number of compare-exchange values, including expired ones that are not removed yet.</summary>
    public long CompareExchangeValues { get; set; }

    /// <summary>Number of counters of all documents.</summary>
    public long DocumentCounters { get; set; }

    /// <summary>Number of attachments of all documents.</summary>
    public long Attachments { get; set; }

    /// <summary>Number of different contents of attachments.</summary>
    public long AttachmentContents { get; set; }

    /// <summary>Size of these contents, in bytes.</summary>
    public long AttachmentBytes { get; set; }

    /// <summary>Number of revisions, including current versions of documents that are revisions.</summary>
    public long Revisions { get; set; }

    /// <summary>Number of deleted documents that have revisions.</summary>
    public long DeletedWithRevisions { get; set; }

    /// <summary>Writes the row and returns the part of the buffer that it takes.</summary>
    public readonly ReadOnlySpan<byte> Write(Span<byte> buffer)
    {
        // All of these exist only from format level 3 on, so an older program never sees the new format.
        bool isOld = (CompareExchangeValues | DocumentCounters | Attachments | AttachmentContents | Revisions) == 0;
        buffer[0] = isOld ? OldFormat : Format;
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
            CompareExchangeValues,
            DocumentCounters,
            Attachments,
            AttachmentContents,
            AttachmentBytes,
            Revisions,
            DeletedWithRevisions,
        ];
        numbers = isOld ? numbers[..OldNumbers] : numbers;
        for (int i = 0; i < numbers.Length; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(buffer[(1 + (i * sizeof(long)))..], numbers[i]);
        }

        return buffer[..(isOld ? OldBytes : MaxBytes)];
    }

    public static DatabaseCounters Read(ReadOnlySpan<byte> value)
    {
        bool isOld = value.Length == OldBytes && value[0] == OldFormat;
        FormatGuard.Expect(isOld || (value.Length == MaxBytes && value[0] == Format), "database counters");
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
            CompareExchangeValues = isOld ? 0 : ReadCounter(value, position: 8),
            DocumentCounters = isOld ? 0 : ReadCounter(value, position: 9),
            Attachments = isOld ? 0 : ReadCounter(value, position: 10),
            AttachmentContents = isOld ? 0 : ReadCounter(value, position: 11),
            AttachmentBytes = isOld ? 0 : ReadCounter(value, position: 12),
            Revisions = isOld ? 0 : ReadCounter(value, position: 13),
            DeletedWithRevisions = isOld ? 0 : ReadCounter(value, position: 14),
        };
    }

    private static long ReadCounter(ReadOnlySpan<byte> value, int position) =>
        BinaryPrimitives.ReadInt64LittleEndian(value[(1 + (position * sizeof(long)))..]);
}
