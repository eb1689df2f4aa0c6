using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>The two outgoing links to one member.</summary>
internal sealed class OutgoingPeer
{
    public OutgoingPeer(LinkContext context, PeerAddress address)
    {
        Route = new PeerRoute(address.Node, address.Addresses);
        Control = new OutgoingLink(context, Route, LinkKind.Control);
        Bulk = new OutgoingLink(context, Route, LinkKind.Bulk);
    }

    /// <summary>The addresses at which to dial the member.</summary>
    public PeerRoute Route { get; }

    /// <summary>The link for all messages but appends and snapshot offers.</summary>
    public OutgoingLink Control { get; }

    /// <summary>The link for appends, snapshot offers and forwarded commands.</summary>
    public OutgoingLink Bulk { get; }

    /// <summary>The member's answer to the last attempts to connect.</summary>
    public PeerAnswer Answer
    {
        get
        {
            bool letsIn = Control.IsConnected || Bulk.IsConnected;
            return new PeerAnswer(Route.Node, letsIn, letsIn ? null : Control.Refusal ?? Bulk.Refusal);
        }
    }

    /// <inheritdoc cref="IPeerNetwork.AttemptsAt"/>
    public IReadOnlyList<FailedAttempt> Attempts => Control.Attempts;

    /// <summary>Returns the link that carries messages of a kind.</summary>
    public OutgoingLink For(MessageKind kind) =>
        kind is MessageKind.Append or MessageKind.SnapshotOffer ? Bulk : Control;

    /// <summary>Dials at once on links that are not connected.</summary>
    public void Wake()
    {
        Control.Wake();
        Bulk.Wake();
    }

    /// <summary>Checks both links. Called every second.</summary>
    public void CheckConnections()
    {
        Control.CheckConnection();
        Bulk.CheckConnection();
    }

    /// <summary>Closes both links.</summary>
    public Task StopAsync() => Task.WhenAll(Control.DisposeAsync().AsTask(), Bulk.DisposeAsync().AsTask());
}
