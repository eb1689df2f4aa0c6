using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>
/// The count of a database's indexes or subscriptions, and the highest number that one of them ever got. Stored as
/// <c>[u8 format][i64 last number][i32 count]</c>.
/// </summary>
internal readonly record struct AssignedNumbers(long LastNumber, int Count)
{
    public const int Bytes = 1 + sizeof(long) + sizeof(int);
    private const byte Format = 1;

    public void Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[1..], LastNumber);
        BinaryPrimitives.WriteInt32LittleEndian(buffer[(1 + sizeof(long))..], Count);
    }

    /// <summary>Reads stored numbers.</summary>
    /// <param name="value">The stored value.</param>
    /// <param name="what">What is counted, for the message of a damaged value.</param>
    public static AssignedNumbers Read(ReadOnlySpan<byte> value, string what)
    {
        FormatGuard.Expect(value.Length == Bytes && value[0] == Format, what);
        return new AssignedNumbers(
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt32LittleEndian(value[(1 + sizeof(long))..])
        );
    }
}
