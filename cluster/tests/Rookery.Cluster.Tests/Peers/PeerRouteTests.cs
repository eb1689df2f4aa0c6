using Rookery.Cluster.Peers;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

public sealed class PeerRouteTests
{
    private const string One = "192.0.2.1:9443";
    private const string Two = "192.0.2.2:9443";
    private const string Three = "192.0.2.3:9443";

    /// <summary>
    /// Who has several, and answers at each where another is looked for, would be called again and again without a
    /// rest.
    /// </summary>
    [Fact]
    public void Where_a_member_was_looked_for_anyhow_it_is_no_news_that_it_answers()
    {
        var route = new PeerRoute(new NodeId(2), [One, Two]);
        Assert.False(route.RecordReached(Two));
        Assert.False(route.RecordReached(One));
        Assert.True(route.RecordReached(Three));
        Assert.Equal([Three, One, Two], route.Candidates());
    }

    [Fact]
    public void A_call_that_does_not_say_where_its_member_listens_takes_nothing_back()
    {
        var route = new PeerRoute(new NodeId(2), [One]);
        route.RecordAnnounced([One, Two], areAll: true);
        route.RecordAnnounced([Three], areAll: false);
        Assert.Equal([Three, One, Two], route.Candidates());
        route.RecordAnnounced([Three], areAll: true);
        Assert.Equal([Three, One], route.Candidates());
    }
}
