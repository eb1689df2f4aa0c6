using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Takes packets from a stream. Memory grows with what has arrived, never with what was announced, and up to the
/// longest packet that may come. For one reader at a time.
/// </summary>
internal sealed class PacketReader(Stream stream, int mostPacketBytes, MemoryShare? memory = null) : IDisposable
{
    /// <summary>Memory between packets: one TLS record.</summary>
    private const int IdleBytes = 16 << 10;

    private PooledMemory _buffer = PooledMemory.Rent(IdleBytes);
    private CountedBytes _counted = new(memory);
    private int _start;
    private int _end;
    private bool _sawLongPacket;

    /// <summary>The longest packet that may come, in bytes.</summary>
    public int MostPacketBytes { get; set; } = mostPacketBytes;

    /// <summary>Bytes it holds now.</summary>
    public int HeldBytes => _buffer.Length;

    /// <summary>The next packet, if it is there.</summary>
    /// <param name="kind">What it is.</param>
    /// <param name="body">Its body, until the next <see cref="FillAsync"/>.</param>
    /// <exception cref="PeerProtocolException">It is longer than it may be.</exception>
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
    // Pooled: otherwise each wait for the network is an allocation.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync(CancellationToken cancellationToken)
    {
        MakeRoom();
        _counted.Set(_buffer.Length);
        int read = await stream.ReadAsync(_buffer.Memory[_end..], cancellationToken);
        _end += read;
        return read > 0;
    }

    /// <summary>Gives the memory back.</summary>
    public void Dispose()
    {
        _buffer.Return();
        _counted.Set(0);
    }

    /// <summary>Bytes of the packet that begins at <see cref="_start"/>; 0 when that is not known yet.</summary>
    private int NextPacketBytes()
    {
        if (_end - _start < PeerProtocol.PacketHeadBytes)
        {
            return 0;
        }

        uint length = BinaryPrimitives.ReadUInt32LittleEndian(_buffer.Span[_start..]);
        if (length == 0 || length > MostPacketBytes - sizeof(uint))
        {
            throw new PeerProtocolException(
                $"A packet of {length} bytes was announced, and {MostPacketBytes} may come."
            );
        }

        return sizeof(uint) + (int)length;
    }

    private void MakeRoom()
    {
        if (_start > 0)
        {
            _buffer.Span[_start.._end].CopyTo(_buffer.Span);
            (_start, _end) = (0, _end - _start);
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
