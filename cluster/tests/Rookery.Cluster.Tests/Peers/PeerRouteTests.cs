using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>The addresses at which a member is looked for, in their order.</summary>
public sealed class PeerRouteTests
{
    private const string One = "192.0.2.1:9443";
    private const string Two = "192.0.2.2:9443";
    private const string Three = "192.0.2.3:9443";

    /// <summary>
    /// A member with several addresses that answers at each while another is wanted would otherwise be dialled again
    /// and again without a delay.
    /// </summary>
    [Fact]
    public void Only_an_answer_at_an_unknown_address_counts_as_a_change()
    {
        var route = new PeerRoute(new NodeId(2), [One, Two]);
        Assert.False(route.RecordReached(Two));
        Assert.False(route.RecordReached(One));
        Assert.True(route.RecordReached(Three));
        Assert.Equal([Three, One, Two], route.Candidates());
    }

    [Fact]
    public void A_call_without_addresses_keeps_the_announced_ones()
    {
        var route = new PeerRoute(new NodeId(2), [One]);
        route.RecordAnnounced([One, Two], areAll: true);
        route.RecordAnnounced([Three], areAll: false);
        Assert.Equal([Three, One, Two], route.Candidates());
        route.RecordAnnounced([Three], areAll: true);
        Assert.Equal([Three, One], route.Candidates());
    }
}
