using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Changes;

namespace Rookery.Documents.Apply;

/// <summary>
/// The stored form of a tombstone: <c>[u8 format][u8 moved][i64 ticks][u16 collection length][collection][id as
/// written]</c>.
/// </summary>
internal static class TombstoneValue
{
    /// <summary>Maximum length of the value.</summary>
    public const int MaxBytes = HeadBytes + 512 + 512;

    private const int HeadBytes = 1 + 1 + sizeof(long) + sizeof(ushort);
    private const byte Format = 1;

    /// <summary>Writes a tombstone.</summary>
    /// <param name="buffer">At least <see cref="MaxBytes"/> bytes.</param>
    /// <param name="id">The document's id, as it was stored.</param>
    /// <param name="collection">The document's collection before.</param>
    /// <param name="ticks">Log time of the deletion, in UTC ticks.</param>
    /// <param name="moved">Whether the document moved to another collection and still exists.</param>
    public static ReadOnlySpan<byte> Write(
        Span<byte> buffer,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> collection,
        long ticks,
        bool moved
    )
    {
        buffer[0] = Format;
        buffer[1] = moved ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[2..], ticks);
        BinaryPrimitives.WriteUInt16LittleEndian(buffer[10..], (ushort)collection.Length);
        collection.CopyTo(buffer[HeadBytes..]);
        id.CopyTo(buffer[(HeadBytes + collection.Length)..]);
        return buffer[..(HeadBytes + collection.Length + id.Length)];
    }

    /// <summary>Returns the log time of the deletion, in UTC ticks.</summary>
    public static long TicksOf(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length >= HeadBytes && value[0] == Format, "tombstone");
        return BinaryPrimitives.ReadInt64LittleEndian(value[2..]);
    }

    /// <summary>Returns the id as it was stored.</summary>
    public static ReadOnlySpan<byte> IdOf(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length >= HeadBytes && value[0] == Format, "tombstone");
        return value[(HeadBytes + BinaryPrimitives.ReadUInt16LittleEndian(value[10..]))..];
    }

    public static Tombstone Read(long etag, ReadOnlySpan<byte> value)
    {
        long deletedTicks = TicksOf(value);
        int collectionLength = BinaryPrimitives.ReadUInt16LittleEndian(value[10..]);
        return new Tombstone(
            Id: Encoding.UTF8.GetString(IdOf(value)),
            Collection: Key.CollectionText(value.Slice(HeadBytes, collectionLength)),
            Etag: etag,
            DeletedTicks: deletedTicks,
            Moved: value[1] != 0
        );
    }
}
