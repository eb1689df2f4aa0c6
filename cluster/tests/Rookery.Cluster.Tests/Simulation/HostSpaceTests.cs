using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Full disks, on members as in the program.</summary>
public sealed class HostSpaceTests
{
    // Free bytes beyond the reserve.
    private const long Plenty = 1L << 30;
    private const long TooLittle = -(512 << 10);

    [Fact]
    public void One_full_disk_of_three_stops_no_writes()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        SetSpareBytes(cluster, a: Plenty, b: Plenty / 2, c: TooLittle);
        cluster.Put(cluster.A, "users/1");
        cluster.Put(cluster.C, "users/2");
        var capacity = cluster.A.Consensus!.ReadCluster().Capacity!;
        Assert.Equal(cluster.B.Id.ToString(), capacity.LimitedBy);
        Assert.True(capacity.SpareBytes is > 0 and <= Plenty / 2, $"{capacity.SpareBytes} bytes are spare");
        Assert.Null(capacity.Refusal);
    }

    [Fact]
    public void Two_full_disks_of_three_stop_growth_through_every_member_and_the_limiting_member_is_named()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1");
        SetSpareBytes(cluster, a: Plenty, b: TooLittle, c: TooLittle * 3 / 2);
        foreach (var through in cluster.Members)
        {
            var refused = cluster.Do(through, SteppedCluster.PutOf("users/2", value: 1)).Rejection!;
            Assert.Equal(RejectionKind.InsufficientSpace, refused.Kind);
            Assert.Contains($"member {cluster.B.Id} has", refused.Message, StringComparison.Ordinal);
        }

        // What does not grow the data, and records of the cluster, are stored.
        Assert.Null(cluster.Do(cluster.C, EncodeDelete("users/1")).Rejection);
        Assert.Null(cluster.Do(cluster.B, EncodeRecord("member/x")).Rejection);

        cluster.B.SetSpareBytes(Plenty);
        cluster.RunFor(milliseconds: 4000);
        cluster.Put(cluster.C, "users/2");
    }

    [Fact]
    public void While_one_of_three_is_off_the_other_two_need_room()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        SetSpareBytes(cluster, a: Plenty, b: TooLittle);
        var refused = cluster.Do(cluster.A, SteppedCluster.PutOf("users/1", value: 1)).Rejection!;
        Assert.Contains($"member {cluster.B.Id} has", refused.Message, StringComparison.Ordinal);

        cluster.C.Open();
        cluster.RunFor(milliseconds: 8000);
        cluster.Put(cluster.A, "users/1");
    }

    [Fact]
    public void A_full_leader_transfers_leadership_to_a_member_with_room()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        SetSpareBytes(cluster, a: TooLittle, b: Plenty / 2, c: Plenty);
        cluster.RunUntil(() => cluster.C.Consensus!.IsLeader, "C, which has the most room, leads");
        Assert.Contains(
            cluster.A.Troubles,
            static trouble => trouble.Contains("hands leadership over", StringComparison.Ordinal)
        );
        cluster.Put(cluster.A, "users/1");
    }

    /// <summary>
    /// A full leader transfers leadership to the member that last reported space. If that member has none left by then,
    /// no write may fail because of it.
    /// </summary>
    [Fact]
    public void A_full_member_that_just_became_leader_does_not_refuse_what_a_majority_has_room_for()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        SetSpareBytes(cluster, a: Plenty, b: TooLittle, c: Plenty);
        cluster.A.Consensus!.Transfer(cluster.B.Id);
        cluster.RunUntil(() => cluster.B.Consensus!.IsLeader, "B leads");
        cluster.Put(cluster.B, "users/1");
        cluster.RunUntil(() => cluster.Leader is { } leader && leader != cluster.B, "a member with room leads");
    }

    [Fact]
    public void A_full_leader_does_not_wait_for_a_lagging_member_however_much_room_that_member_has()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 100; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", padding: 4000);
        }

        // C's slow writes keep it lagging while it is reachable.
        cluster.C.LongestWriteMilliseconds = 3000;
        cluster.C.Open();
        cluster.RunUntil(
            () => cluster.A.Consensus!.Report.ReadPeers().Any(peer => peer.Node == cluster.C.Id && peer.IsReachable),
            "C is heard again"
        );
        cluster.C.SetSpareBytes(Plenty);
        cluster.B.SetSpareBytes(Plenty / 2);
        cluster.A.SetSpareBytes(TooLittle);
        cluster.RunUntil(() => !cluster.A.Consensus!.IsLeader, "another leads", seconds: 10);
        cluster.RunUntil(() => cluster.Leader is not null, "another leads", seconds: 10);
        Assert.Equal(cluster.B, cluster.Leader);
    }

    [Fact]
    public void Every_voter_needs_room_in_a_cluster_of_one_or_two()
    {
        using var twoMembers = SteppedCluster.Of(members: 2);
        SetSpareBytes(twoMembers, a: Plenty, b: TooLittle);
        Assert.Equal(
            RejectionKind.InsufficientSpace,
            twoMembers.Do(twoMembers.A, SteppedCluster.PutOf("users/1", value: 1)).Rejection?.Kind
        );

        using var oneMember = SteppedCluster.Of(members: 1);
        SetSpareBytes(oneMember, a: TooLittle);
        Assert.Equal(
            RejectionKind.InsufficientSpace,
            oneMember.Do(oneMember.A, SteppedCluster.PutOf("users/1", value: 1)).Rejection?.Kind
        );
    }

    /// <summary>
    /// Sets the free bytes beyond the reserve on the disks of members A, B and C; null leaves a disk as it is.
    /// </summary>
    private static void SetSpareBytes(SteppedCluster cluster, long? a = null, long? b = null, long? c = null)
    {
        long?[] spare = [a, b, c];
        for (int i = 0; i < cluster.Members.Count; i++)
        {
            if (spare[i] is { } bytes)
            {
                cluster.Members[i].SetSpareBytes(bytes);
            }
        }

        // Each member measures its space once a second, and reports it with the next heartbeat.
        cluster.RunFor(milliseconds: 4_000);
    }

    private static CommandBuffer EncodeDelete(string id) =>
        CommandEncoder.Delete(database: 1, Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, key: default);

    private static CommandBuffer EncodeRecord(string key)
    {
        using var writer = new ClusterRecordWriter();
        writer.Set(key, "{}"u8);
        return writer.Complete();
    }
}
