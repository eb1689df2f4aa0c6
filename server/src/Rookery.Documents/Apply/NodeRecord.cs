using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>
/// The row with the state of the node itself: <c>[u8 format][u32 last database number][i64 last log time][i64 outcome
/// chain][i64 last unsteady time]</c> and, if compare-exchange values can expire, <c>[i64 expiry time]</c>.
/// </summary>
/// <param name="LastDatabaseNumber">The number of the newest database; 0 if none was ever created.</param>
/// <param name="LastLogTicks">See <see cref="NodeState.LastLogTicks"/>.</param>
/// <param name="OutcomeChain">See <see cref="NodeState.OutcomeHash"/>.</param>
/// <param name="LastUnsteadyTicks">See <see cref="NodeState.LastUnsteadyTicks"/>.</param>
/// <param name="ExpiryTicks">See <see cref="NodeState.ExpiryTicks"/>.</param>
internal readonly record struct NodeRecord(
    uint LastDatabaseNumber,
    long LastLogTicks,
    long OutcomeChain,
    long LastUnsteadyTicks,
    long? ExpiryTicks
)
{
    public const int MaxBytes = BytesWithoutExpiryTicks + sizeof(long);
    private const int BytesWithoutExpiryTicks = BytesWithoutUnsteadyTicks + sizeof(long);
    private const int BytesWithoutChain = 1 + sizeof(uint) + sizeof(long);
    private const int BytesWithoutUnsteadyTicks = BytesWithoutChain + sizeof(long);
    private const byte Format = 4;
    private const byte FormatWithoutExpiryTicks = 3; // before the first command of FormatLevel.CompareExchange
    private const byte FormatWithoutUnsteadyTicks = 2; // before nodes recorded steady times
    private const byte FormatWithoutChain = 1; // before nodes compared outcomes with other members

    /// <summary>Writes the row and returns the part of the buffer that it takes.</summary>
    public ReadOnlySpan<byte> Write(Span<byte> buffer)
    {
        buffer[0] = ExpiryTicks is null ? FormatWithoutExpiryTicks : Format;
        BinaryPrimitives.WriteUInt32LittleEndian(buffer[1..], LastDatabaseNumber);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[(1 + sizeof(uint))..], LastLogTicks);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[BytesWithoutChain..], OutcomeChain);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[BytesWithoutUnsteadyTicks..], LastUnsteadyTicks);
        if (ExpiryTicks is not { } expiryTicks)
        {
            return buffer[..BytesWithoutExpiryTicks];
        }

        BinaryPrimitives.WriteInt64LittleEndian(buffer[BytesWithoutExpiryTicks..], expiryTicks);
        return buffer[..MaxBytes];
    }

    public static NodeRecord Read(ReadOnlySpan<byte> value)
    {
        bool hasExpiryTicks = value.Length == MaxBytes && value[0] == Format;
        bool hasUnsteadyTicks =
            hasExpiryTicks || (value.Length == BytesWithoutExpiryTicks && value[0] == FormatWithoutExpiryTicks);
        bool hasChain =
            hasUnsteadyTicks || (value.Length == BytesWithoutUnsteadyTicks && value[0] == FormatWithoutUnsteadyTicks);
        FormatGuard.Expect(hasChain || (value.Length == BytesWithoutChain && value[0] == FormatWithoutChain), "node");
        return new NodeRecord(
            BinaryPrimitives.ReadUInt32LittleEndian(value[1..]),
            BinaryPrimitives.ReadInt64LittleEndian(value[(1 + sizeof(uint))..]),
            hasChain ? BinaryPrimitives.ReadInt64LittleEndian(value[BytesWithoutChain..]) : Apply.OutcomeChain.Unknown,
            hasUnsteadyTicks ? BinaryPrimitives.ReadInt64LittleEndian(value[BytesWithoutUnsteadyTicks..]) : 0,
            hasExpiryTicks ? BinaryPrimitives.ReadInt64LittleEndian(value[BytesWithoutExpiryTicks..]) : null
        );
    }
}
