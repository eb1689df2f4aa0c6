using System.Buffers.Binary;
using Rookery.Documents.Apply;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// Number of subscriptions in a database, and the last assigned number. Stored as <c>[u8 format][i64 last number][i32
/// count]</c>.
/// </summary>
internal readonly record struct SubscriptionCounters(long LastNumber, int Count)
{
    public const int Bytes = 1 + sizeof(long) + sizeof(int);
    private const byte Format = 1;

    public void Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[1..], LastNumber);
        BinaryPrimitives.WriteInt32LittleEndian(buffer[(1 + sizeof(long))..], Count);
    }

    public static SubscriptionCounters Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length == Bytes && value[0] == Format, "subscription counters");
        return new SubscriptionCounters(
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt32LittleEndian(value[(1 + sizeof(long))..])
        );
    }
}
