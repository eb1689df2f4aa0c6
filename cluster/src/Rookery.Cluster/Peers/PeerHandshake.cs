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
    /// <exception cref="EndOfStreamException">Nothing came.</exception>
    /// <exception cref="PeerProtocolException">Something else came.</exception>
    public static async Task<PeerHello> ReadHelloAsync(PacketReader reader, CancellationToken cancellationToken) =>
        HelloIn(await ReadAsync(reader, cancellationToken));

    /// <summary>
    /// Waits for what the other end answers to a hello: its own, perhaps with a refusal of a member that it does not
    /// know, so that this end can judge who says that.
    /// </summary>
    /// <exception cref="PeerRefusedException">The other end refuses this one, and does not say who it is.</exception>
    /// <exception cref="EndOfStreamException">Nothing came.</exception>
    /// <exception cref="PeerProtocolException">Something else came.</exception>
    public static async Task<(PeerHello Hello, PeerRefusal? Refusal)> ReadAnswerAsync(
        PacketReader reader,
        CancellationToken cancellationToken
    )
    {
        var answer = await ReadAsync(reader, cancellationToken);
        if (RefusalIn(answer) is not { } refusal)
        {
            return (HelloIn(answer), null);
        }

        var speaker = refusal.Kind == PeerRefusalKind.NoMember ? await ReadAsync(reader, cancellationToken) : null;
        return speaker is null ? throw new PeerRefusedException(refusal) : (HelloIn(speaker), refusal);
    }

    /// <summary>Waits for what the other end thinks of a hello that it need not answer.</summary>
    /// <returns>Null when it closes the connection without a refusal.</returns>
    public static async Task<PeerRefusal?> ReadRefusalAsync(PacketReader reader, CancellationToken cancellationToken) =>
        RefusalIn(await ReadAsync(reader, cancellationToken));

    private static PeerHello HelloIn((PacketKind Kind, ReadOnlyMemory<byte> Body)? packet) =>
        packet switch
        {
            null => throw new EndOfStreamException("It was closed before a hello."),
            (PacketKind.Hello, var body) => PeerHello.Read(body.Span),
            _ => throw new PeerProtocolException("It did not begin with a hello."),
        };

    private static PeerRefusal? RefusalIn((PacketKind Kind, ReadOnlyMemory<byte> Body)? packet) =>
        packet is var (kind, body) ? RefusalBody.TryRead(kind, body.Span) : null;

    /// <summary>The next packet, until the next is read; null at the end of the stream.</summary>
    private static async Task<(PacketKind Kind, ReadOnlyMemory<byte> Body)?> ReadAsync(
        PacketReader reader,
        CancellationToken cancellationToken
    )
    {
        PacketKind kind;
        ReadOnlyMemory<byte> body;
        while (!reader.TryRead(out kind, out body))
        {
            if (!await reader.FillAsync(cancellationToken))
            {
                return null;
            }
        }

        return (kind, body);
    }
}
