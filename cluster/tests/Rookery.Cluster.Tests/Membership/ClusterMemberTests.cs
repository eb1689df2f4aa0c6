using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

public sealed class ClusterMemberTests
{
    [Fact]
    public async Task A_member_opens_its_data_as_who_it_is()
    {
        var disk = new SimulatedDisk("/data");
        using var authority = TestAuthority.Create();
        using (var identity = TestAuthority.CreateIdentity(authority, tag: "C"))
        {
            IdentityDirectory.Create(disk, "/data", identity);
        }

        var options = new ClusterMemberOptions { DataDirectory = "/data", Listen = new IPEndPoint(IPAddress.Loopback, 0), Addresses = static () => [], ClientUrls = static () => [], PublicUrl = "http://pi-1", IsClockSynchronised = static () => true, Log = static _ => { } };
        await using var member = ClusterMember.TryLoad(disk, options, new SimulatedTimeProvider(TestAuthority.Now))!;
        var configured = member.Configure(new NodeOptions { DataDirectory = "/data" });
        Assert.Equal(("C", new NodeIds(TestAuthority.NodeId, TestAuthority.ClusterId), true), (configured.NodeTag, configured.NewIds, configured.HasPeers));
    }
}
