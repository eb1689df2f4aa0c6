using System.Collections.Concurrent;
using System.Net;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Identity;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Membership;

/// <summary>The start of a member from its data directory, and the notes that keep it from starting.</summary>
public sealed class ClusterMemberTests : IDisposable
{
    private const string Data = "/data";

    private readonly SimulatedDisk _disk = new(Data);
    private readonly SimulatedTimeProvider _time = new(TestAuthority.Now);
    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly ConcurrentQueue<string> _log = [];

    public ClusterMemberTests()
    {
        using var identity = TestAuthority.CreateIdentity(_authority, tag: "C");
        IdentityDirectory.Create(_disk, Data, identity);
    }

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task A_member_opens_its_data_under_its_identity()
    {
        await using var member = Load();
        var configured = member.Configure(new NodeOptions { DataDirectory = Data });
        Assert.Equal(
            ("C", new NodeIds(TestAuthority.NodeId, TestAuthority.ClusterId), true),
            (configured.NodeTag, configured.NewIds, configured.HasPeers)
        );
    }

    [Fact]
    public async Task A_member_made_a_mirror_after_its_identity_was_read_opens_as_a_mirror()
    {
        // A join releases the data directory between its steps, so the identity can change after it was read.
        await using var member = Load();
        JoinClient.ChooseMirror(_disk, Data);
        using var node = Open(member);
        Assert.True(member.Identity.IsMirror);
        await member.DisposeAsync();
    }

    [Fact]
    public async Task A_member_that_found_a_rule_broken_says_what_to_do_at_once_and_at_each_start()
    {
        string halted = await BreakRuleAsync();
        Assert.StartsWith(
            "A rule of consensus was found broken, so this node stopped taking part: ",
            halted,
            StringComparison.Ordinal
        );
        Assert.Contains("a term has one leader", halted, StringComparison.Ordinal);
        Assert.DoesNotContain("is safe on the other members", halted, StringComparison.Ordinal);
        Assert.Contains(
            "If all members say that they stopped, delete /data/cluster/halted on each, and start them again.",
            halted,
            StringComparison.Ordinal
        );
        Assert.Contains("`rookery cluster node replace pi-1`", halted, StringComparison.Ordinal);
        Assert.EndsWith(
            "want to use its data all the same, delete /data/cluster/halted and start the node again.",
            halted,
            StringComparison.Ordinal
        );

        for (int start = 0; start < 2; start++)
        {
            Assert.Equal(halted, await DiagnoseStartAsync());
        }

        _disk.Delete("/data/cluster/halted");
        Assert.Null(await DiagnoseStartAsync());
    }

    [Theory]
    [InlineData(RetirementCause.Excluded)]
    [InlineData(RetirementCause.Halted)]
    public async Task A_retired_member_stays_in_diagnosis_mode_and_counts_no_start(RetirementCause cause)
    {
        Assert.Null(await DiagnoseStartAsync());
        IdentityDirectory.Retire(_disk, Data, new Retirement(cause, "There are two copies."));
        long starts = await ReadNextStartAsync();

        await using var member = Load();
        using var node = Open(member);
        await member.StartAsync(CancellationToken.None);

        Assert.Contains("There are two copies. ", node.Diagnosis, StringComparison.Ordinal);
        Assert.Equal(new Rejection(RejectionKind.Diagnosis, node.Diagnosis!), node.Consensus.Refusal);
        Assert.False(await node.Consensus.ReadBarrierAsync());
        Assert.Null(member.Consensus);
        await member.TransferLeadershipAsync();
        await member.DisposeAsync();
        node.StopCleanly();
        Assert.Equal(starts, await ReadNextStartAsync());
    }

