using System.Buffers.Binary;

namespace Rookery.Cluster.Peers;

/// <summary>Exchanges the first packets of a connection.</summary>
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

    /// <summary>Reads the other end's hello.</summary>
    /// <exception cref="EndOfStreamException">The stream ended.</exception>
    /// <exception cref="PeerProtocolException">The packet is not a hello.</exception>
    public static async Task<PeerHello> ReadHelloAsync(PacketReader reader, CancellationToken cancellationToken) =>
        ParseHello(await ReadAsync(reader, cancellationToken));

    /// <summary>
    /// Reads the answer to a hello: the other end's hello, or a refusal. The refusal of a node that is not a member is
    /// followed by a hello, so that this end can check the refusing node.
    /// </summary>
    /// <exception cref="PeerRefusedException">The other end refuses this one without a hello.</exception>
    /// <exception cref="EndOfStreamException">The stream ended.</exception>
    /// <exception cref="PeerProtocolException">The packet is neither a hello nor a refusal.</exception>
    public static async Task<(PeerHello Hello, PeerRefusal? Refusal)> ReadAnswerAsync(
        PacketReader reader,
        CancellationToken cancellationToken
    )
    {
        var answer = await ReadAsync(reader, cancellationToken);
        if (ParseRefusal(answer) is not { } refusal)
        {
            return (ParseHello(answer), null);
        }

        var hello = refusal.Kind == PeerRefusalKind.NoMember ? await ReadAsync(reader, cancellationToken) : null;
        return hello is null ? throw new PeerRefusedException(refusal) : (ParseHello(hello), refusal);
    }

    /// <summary>Reads the refusal that may answer a hello.</summary>
    /// <returns>The refusal; null when the other end closes the connection without one.</returns>
    public static async Task<PeerRefusal?> ReadRefusalAsync(PacketReader reader, CancellationToken cancellationToken) =>
        ParseRefusal(await ReadAsync(reader, cancellationToken));

    private static PeerHello ParseHello((PacketKind Kind, ReadOnlyMemory<byte> Body)? packet) =>
        packet switch
        {
            null => throw new EndOfStreamException("It was closed before a hello."),
            (PacketKind.Hello, var body) => PeerHello.Read(body.Span),
            _ => throw new PeerProtocolException("It did not begin with a hello."),
        };

    private static PeerRefusal? ParseRefusal((PacketKind Kind, ReadOnlyMemory<byte> Body)? packet) =>
        packet is { } read ? RefusalBody.TryRead(read.Kind, read.Body.Span) : null;

    /// <summary>Reads the next packet, valid until the next read; null at the end of the stream.</summary>
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
