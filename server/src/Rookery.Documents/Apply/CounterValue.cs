using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>The row of a counter: <c>[u8 format][i64 value]</c>.</summary>
internal static class CounterValue
{
    /// <summary>Length of a row.</summary>
    public const int Bytes = 1 + sizeof(long);

    private const byte Format = 1;

    /// <summary>Writes a row of <see cref="Bytes"/>.</summary>
    public static void Write(Span<byte> destination, long value)
    {
        destination[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(destination[1..], value);
    }

    /// <summary>Reads the value of a row.</summary>
    public static long Read(ReadOnlySpan<byte> row)
    {
        FormatGuard.Expect(row.Length == Bytes && row[0] == Format, "counter");
        return BinaryPrimitives.ReadInt64LittleEndian(row[1..]);
    }
}
