using System.Collections.Concurrent;
using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Identity;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Disk;
using Rookery.Documents;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

public sealed class ClusterMemberTests : IDisposable
{
    private const string Data = "/data";

    private readonly SimulatedDisk disk = new(Data);
    private readonly SimulatedTimeProvider time = new(TestAuthority.Now);
    private readonly ClusterAuthority authority = TestAuthority.Create();
    private readonly ConcurrentQueue<string> log = [];

    public ClusterMemberTests()
    {
        using var identity = TestAuthority.CreateIdentity(authority, tag: "C");
        IdentityDirectory.Create(disk, Data, identity);
    }

    public void Dispose() => authority.Dispose();

    [Fact]
    public async Task A_member_opens_its_data_as_who_it_is()
    {
        await using var member = Load();
        var configured = member.Configure(new NodeOptions { DataDirectory = Data });
        Assert.Equal(("C", new NodeIds(TestAuthority.NodeId, TestAuthority.ClusterId), true), (configured.NodeTag, configured.NewIds, configured.HasPeers));
    }

    [Fact]
    public async Task A_member_that_found_a_rule_broken_does_not_go_on_at_its_next_start()
    {
        Assert.Contains("a term has one leader", await BreakARuleAsync(), StringComparison.Ordinal);

        var refused = Assert.Throws<IdentityException>(Load);
        Assert.StartsWith("A rule of consensus was found broken, so this node stopped taking part: ", refused.Message, StringComparison.Ordinal);
        Assert.Contains("a term has one leader", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("is safe on the other members", refused.Message, StringComparison.Ordinal);
        Assert.Contains("If all members say that they stopped, delete /data/cluster/halted on each, and start them again.", refused.Message, StringComparison.Ordinal);
        Assert.Contains("`rookery cluster node replace pi-1`", refused.Message, StringComparison.Ordinal);
        Assert.EndsWith("are to be used all the same, delete /data/cluster/halted.", refused.Message, StringComparison.Ordinal);

        disk.Delete("/data/cluster/halted");
        await using var again = Load();
    }

    [Fact]
    public void A_cluster_of_one_that_found_a_rule_broken_is_not_sent_to_members_that_it_does_not_have()
    {
        using var identity = IdentityDirectory.TryLoad(disk, Data)!;
        IReadOnlyList<KnownPeer> nobody = [];
        IdentityDirectory.Update(disk, Data, identity.With(nobody));
        IdentityDirectory.NoteHalt(disk, Data, "Terms fell.");

        var refused = Assert.Throws<IdentityException>(Load);
        Assert.StartsWith("Terms fell. It is not started again by itself. It has no other member that could give its data back: ", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("node replace", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task That_the_halt_cannot_be_noted_hides_neither_the_halt_nor_what_it_means()
    {
        disk.Inject(new DiskFault(1, Errno.NoSpace) { Calls = DiskCalls.Write, PathContains = "halted", Sticky = true });
        Assert.Contains("a term has one leader", await BreakARuleAsync(), StringComparison.Ordinal);
        Assert.Contains(log, static sentence => sentence.StartsWith("That this node stopped taking part could not be noted, so a restart would go on:", StringComparison.Ordinal));
    }

    /// <summary>Two members lead in one term.</summary>
    /// <returns>Why the node takes no part.</returns>
    private async Task<string> BreakARuleAsync()
    {
        await using var member = Load();
        using var store = NodeStore.Open(
            member.Configure(new NodeOptions { DataDirectory = Data, SegmentBytes = 64 << 10, MemtableBytes = 48 << 10, Reserve = new ReserveRule(0, 0) }), disk, new MemoryBudget(16 << 20), new SilentRecorder(), time);
        using var consensus = (RaftConsensus)member.OpenConsensus(store);
        foreach (long leader in new long[] { 7, 8 })
        {
            consensus.Received(new Message { Kind = MessageKind.Heartbeat, From = new NodeId(leader), To = consensus.Self, Term = 5, Incarnation = 1, ElectionTimeoutMicroseconds = 1_000_000 }, []);
        }

        await member.DisposeAsync();
        return consensus.Refusal!.Message;
    }

    private ClusterMember Load() => ClusterMember.TryLoad(
        disk,
        new ClusterMemberOptions
        {
            DataDirectory = Data,
            Listen = new IPEndPoint(IPAddress.Loopback, 0),
            Addresses = static () => [],
            ClientUrls = static () => [],
            PublicUrl = "http://pi-1",
            IsClockSynchronised = static () => true,
            Log = log.Enqueue,
        },
        time)!;
}
