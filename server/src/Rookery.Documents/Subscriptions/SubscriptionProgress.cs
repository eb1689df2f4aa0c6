using System.Buffers.Binary;
using Rookery.Documents.Apply;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// The progress of a subscription, in a row of its own under its number, so that an acknowledgement does not write the
/// query again. Stored as <c>[u8 format][i64 etag][i64 acknowledged ticks][i64 connected ticks][lower-cased name]</c>.
/// The name is the key of the definition.
/// </summary>
internal readonly ref struct SubscriptionProgress
{
    public const int MaxBytes = HeadBytes + SubscriptionRecord.MaxNameBytes;

    private const byte Format = 1;
    private const int HeadBytes = 1 + (3 * sizeof(long));

    public long Etag { get; init; }

    public long AcknowledgedTicks { get; init; }

    public long ConnectedTicks { get; init; }

    public ReadOnlySpan<byte> LowerName { get; init; }

    public ReadOnlySpan<byte> Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(buffer[1..], Etag);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[9..], AcknowledgedTicks);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[17..], ConnectedTicks);
        LowerName.CopyTo(buffer[HeadBytes..]);
        return buffer[..(HeadBytes + LowerName.Length)];
    }

    public static SubscriptionProgress Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length > HeadBytes && value[0] == Format, "progress of a subscription");
        return new SubscriptionProgress
        {
            Etag = BinaryPrimitives.ReadInt64LittleEndian(value[1..]),
            AcknowledgedTicks = BinaryPrimitives.ReadInt64LittleEndian(value[9..]),
            ConnectedTicks = BinaryPrimitives.ReadInt64LittleEndian(value[17..]),
            LowerName = value[HeadBytes..],
        };
    }
}
