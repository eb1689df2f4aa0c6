using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>Connects to other members: TCP, TLS with certificates on both sides, exchange of hellos.</summary>
/// <param name="self">This node's hello.</param>
/// <param name="trust">Returns this node's current certificates.</param>
/// <param name="gate">Decides whether the other end may connect.</param>
/// <param name="learnAddressOf">Records that a member answered at an address; returns whether the member is one of the
/// peers.</param>
/// <param name="nameOf">Returns a member's name; null when it is not known.</param>
/// <param name="time">The clock.</param>
/// <param name="memory">The share that counts the buffers; null for none.</param>
internal sealed class PeerDialer(
    PeerHello self,
    Func<PeerTrust> trust,
    PeerGate gate,
    Func<NodeId, string, bool> learnAddressOf,
    Func<NodeId, string?> nameOf,
    TimeProvider time,
    MemoryShare? memory
)
{
    /// <summary>The time limit for one address, up to the exchange of hellos.</summary>
    private static readonly TimeSpan DialTimeout = TimeSpan.FromSeconds(3);

    /// <summary>Connects to a member.</summary>
    /// <param name="node">The member that must answer.</param>
    /// <param name="address"><c>host:port</c>.</param>
    /// <param name="kind">The kind of the connection.</param>
    /// <param name="cancellationToken">Cancels the attempt.</param>
    /// <returns>The connection, and its stream, to be disposed after the connection.</returns>
    public async Task<(PeerConnection Connection, IAsyncDisposable Stream)> DialAsync(
        NodeId node,
        string address,
        LinkKind kind,
        CancellationToken cancellationToken
    )
    {
        using var timeout = new CancellationTokenSource(DialTimeout, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var (stream, proven) = await PeerTls.ConnectAsync(address, trust(), PeerListener.Protocol, linked.Token);
        var reader = new PacketReader(stream, PeerProtocol.MaxControlPacketBytes, memory);
        try
        {
            // Check before sending a hello: another peer would replace its connection from this node with this one. A
            // member that is not among the peers has no such connection, and learns this node's address from the hello.
            var answering = Members.IdOf(proven);
            if (
                answering != node
                && !string.Equals(proven, self.NodeId, StringComparison.Ordinal)
                && learnAddressOf(answering, address)
            )
            {
                throw WrongNode(proven);
            }

            await PeerHandshake.WriteAsync(stream, new HelloBody(self with { Kind = kind }), linked.Token);
            var (remote, refused) = await ReadAnswerAsync(reader, node, proven, linked.Token);
            if (gate.AdmitOrRefuse(remote, proven) is { } refusal)
            {
                await PeerHandshake.WriteAsync(stream, new RefusalBody(refusal), linked.Token);
                throw new PeerProtocolException($"It was refused: {refusal.Sentence}");
            }

            if (remote.Member != node)
            {
                throw WrongNode(proven);
            }

            // A refusing end sends its hello only to identify itself, so the kind in it means nothing.
            if (refused is not null)
            {
                throw new PeerRefusedException(refused);
            }

            if (remote.Kind != kind)
            {
                throw new PeerProtocolException("It answered for a connection of another kind.");
            }

            return (new PeerConnection(stream, reader, remote, pings: true, time, memory), stream);
        }
        catch
        {
            reader.Dispose();
            await stream.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// Reads the answer to a hello. If a member has moved, its old address may belong to another member or to this
    /// node, so a refusal from there does not count as the wanted member's refusal. A permanent refusal counts from any
    /// member.
    /// </summary>
    private async Task<(PeerHello Hello, PeerRefusal? Refusal)> ReadAnswerAsync(
        PacketReader reader,
        NodeId node,
        string proven,
        CancellationToken cancellationToken
    )
    {
        try
        {
            return await PeerHandshake.ReadAnswerAsync(reader, cancellationToken);
        }
        catch (PeerRefusedException own) when (string.Equals(proven, self.NodeId, StringComparison.Ordinal))
        {
            throw new PeerProtocolException(own.Message);
        }
        catch (PeerRefusedException other)
            when (Members.IdOf(proven) != node && other.Refusal.Kind != PeerRefusalKind.ForGood)
        {
            throw WrongNode(proven, $" {other.Message}");
        }
    }

    private PeerProtocolException WrongNode(string proven, string? detail = null) =>
        new($"Node {nameOf(Members.IdOf(proven)) ?? proven} answers there instead of the expected one.{detail}");
}
