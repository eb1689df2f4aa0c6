using System.Buffers.Binary;
using System.Text;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Reads values from the body of a packet, in the order in which <see cref="WireWriter"/> wrote them. Throws a
/// <see cref="PeerProtocolException"/> if the body ends within a value.
/// </summary>
internal ref struct WireReader(ReadOnlySpan<byte> body)
{
    private readonly ReadOnlySpan<byte> _body = body;

    /// <summary>The bytes read so far.</summary>
    public int Position { get; private set; }

    /// <summary>The bytes left.</summary>
    public readonly int Remaining => _body.Length - Position;

    public byte TakeByte() => Take(1)[0];

    public ushort TakeUInt16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(sizeof(ushort)));

    /// <summary>Reads a non-negative number.</summary>
    public int TakeInt32()
    {
        int value = BinaryPrimitives.ReadInt32LittleEndian(Take(sizeof(int)));
        return value >= 0 ? value : throw new PeerProtocolException("A number that must not be negative is negative.");
    }

    /// <summary>Reads a non-negative number.</summary>
    public long TakeInt64()
    {
        long value = BinaryPrimitives.ReadInt64LittleEndian(Take(sizeof(long)));
        return value >= 0 ? value : throw new PeerProtocolException("A number that must not be negative is negative.");
    }

    /// <summary>Reads a number of any sign.</summary>
    public long TakeSignedInt64() => BinaryPrimitives.ReadInt64LittleEndian(Take(sizeof(long)));

    public ulong TakeUInt64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(sizeof(ulong)));

    public Guid TakeGuid() => new(Take(16));

    /// <summary>Reads a text or null, as written by <see cref="WireWriter.PutText"/>.</summary>
    public string? TakeText()
    {
        int length = TakeInt32() - 1;
        return length < 0 ? null : Encoding.UTF8.GetString(Take(length));
    }

    /// <summary>Reads this many bytes, without copying.</summary>
    /// <exception cref="PeerProtocolException">Fewer bytes are left.</exception>
    public ReadOnlySpan<byte> Take(int count)
    {
        if (count > Remaining)
        {
            throw new PeerProtocolException("A packet ends within a value.");
        }

        var taken = _body.Slice(Position, count);
        Position += count;
        return taken;
    }

    /// <summary>Throws when bytes are left.</summary>
    public readonly void ExpectEnd()
    {
        if (Remaining > 0)
        {
            throw new PeerProtocolException("A packet has bytes after its last value.");
        }
    }
}
