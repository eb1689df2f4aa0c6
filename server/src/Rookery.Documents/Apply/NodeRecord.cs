using System.Buffers.Binary;

namespace Rookery.Documents.Apply;

/// <summary>What apply remembers about the node: <c>[u8 format][u32 last database number][i64 last log time]</c>.</summary>
internal readonly record struct NodeRecord(uint LastDatabaseNumber, long LastLogTicks)
{
    public const int Bytes = 1 + sizeof(uint) + sizeof(long);
    private const byte Format = 1;

    public void Write(Span<byte> buffer)
    {
        buffer[0] = Format;
        BinaryPrimitives.WriteUInt32LittleEndian(buffer[1..], LastDatabaseNumber);
        BinaryPrimitives.WriteInt64LittleEndian(buffer[(1 + sizeof(uint))..], LastLogTicks);
    }

    public static NodeRecord Read(ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length == Bytes && value[0] == Format, "node");
        return new NodeRecord(BinaryPrimitives.ReadUInt32LittleEndian(value[1..]), BinaryPrimitives.ReadInt64LittleEndian(value[(1 + sizeof(uint))..]));
    }
}
