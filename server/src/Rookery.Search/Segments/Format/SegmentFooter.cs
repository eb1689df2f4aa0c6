using Rookery.Platform;

namespace Rookery.Search.Segments.Format;

/// <summary>
/// The table of contents at the end of a segment. It contains the properties in order: numbers as varints, and the
/// number of fields followed by each field.
/// </summary>
internal sealed record SegmentFooter
{
    /// <summary>Maximum fields of a segment.</summary>
    public const int FieldLimit = 1 << 16;

    /// <summary>Number of entries.</summary>
    public required int Entries { get; init; }

    /// <summary>Fields with terms or lengths, by ascending number.</summary>
    public required IReadOnlyList<SegmentFieldFooter> Fields { get; init; }

    /// <summary>The tree of document ids. The payload of an id: varint first entry, varint number of entries.</summary>
    public required KeyTreeRoot Ids { get; init; }

    /// <summary>The locations of ids and etags, for each block of 32 entries: address, length.</summary>
    public required (PackedColumnRoot Addresses, PackedColumnRoot Lengths) Documents { get; init; }

    /// <summary>
    /// The locations of stored values, for each group: first entry, address, bytes on disk, expanded bytes.
    /// </summary>
    public required (
        PackedColumnRoot FirstEntries,
        PackedColumnRoot Addresses,
        PackedColumnRoot StoredBytes,
        PackedColumnRoot RawBytes
    ) Stored { get; init; }

    /// <summary>Appends the bytes.</summary>
    public void Write(GrowableBytes sink)
    {
        sink.AppendVarint((ulong)Entries);
        sink.AppendVarint((ulong)Fields.Count);
        foreach (var field in Fields)
        {
            field.Write(sink);
        }

        Ids.Write(sink);
        Documents.Addresses.Write(sink);
        Documents.Lengths.Write(sink);
        Stored.FirstEntries.Write(sink);
        Stored.Addresses.Write(sink);
        Stored.StoredBytes.Write(sink);
        Stored.RawBytes.Write(sink);
    }

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    /// <exception cref="InvalidDataException">The bytes are not a footer.</exception>
    public static SegmentFooter Read(ReadOnlySpan<byte> from)
    {
        int at = 0;
        int entries = Varint.ReadInt(from, ref at);
        int fieldCount = Varint.ReadInt(from, ref at);
        if (entries > SegmentFormat.EntryLimit || fieldCount > FieldLimit)
        {
            throw SegmentFormat.Malformed();
        }

        var fields = new List<SegmentFieldFooter>();
        for (int i = 0; i < fieldCount; i++)
        {
            fields.Add(SegmentFieldFooter.Read(from, ref at));
        }

        var footer = new SegmentFooter
        {
            Entries = entries,
            Fields = fields,
            Ids = KeyTreeRoot.Read(from, ref at),
            Documents = (PackedColumnRoot.Read(from, ref at), PackedColumnRoot.Read(from, ref at)),
            Stored = (
                PackedColumnRoot.Read(from, ref at),
                PackedColumnRoot.Read(from, ref at),
                PackedColumnRoot.Read(from, ref at),
                PackedColumnRoot.Read(from, ref at)
            ),
        };
        return at == from.Length ? footer : throw SegmentFormat.Malformed();
    }
}

/// <summary>One field of a segment.</summary>
/// <param name="Number">The field's number.</param>
/// <param name="IsText">Whether its postings have frequencies and positions.</param>
/// <param name="HasPlainKeys">Whether each entry has only one term, which is its sort key. Then the column alone
/// decides which entries have a term.</param>
/// <param name="Terms">The tree of terms, the dictionary.</param>
/// <param name="SortOrdinals">For each entry, 1 + the ordinal of its sort key in the dictionary; 0 for none.</param>
/// <param name="Lengths">For each entry, its length in tokens.</param>
/// <param name="EntriesWithLength">Number of entries whose length is not 0.</param>
/// <param name="TotalLength">The sum of the lengths.</param>
internal sealed record SegmentFieldFooter(
    int Number,
    bool IsText,
    bool HasPlainKeys,
    KeyTreeRoot Terms,
    PackedColumnRoot SortOrdinals,
    PackedColumnRoot Lengths,
    long EntriesWithLength,
    long TotalLength
)
{
    private const int TextFlag = 1;
    private const int PlainKeysFlag = 2;

    /// <summary>Appends the bytes.</summary>
    public void Write(GrowableBytes sink)
    {
        sink.AppendVarint((ulong)Number);
        sink.AppendVarint((IsText ? TextFlag : 0u) | (HasPlainKeys ? PlainKeysFlag : 0u));
        Terms.Write(sink);
        SortOrdinals.Write(sink);
        Lengths.Write(sink);
        sink.AppendVarint((ulong)EntriesWithLength);
        sink.AppendVarint((ulong)TotalLength);
    }

    /// <summary>Reads what <see cref="Write"/> wrote.</summary>
    public static SegmentFieldFooter Read(ReadOnlySpan<byte> from, ref int at)
    {
        int number = Varint.ReadInt(from, ref at);
        int flags = Varint.ReadInt(from, ref at);
        return new SegmentFieldFooter(
            number,
            (flags & TextFlag) != 0,
            (flags & PlainKeysFlag) != 0,
            KeyTreeRoot.Read(from, ref at),
            PackedColumnRoot.Read(from, ref at),
            PackedColumnRoot.Read(from, ref at),
            (long)Varint.Read(from, ref at),
            (long)Varint.Read(from, ref at)
        );
    }
}

/// <summary>The part of a segment's record in the manifest that never changes.</summary>
/// <param name="FileId">The file's number, which is part of its name.</param>
/// <param name="FileBytes">The file's length in bytes.</param>
/// <param name="Entries">Number of entries.</param>
internal readonly record struct SegmentSummary(long FileId, long FileBytes, int Entries);
