using System.Buffers.Binary;
using System.Text;

namespace Rookery.Cluster.Peers;

/// <summary>Writes values into the body of a packet, whose exact length the caller has computed.</summary>
internal ref struct WireWriter(Span<byte> body)
{
    private readonly Span<byte> _body = body;

    /// <summary>The bytes written so far.</summary>
    public int Position { get; private set; }

    /// <summary>Returns the number of bytes that <see cref="PutText"/> writes for a text.</summary>
    public static int SizeOf(string? text) => sizeof(int) + (text is null ? 0 : Encoding.UTF8.GetByteCount(text));

    public void PutByte(byte value) => Reserve(1)[0] = value;

    public void PutUInt16(ushort value) => BinaryPrimitives.WriteUInt16LittleEndian(Reserve(sizeof(ushort)), value);

    public void PutInt32(int value) => BinaryPrimitives.WriteInt32LittleEndian(Reserve(sizeof(int)), value);

    public void PutInt64(long value) => BinaryPrimitives.WriteInt64LittleEndian(Reserve(sizeof(long)), value);

    public void PutUInt64(ulong value) => BinaryPrimitives.WriteUInt64LittleEndian(Reserve(sizeof(ulong)), value);

    public void PutGuid(Guid value) => value.TryWriteBytes(Reserve(16));

    /// <summary>Writes a text or null: <c>[u32 length + 1, or 0 for null][UTF-8]</c>.</summary>
    public void PutText(string? text)
    {
        int length = text is null ? 0 : Encoding.UTF8.GetByteCount(text);
        PutInt32(text is null ? 0 : length + 1);
        Encoding.UTF8.GetBytes(text, Reserve(length));
    }

    public void Put(scoped ReadOnlySpan<byte> bytes) => bytes.CopyTo(Reserve(bytes.Length));

    private Span<byte> Reserve(int count)
    {
        var reserved = _body.Slice(Position, count);
        Position += count;
        return reserved;
    }
}
