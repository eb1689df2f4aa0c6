using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>
/// Number of indexes in a database, and the last assigned index number. Stored as <c>[u8 format][i64 last number][i32
/// count]</c>.
/// </summary>
internal readonly record struct IndexCounters(long LastNumber, int Count)
{
    public const int Bytes = 1 + sizeof(long) + sizeof(int);
    private const byte Format = 1;

    public void Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[1..], LastNumber);
        BinaryPrimitives.WriteInt32LittleEndian(buffer[(1 + sizeof(long))..], Count);
    }

    public static IndexCounters Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length == Bytes && value[0] == Format, "index counters");
        return new IndexCounters(
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt32LittleEndian(value[(1 + sizeof(long))..])
        );
    }
}
