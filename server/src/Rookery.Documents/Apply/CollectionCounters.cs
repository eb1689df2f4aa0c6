using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Apply;

/// <summary>
/// The counters of a collection as apply holds them. Stored as <c>[u8 format][i64 documents][i64 bytes][name]</c>,
/// without a row while it is empty.
/// </summary>
internal sealed class CollectionCounters
{
    public const int MaxBytes = HeadBytes + 512;
    private const int HeadBytes = 1 + (2 * sizeof(long));
    private const byte Format = 1;

    public CollectionCounters(byte[] lowerName, ReadOnlySpan<byte> name)
    {
        LowerName = lowerName;
        Name = Key.CollectionText(name);
        WrittenName = name.ToArray();
    }

    public byte[] LowerName { get; }

    /// <summary>The name in the case of the first of its present documents.</summary>
    public string Name { get; private set; }

    public byte[] WrittenName { get; private set; }

    public long Documents { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>Whether the row in the table is older than this.</summary>
    public bool IsDirty { get; set; }

    public void Change(string name, long documents, long bytes)
    {
        if (Documents == 0 && !string.Equals(Name, name, StringComparison.Ordinal))
        {
            WrittenName = Encoding.UTF8.GetBytes(name);
            Name = name;
        }

        Documents += documents;
        Bytes += bytes;
    }

    /// <summary>The text of <paramref name="name"/>, without making a string when it is written as usual.</summary>
    public string TextOf(ReadOnlySpan<byte> name) =>
        WrittenName.AsSpan().SequenceEqual(name) ? Name : Key.CollectionText(name);

    public ReadOnlySpan<byte> Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[1..], Documents);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[9..], Bytes);
        WrittenName.CopyTo(buffer[HeadBytes..]);
        return buffer[..(HeadBytes + WrittenName.Length)];
    }

    public static CollectionCounters Read(ReadOnlySpan<byte> lowerName, ReadOnlySpan<byte> value)
    {
        var statistics = ReadStatistics(value);
        return new CollectionCounters(lowerName.ToArray(), value[HeadBytes..])
        {
            Documents = statistics.Documents,
            Bytes = statistics.Bytes,
        };
    }

    public static CollectionStatistics ReadStatistics(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length >= HeadBytes && value[0] == Format, "collection counters");
        return new CollectionStatistics(
            Key.CollectionText(value[HeadBytes..]),
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt64LittleEndian(value[9..])
        );
    }
}
