using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>Makes connections to other members: TCP, TLS with certificates on both sides, hello.</summary>
internal sealed class PeerDialer(
    PeerHello self,
    Func<PeerTrust> trust,
    PeerGate gate,
    Func<NodeId, string, bool> met,
    Func<NodeId, string?> nameOf,
    TimeProvider time,
    MemoryShare? memory
)
{
    /// <summary>How long one address may take until both ends have said hello.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <summary>Connects to a member.</summary>
    /// <param name="node">Who must be there.</param>
    /// <param name="address"><c>host:port</c>.</param>
    /// <param name="kind">What for.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The connection, and what to dispose behind it.</returns>
    public async Task<(PeerConnection Connection, IAsyncDisposable Stream)> DialAsync(
        NodeId node,
        string address,
        LinkKind kind,
        CancellationToken cancellationToken
    )
    {
        using var patience = new CancellationTokenSource(Patience, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        var (stream, proven) = await PeerTls.ConnectAsync(address, trust(), PeerListener.Protocol, either.Token);
        var reader = new PacketReader(stream, PeerProtocol.MaxControlPacketBytes, memory);
        try
        {
            // Before a word is said: a peer would take this call for one to itself, and end the connection that it has
            // from this node. Whom this node does not call has none, and, if it calls this node, learns from the call
            // where that is.
            var answering = Members.IdOf(proven);
            if (
                answering != node
                && !string.Equals(proven, self.NodeId, StringComparison.Ordinal)
                && met(answering, address)
            )
            {
                throw NotWhoWasLookedFor(proven);
            }

            await PeerHandshake.WriteAsync(stream, new HelloBody(self with { Kind = kind }), either.Token);
            var (remote, refused) = await ReadAnswerAsync(reader, node, proven, either.Token);
            if (gate.Refuse(remote, proven) is { } refusal)
            {
                await PeerHandshake.WriteAsync(stream, new RefusalBody(refusal), either.Token);
                throw new PeerProtocolException($"It was refused: {refusal.Sentence}");
            }

            if (remote.Member != node)
            {
                throw NotWhoWasLookedFor(proven);
            }

            // Who refuses says only who it is: not for which kind of connection.
            if (refused is not null)
            {
                throw new PeerRefusedException(refused);
            }

            if (remote.Kind != kind)
            {
                throw new PeerProtocolException("It answered for a connection of another kind.");
            }

            return (new PeerConnection(stream, reader, remote, asks: true, time, memory), stream);
        }
        catch
        {
            reader.Dispose();
            await stream.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// A member that moved may have had an address that is another's now, or this node's own: what is said there is not
    /// that member's refusal. That this node is out for good, whoever says it may know.
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
            throw NotWhoWasLookedFor(proven, $" {other.Message}");
        }
    }

    private PeerProtocolException NotWhoWasLookedFor(string proven, string? said = null) =>
        new($"Node {nameOf(Members.IdOf(proven)) ?? proven} answers there, and not the one that was looked for.{said}");
}
