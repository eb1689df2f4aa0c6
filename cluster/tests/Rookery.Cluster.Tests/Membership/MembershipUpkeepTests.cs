using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Commands;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Membership;

public sealed class MembershipUpkeepTests
{
    private readonly List<string> _log = [];

    [Fact]
    public void A_standby_gets_no_vote_for_a_third_member_that_has_not_caught_up()
    {
        using var cluster = Begin();
        cluster.B.Open();
        cluster.Change(MemberChange.Learner, cluster.B);
        cluster.Change(MemberChange.Learner, cluster.C);
        Assert.Null(cluster.Do(cluster.A, CommandEncoder.CreateDatabase("db", SteppedCluster.HistoryId)).Rejection);
        var keeper = CreateUpkeep(cluster);
        cluster.RunUntil(
            () => cluster.A.Consensus!.Report.ReadPeers().Any(peer => peer.Node == cluster.B.Id && peer.IsCaughtUp),
            "the standby has caught up"
        );
        for (int round = 0; round < 10; round++)
        {
            keeper.DoRound();
            cluster.RunFor(milliseconds: 100);
        }

        // The third was never started, and the standby is removed: the first member's acknowledgements need no other.
        Assert.Equal(1, Voters(cluster));
        cluster.B.Kill();
        cluster.Put(cluster.A, "still");

        cluster.B.Open();
        cluster.C.Open();
        cluster.RunUntil(
            () =>
            {
                keeper.DoRound();
                return Voters(cluster) == 3;
            },
            "all three vote"
        );
        Assert.Equal(2, _log.Count);
    }

    [Fact]
    public void An_incomplete_admission_is_completed_by_the_leader()
    {
        using var cluster = Begin();
        WriteRecord(cluster, 'b', new Guid("6f9619ff-8b86-d011-b42d-00c04fc964ff"));
        WriteRecord(cluster, 'c', storeId: null);
        var keeper = CreateUpkeep(cluster);
        for (int round = 0; round < MembershipUpkeep.RoundsUntilCompleted; round++)
        {
            keeper.DoRound();
        }

        Assert.False(cluster.A.Consensus!.ReadState().Configuration.IsMember(cluster.C.Id));
        keeper.DoRound();
        Assert.True(cluster.A.Consensus.ReadState().Configuration.IsLearner(cluster.C.Id));
        Assert.False(cluster.A.Consensus.ReadState().Configuration.IsMember(cluster.B.Id));
        Assert.StartsWith(
            "Member pi-c was admitted but not made a learner",
            Assert.Single(_log),
            StringComparison.Ordinal
        );
    }

    private MembershipUpkeep CreateUpkeep(SteppedCluster cluster)
    {
        var consensus = cluster.A.Consensus!;
        var store = cluster.A.Store!;
        var records = new ClusterRecordStore(
            consensus,
            store.ClusterRecords,
            node => consensus.ChangeMember(MemberChange.Learner, node)
        );
        return new MembershipUpkeep(consensus, records.AddLearner, _log.Add);
    }

    /// <summary>Makes a cluster of one running member; two more are not started and not members yet.</summary>
    private static SteppedCluster Begin()
    {
        var cluster = new SteppedCluster(seed: 1);
        for (int i = 0; i < 3; i++)
        {
            cluster.Members.Add(new SteppedMember(cluster, i, mayBegin: i == 0));
        }

        cluster.A.Open();
        cluster.AwaitLeader();
        return cluster;
    }

    private static int Voters(SteppedCluster cluster) => cluster.A.Consensus!.ReadState().Configuration.Voters.Length;

    private static void WriteRecord(SteppedCluster cluster, char letter, Guid? storeId)
    {
        var record = new MemberRecord
        {
            Tag = char.ToUpperInvariant(letter).ToString(),
            Name = $"pi-{letter}",
            Addresses = [],
            PublicKey = [],
            StoreId = storeId,
        };
        using var writer = new ClusterRecordWriter();
        writer.Set(MemberRecord.KeyOf(new string(letter, 22)), record.ToJson());
        Assert.Null(cluster.Do(cluster.A, writer.Complete()).Rejection);
    }
}
