using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Reads packets from a stream. The buffer grows with the bytes that arrived, not with an announced length, up to the
/// longest permitted packet. Used by one thread at a time.
/// </summary>
internal sealed class PacketReader(Stream stream, int maxPacketBytes, MemoryShare? memory = null) : IDisposable
{
    /// <summary>The buffer between packets, in bytes: one TLS record.</summary>
    private const int IdleBytes = 16 << 10;

    private PooledMemory _buffer = PooledMemory.Rent(IdleBytes);
    private CountedBytes _counted = new(memory);
    private int _start;
    private int _end;

    // Whether a packet over IdleBytes was read since the buffer was last empty. If so, a large buffer is kept for the
    // next packet, because large packets often follow each other.
    private bool _sawLongPacket;

    /// <summary>The longest permitted packet, in bytes.</summary>
    public int MaxPacketBytes { get; set; } = maxPacketBytes;

    /// <summary>The size of the buffer, in bytes.</summary>
    public int HeldBytes => _buffer.Length;

    /// <summary>Returns the next packet if all its bytes have arrived.</summary>
    /// <param name="kind">The kind of the packet.</param>
    /// <param name="body">The body, valid until the next <see cref="FillAsync"/>.</param>
    /// <exception cref="PeerProtocolException">The packet is longer than permitted.</exception>
    public bool TryRead(out PacketKind kind, out ReadOnlyMemory<byte> body)
    {
        kind = default;
        body = default;
        int bytes = NextPacketBytes();
        if (bytes == 0 || _end - _start < bytes)
        {
            return false;
        }

        var packet = _buffer.Memory.Slice(_start, bytes);
        kind = (PacketKind)packet.Span[sizeof(uint)];
        body = packet[PeerProtocol.PacketHeadBytes..];
        _start += bytes;
        _sawLongPacket |= bytes > IdleBytes;
        return true;
    }

    /// <summary>Waits for more bytes.</summary>
    /// <returns>False at the end of the stream.</returns>
    // A pooled builder: otherwise each wait for the network allocates.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync(CancellationToken cancellationToken)
    {
        MakeRoom();
        _counted.Set(_buffer.Length);
        int read = await stream.ReadAsync(_buffer.Memory[_end..], cancellationToken);
        _end += read;
        return read > 0;
    }

    /// <summary>Returns the buffer to the pool.</summary>
    public void Dispose()
    {
        _buffer.Return();
        _counted.Set(0);
    }

    /// <summary>
    /// Returns the bytes of the packet that begins at <see cref="_start"/>; 0 when its length has not arrived.
    /// </summary>
    private int NextPacketBytes()
    {
        if (_end - _start < PeerProtocol.PacketHeadBytes)
        {
            return 0;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(_buffer.Span[_start..]);
        if (length == 0 || length > MaxPacketBytes - sizeof(uint))
        {
            throw new PeerProtocolException(
                $"A packet of {length} bytes was announced, and {MaxPacketBytes} may come."
            );
        }

        return sizeof(uint) + (int)length;
    }

    private void MakeRoom()
    {
        if (_start > 0)
        {
            _buffer.Span[_start.._end].CopyTo(_buffer.Span);
            _end -= _start;
            _start = 0;
        }

        if (_end == 0 && _buffer.Length > IdleBytes && !_sawLongPacket)
        {
            _buffer.Return();
            _buffer = PooledMemory.Rent(IdleBytes);
        }
        else if (_end == _buffer.Length)
        {
            _buffer.Grow(_end, Math.Min(2 * _end, NextPacketBytes()));
        }

        _sawLongPacket &= _end > 0;
    }
}
