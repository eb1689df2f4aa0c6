using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Apply;

/// <summary>
/// Number and bytes of a collection's documents, as apply keeps them in memory. Stored as <c>[u8 format][i64
/// documents][i64 bytes][name]</c>; an empty collection has no row.
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

    /// <summary>The collection's name in UTF-8, lower-cased; the key of the row.</summary>
    public byte[] LowerName { get; }

    /// <summary>The collection's name, in the casing of its first document.</summary>
    public string Name { get; private set; }

    /// <summary><see cref="Name"/> in UTF-8.</summary>
    public byte[] WrittenName { get; private set; }

    public long Documents { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>Whether the counters changed since their row was written.</summary>
    public bool IsDirty { get; set; }

    /// <summary>Adds the numbers, which may be negative. An empty collection adopts the name.</summary>
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

    /// <summary>
    /// Returns <paramref name="name"/> as a string. Allocates only if its casing differs from <see cref="Name"/>.
    /// </summary>
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
