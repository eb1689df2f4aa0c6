using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Apply;

namespace Rookery.Documents;

/// <summary>What the node keeps about a database, apart from its contents. Stored as <c>[u8 format][i64 created ticks][history id, 22 bytes][name]</c>.</summary>
internal sealed record DatabaseRecord(uint Number, string Name, string HistoryId, long CreatedTicks)
{
    private const byte Format = 1;
    private const int HeadBytes = 1 + sizeof(long) + Commands.HistoryId.Length;

    public byte[] Encode()
    {
        byte[] value = new byte[HeadBytes + Encoding.UTF8.GetByteCount(Name)];
        value[0] = Format;
        BinaryPrimitives.WriteInt64LittleEndian(value.AsSpan(1), CreatedTicks);
        Encoding.ASCII.GetBytes(HistoryId, value.AsSpan(1 + sizeof(long)));
        Encoding.UTF8.GetBytes(Name, value.AsSpan(HeadBytes));
        return value;
    }

    public static DatabaseRecord Decode(uint number, ReadOnlySpan<byte> value)
    {
        FormatGuard.Expect(value.Length > HeadBytes && value[0] == Format, "database");
        return new DatabaseRecord(
            number,
            Encoding.UTF8.GetString(value[HeadBytes..]),
            Encoding.ASCII.GetString(value.Slice(1 + sizeof(long), Commands.HistoryId.Length)),
            BinaryPrimitives.ReadInt64LittleEndian(value[1..]));
    }
}
