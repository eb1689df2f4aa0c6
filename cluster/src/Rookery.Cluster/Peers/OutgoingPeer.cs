using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>The two links to one member.</summary>
internal sealed class OutgoingPeer
{
    public OutgoingPeer(LinkContext context, PeerAddress address)
    {
        Route = new PeerRoute(address.Node, address.Addresses);
        Control = new OutgoingLink(context, Route, LinkKind.Control);
        Bulk = new OutgoingLink(context, Route, LinkKind.Bulk);
    }

    /// <summary>Where it may be.</summary>
    public PeerRoute Route { get; }

    /// <summary>For all but frames.</summary>
    public OutgoingLink Control { get; }

    /// <summary>For frames and forwarded commands.</summary>
    public OutgoingLink Bulk { get; }

    /// <summary>What it says to this node.</summary>
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

    /// <summary>The link that such messages take.</summary>
    public OutgoingLink For(MessageKind kind) =>
        kind is MessageKind.Append or MessageKind.SnapshotOffer ? Bulk : Control;

    /// <summary>Tries at once to reach it.</summary>
    public void Wake()
    {
        Control.Wake();
        Bulk.Wake();
    }

    /// <summary>Looks after both. Called every second.</summary>
    public void Watch()
    {
        Control.Watch();
        Bulk.Watch();
    }

    /// <summary>Ends both.</summary>
    public Task StopAsync() => Task.WhenAll(Control.DisposeAsync().AsTask(), Bulk.DisposeAsync().AsTask());
}
