using System.Runtime.InteropServices;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>Handles the packets of a connection that another member dialled.</summary>
internal sealed class IncomingLink(
    LinkContext context,
    PeerConnection connection,
    NodeId self,
    Action<PeerConnection> onAnnouncement
) : IPacketHandler
{
    private readonly NodeId _from = connection.Remote.Member;
    private readonly List<JournalFrame> _frames = [];
    private readonly ForwardedProposals _forwarded = new(context, connection);

    public void Handle(PacketKind kind, ReadOnlyMemory<byte> body)
    {
        switch (kind)
        {
            case PacketKind.Message:
                var message = MessageCodec.Read(body, _from, self, _frames);
                context.Receiver.Received(message, CollectionsMarshal.AsSpan(_frames));
                _frames.Clear();
                break;
            case PacketKind.ForwardInTerm or PacketKind.Forward or PacketKind.ForwardForReceipt:
                _forwarded.Propose(kind, body.Span);
                break;
            case PacketKind.Addresses:
                connection.AnnouncedAddresses = AnnouncedAddresses.Read(body.Span, connection.From);
                onAnnouncement(connection);
                break;
            default:
                throw new PeerProtocolException("A packet arrived of a kind that is not sent on this connection.");
        }
    }
}