    [Fact]
    public async Task The_advice_after_a_broken_rule_names_no_other_members_in_a_cluster_of_one()
    {
        using var identity = IdentityDirectory.TryLoad(_disk, Data)!;
        IReadOnlyList<KnownPeer> noPeers = [];
        IdentityDirectory.Update(_disk, Data, identity.With(noPeers));
        IdentityDirectory.Retire(_disk, Data, new Retirement(RetirementCause.Halted, "Terms fell."));

        string? diagnosis = await DiagnoseStartAsync();
        Assert.StartsWith(
            "Terms fell. This node does not take part again by itself. No other member has its data: ",
            diagnosis,
            StringComparison.Ordinal
        );
        Assert.DoesNotContain("node replace", diagnosis, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_member_with_a_damaged_halt_note_opens_in_diagnosis_mode()
    {
        IdentityDirectory.Retire(_disk, Data, new Retirement(RetirementCause.Halted, "Terms fell."));
        _disk.Rot("/data/cluster/halted", offset: 3, mask: 1);
        Assert.StartsWith("/data/cluster/halted is damaged", await DiagnoseStartAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_failed_write_of_the_halt_note_hides_neither_the_halt_nor_its_reason()
    {
        _disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Write,
                PathContains = "halted",
                Sticky = true,
            }
        );
        Assert.Contains("a term has one leader", await BreakRuleAsync(), StringComparison.Ordinal);
        Assert.Contains(
            _log,
            static sentence =>
                sentence.StartsWith(
                    "This node no longer takes part, but its retirement note could not be written",
                    StringComparison.Ordinal
                )
        );
    }

    /// <summary>Breaks a rule of consensus: two members send heartbeats as leader of one term.</summary>
    /// <returns>Why the node stopped taking part.</returns>
    private async Task<string> BreakRuleAsync()
    {
        await using var member = Load();
        using var store = NodeStore.Open(
            OptionsOf(member),
            _disk,
            new MemoryBudget(16 << 20),
            new SilentRecorder(),
            _time
        );
        using var consensus = (RaftConsensus)member.OpenConsensus(store);
        foreach (long leader in new long[] { 7, 8 })
        {
            consensus.Received(
                new Message
                {
                    Kind = MessageKind.Heartbeat,
                    From = new NodeId(leader),
                    To = consensus.Self,
                    Term = 5,
                    StartNumber = 1,
                    ElectionTimeoutMicroseconds = 1_000_000,
                },
                []
            );
        }

        await member.DisposeAsync();
        return consensus.Refusal!.Message;
    }

    /// <summary>Starts and stops the member.</summary>
    /// <returns>Why it was in diagnosis mode; null if it was not.</returns>
    private async Task<string?> DiagnoseStartAsync()
    {
        await using var member = Load();
        using var node = Open(member);
        await member.DisposeAsync();
        return node.Diagnosis;
    }

    private static NodeOptions OptionsOf(ClusterMember member) =>
        member.Configure(
            new NodeOptions
            {
                DataDirectory = Data,
                SegmentBytes = 64 << 10,
                MemtableBytes = 48 << 10,
                Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            }
        );

    private Node Open(ClusterMember member) =>
        Node.Open(
            OptionsOf(member),
            _disk,
            new MemoryBudget(16 << 20),
            new SilentRecorder(),
            _time,
            member.OpenConsensus
        );

    /// <summary>Returns the number that the next start of the store will have.</summary>
    private async Task<long> ReadNextStartAsync()
    {
        await using var member = Load();
        using var store = NodeStore.Open(
            OptionsOf(member),
            _disk,
            new MemoryBudget(16 << 20),
            new SilentRecorder(),
            _time
        );
        return LogStart.NextStartNumber(store.Journal);
    }

    private ClusterMember Load() =>
        ClusterMember.TryLoad(
            _disk,
            new ClusterMemberOptions
            {
                DataDirectory = Data,
                Listen = new IPEndPoint(IPAddress.Loopback, 0),
                Addresses = static () => [],
                ClientUrls = static () => [],
                PublicUrl = "http://pi-1",
                IsClockSynchronised = static () => true,
                Log = _log.Enqueue,
                Note = _log.Enqueue,
            },
            _time
        )!;
}
