using System.Buffers.Binary;

namespace Rookery.Cluster.Peers;

/// <summary>The first packets of a connection.</summary>
internal static class PeerHandshake
{
    /// <summary>Writes one packet.</summary>
    public static async Task WriteAsync<TBody>(Stream stream, TBody body, CancellationToken cancellationToken)
        where TBody : struct, IPacketBody
    {
        byte[] packet = new byte[PeerProtocol.PacketHeadBytes + body.SizeInBytes];
        BinaryPrimitives.WriteInt32LittleEndian(packet, packet.Length - sizeof(uint));
        packet[sizeof(uint)] = (byte)body.Kind;
        body.Write(packet.AsSpan(PeerProtocol.PacketHeadBytes));
        await stream.WriteAsync(packet, cancellationToken);
    }

    /// <summary>Waits for the other end's hello.</summary>
    /// <exception cref="PeerRefusedException">The other end refuses this one.</exception>
    /// <exception cref="PeerProtocolException">Something else came, or nothing.</exception>
    public static async Task<PeerHello> ReadHelloAsync(PacketReader reader, CancellationToken cancellationToken)
    {
        PacketKind kind;
        ReadOnlyMemory<byte> body;
        while (!reader.TryRead(out kind, out body))
        {
            if (!await reader.FillAsync(cancellationToken))
            {
                throw new PeerProtocolException("It was closed before a hello.");
            }
        }

        return kind switch
        {
            PacketKind.Hello => PeerHello.Read(body.Span),
            _ => throw (RefusalBody.TryRead(kind, body.Span) is { } refusal ? new PeerRefusedException(refusal) : new PeerProtocolException("It did not begin with a hello.")),
        };
    }
}
