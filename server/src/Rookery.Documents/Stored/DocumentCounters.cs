using System.Buffers;
using System.Buffers.Binary;
using Rookery.Storage;

namespace Rookery.Documents.Stored;

/// <summary>
/// What a document stores about its counters: <c>[since i64][count u32][names: <see cref="CounterNames"/>]</c>; nothing
/// if it has none.
/// </summary>
/// <param name="stored">The stored bytes.</param>
/// <remarks>
/// Rows of counters remain when their document is deleted, because deleting each of them takes unbounded time and rows.
/// Instead, the document stores the lowest etag of its counters' rows. If a document is stored again under the id after
/// a deletion, its lowest etag is later, so it gets none of the old counters. Merges drop the old rows.
/// </remarks>
internal readonly ref struct DocumentCounters(ReadOnlySpan<byte> stored)
{
    /// <summary>Length of the part before the names.</summary>
    public const int HeadBytes = sizeof(long) + sizeof(uint);

    /// <summary>The stored bytes; empty without counters.</summary>
    public ReadOnlySpan<byte> Stored { get; } = stored;

    /// <summary>The least etag that a row of a counter of this document can have; 0 without counters.</summary>
    public long Since => Stored.IsEmpty ? 0 : BinaryPrimitives.ReadInt64LittleEndian(Part(HeadBytes));

    /// <summary>The number of counters.</summary>
    public int Count => Stored.IsEmpty ? 0 : BinaryPrimitives.ReadInt32LittleEndian(Part(HeadBytes)[sizeof(long)..]);

    /// <summary>Their names.</summary>
    public ReadOnlySpan<byte> Names => Stored.IsEmpty ? default : Stored[Part(HeadBytes).Length..];

    /// <summary>Returns whether a row of a counter is the document's own, not one of an earlier document.</summary>
    /// <param name="since"><see cref="Since"/> of the document.</param>
    /// <param name="sequence">Sequence of the row.</param>
    public static bool Owns(long since, long sequence) => since != 0 && sequence >= since;

    /// <summary>Writes the part before the names.</summary>
    public static void WriteHead(Span<byte> destination, long since, int count)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, since);
        BinaryPrimitives.WriteInt32LittleEndian(destination[sizeof(long)..], count);
    }

    /// <summary>
    /// Reads <see cref="Since"/> from the row of a document. Reads no more than the first bytes of a large document.
    /// </summary>
    public static long ReadSince(in Row document)
    {
        if (!document.IsLarge)
        {
            return ReadSince(document.Value);
        }

        var first = new ArrayBufferWriter<byte>(StoredDocument.PrefixBytes);
        document.CopyTo(first, 0, Math.Min(StoredDocument.PrefixBytes, document.Length));
        return ReadSince(first.WrittenSpan);
    }

    private static long ReadSince(ReadOnlySpan<byte> prefix)
    {
        const int FlagsOffset = 1;
        if (prefix.Length > FlagsOffset && (prefix[FlagsOffset] & StoredDocument.HasCounters) == 0)
        {
            return 0;
        }

        int at = DocumentView.ReadCountersOffset(prefix);
        return prefix.Length - at >= HeadBytes
            ? BinaryPrimitives.ReadInt64LittleEndian(prefix[at..])
            : throw DocumentView.Broken();
    }

    private ReadOnlySpan<byte> Part(int length) =>
        Stored.Length >= length ? Stored[..length] : throw DocumentView.Broken();
}
