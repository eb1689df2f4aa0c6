using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;

namespace Rookery.Documents.Databases;

/// <summary>
/// The node's record of a database. Stored as <c>[u8 format][i64 created ticks][history id, 22 bytes][u16
/// length][lower-cased name][name]</c>.
/// </summary>
internal sealed record DatabaseRecord(uint Number, string Name, string LowerName, string HistoryId, long CreatedTicks)
{
    private const byte Format = 2; // format 1, before the first release, had no lower-cased name
    private const int LowerOffset = HistoryOffset + Commands.HistoryId.Length;
    private const int HistoryOffset = 1 + sizeof(long);
    private const int HeadBytes = LowerOffset + sizeof(ushort);

    public byte[] Encode()
    {
        int lowerBytes = Encoding.UTF8.GetByteCount(LowerName);
        byte[] value = new byte[HeadBytes + lowerBytes + Encoding.UTF8.GetByteCount(Name)];
        value[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(value.AsSpan(1), CreatedTicks);
        Encoding.ASCII.GetBytes(HistoryId, value.AsSpan(HistoryOffset));
        BinaryPrimitives.WriteUInt16LittleEndian(value.AsSpan(LowerOffset), (ushort)lowerBytes);
        Encoding.UTF8.GetBytes(LowerName, value.AsSpan(HeadBytes));
        Encoding.UTF8.GetBytes(Name, value.AsSpan(HeadBytes + lowerBytes));
        return value;
    }

    public static DatabaseRecord Decode(uint number, ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length > HeadBytes && value[0] == Format, "database");
        int lowerBytes = BinaryPrimitives.ReadUInt16LittleEndian(value[LowerOffset..]);
        return new DatabaseRecord(
            number,
            Encoding.UTF8.GetString(value[(HeadBytes + lowerBytes)..]),
            Encoding.UTF8.GetString(value.Slice(HeadBytes, lowerBytes)),
            Encoding.ASCII.GetString(value.Slice(HistoryOffset, Commands.HistoryId.Length)),
            BinaryPrimitives.ReadInt64LittleEndian(value[1..])
        );
    }
}
