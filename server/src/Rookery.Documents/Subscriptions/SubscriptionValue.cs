using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Platform;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// The stored form of a subscription's definition: <c>[u8 format][u8 flags][i64 number][name][mentor][query]</c>. A
/// varint length precedes each text. The progress is in a row of its own (<see cref="SubscriptionProgress"/>).
/// </summary>
internal readonly ref struct SubscriptionValue
{
    private const byte Format = 1;
    private const byte Disabled = 1;
    private const byte Pinned = 2;
    private const int HeadBytes = 2 + sizeof(long);

    public bool IsDisabled { get; init; }

    public bool IsPinned { get; init; }

    public long Number { get; init; }

    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>Tag of the member; empty for the leader.</summary>
    public ReadOnlySpan<byte> Mentor { get; init; }

    public ReadOnlySpan<byte> Query { get; init; }

    public void Write(IBufferWriter<byte> writer)
    {
        var span = writer.GetSpan(HeadBytes + (3 * Varint.MaxBytes32) + Name.Length + Mentor.Length + Query.Length);
        span[0] = Format;
        span[1] = (byte)((IsDisabled ? Disabled : 0) | (IsPinned ? Pinned : 0));
        BinaryPrimitives.WriteInt64LittleEndian(span[2..], Number);
        int at = HeadBytes + Varint.WriteBytes(span[HeadBytes..], Name);
        at += Varint.WriteBytes(span[at..], Mentor);
        writer.Advance(at + Varint.WriteBytes(span[at..], Query));
    }

    public static SubscriptionValue Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length > HeadBytes && value[0] == Format, "subscription");
        int at = HeadBytes;
        bool isWhole = Varint.TryReadBytes(value, ref at, out var name);
        isWhole &= Varint.TryReadBytes(value, ref at, out var mentor);
        isWhole &= Varint.TryReadBytes(value, ref at, out var query);
        FormatGuard.Expect(isWhole, "subscription");
        return new SubscriptionValue
        {
            IsDisabled = (value[1] & Disabled) != 0,
            IsPinned = (value[1] & Pinned) != 0,
            Number = BinaryPrimitives.ReadInt64LittleEndian(value[2..]),
            Name = name,
            Mentor = mentor,
            Query = query,
        };
    }

    public SubscriptionRecord ToRecord(long version, SubscriptionProgress progress) =>
        new()
        {
            Name = Encoding.UTF8.GetString(Name),
            Number = Number,
            Query = Encoding.UTF8.GetString(Query),
            IsDisabled = IsDisabled,
            MentorNode = Mentor.IsEmpty ? null : Encoding.ASCII.GetString(Mentor),
            IsPinned = IsPinned,
            Version = version,
            Progress = progress.Etag,
            AcknowledgedTicks = progress.AcknowledgedTicks,
            ConnectedTicks = progress.ConnectedTicks,
        };
}
