using System.Net;
using System.Security.Cryptography;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>A node that became a cluster of one at its first boot joins another cluster.</summary>
public sealed class UnclaimedNodeTests
{
    private const string Directory = "/data";
    private const string Joined = "joinedclusterjoinedclu";

    private static readonly NodeIds Ids = new("unclaimednodeunclaimed", "unclaimedclusterunclai");

    private readonly SimulatedDisk _disk = new(Directory);
    private readonly SimulatedTimeProvider _time = new();

    // The journal's first index when it was last served.
    private long _firstIndex;

    /// <summary>The records and files that a node writes by itself do not count as use.</summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void An_unclaimed_node_is_replaced_by_a_join(bool wasServed, bool isFlushed)
    {
        FoundCluster();
        if (wasServed)
        {
            Serve(static _ => { }, isFlushed);
            _disk.WriteNew($"{Directory}/claim-code", "CODE"u8);
            _disk.WriteNew($"{Directory}/local-access", "https://127.0.0.1:8443"u8);
        }

        Assert.Null(MoveAside(_disk));
        Assert.Contains("Repeat that join", JoinClient.WhyUnfinished(_disk, Directory), StringComparison.Ordinal);
        Assert.Contains(
            "delete everything in /data;",
            JoinClient.WhyUnfinished(_disk, Directory),
            StringComparison.Ordinal
        );
        Clear(_disk);
        Assert.Equal(["joining", "lock"], _disk.List(Directory).Order(StringComparer.Ordinal));
        Assert.Null(JoinClient.WhyNot(_disk, Directory, TokenOf(Joined)));
        Assert.Contains("delete /data/joining;", JoinClient.WhyUnfinished(_disk, Directory), StringComparison.Ordinal);
    }

    /// <summary>The key of a record of a used node, and why the node is kept.</summary>
    public static TheoryData<string, string> Used =>
        new()
        {
            { ClusterRecordPrefix.Access + "owner", "it was claimed" },
            { ClusterRecordPrefix.Access + "hash", "it was claimed" },
            { ClusterRecordPrefix.ClientCertificate + "thumbprint", "it was claimed" },
            { ClusterRecordPrefix.JoinToken + "hash", "other nodes were admitted" },
            { MemberRecord.KeyOf("anothernodeanothernode"), "other nodes were admitted" },
        };

    [Theory]
    [MemberData(nameof(Used))]
    public void A_node_that_was_claimed_or_admitted_others_is_kept(string key, string reason)
    {
        foreach (bool isFlushed in (bool[])[false, true])
        {
            foreach (bool isDeleted in (bool[])[false, true])
            {
                // Once flushed, a deleted record leaves no trace.
                if (isFlushed && isDeleted)
                {
                    continue;
                }

                var card = new UnclaimedNodeTests();
                card.FoundCluster();
                card.Serve(
                    store =>
                    {
                        Write(store, writer => writer.Set(key, "{}"u8));
                        if (isDeleted)
                        {
                            Write(store, writer => writer.Delete(key));
                        }
                    },
                    isFlushed
                );
                card.AssertKept(reason);
            }
        }
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void A_node_that_held_a_database_is_kept_even_after_its_deletion(bool isFlushed, bool isDeleted)
    {
        FoundCluster();
        Serve(
            store =>
            {
                store.CommitAlone(CommandEncoder.CreateDatabase("Shop", HistoryId.Create()));
                if (isDeleted)
                {
                    store.CommitAlone(CommandEncoder.DeleteDatabases(["Shop"]));
                }

                // Records of 30 kB each, until the journal has released the segment with the database's entries: then
                // only the tables tell that a database existed.
                for (int i = 0; i < 8 && isFlushed; i++)
                {
                    Write(
                        store,
                        static writer =>
                            writer.Set(ClusterRecordPrefix.Topology, RandomNumberGenerator.GetBytes(30_000))
                    );
                }
            },
            isFlushed
        );
        const int lastIndexOfDatabase = 4;
        Assert.Equal(isFlushed, _firstIndex > lastIndexOfDatabase);
        AssertKept("it held a database");
    }

    [Fact]
    public void A_node_with_known_peers_is_kept()
    {
        FoundCluster(peers: [new KnownPeer("anothernodeanothernode", ["192.0.2.2:9443"])]);
        AssertKept("it has other members");
    }

    [Fact]
    public void A_node_whose_configuration_has_another_member_is_kept()
    {
        FoundCluster();
        Serve(static _ => { }, isFlushed: false, learner: "anothernodeanothernode");
        AssertKept("other nodes were admitted");
    }

    [Fact]
    public void A_halted_node_is_kept()
    {
        FoundCluster();
        IdentityDirectory.Retire(_disk, Directory, new Retirement(RetirementCause.Halted, "A rule was broken."));
        AssertKept("it takes no part there any more: A rule was broken");
    }

    [Theory]
    [InlineData("letters.txt")]
    [InlineData("storage.before-abc")]
    [InlineData("restore-unfinished")]
    public void A_node_beside_foreign_files_is_kept(string name)
    {
        FoundCluster();
        Serve(static _ => { }, isFlushed: false);
        _disk.WriteNew($"{Directory}/{name}", "x"u8);
        AssertKept($"/data/{name} is not a file of a node that was never used");
    }

    /// <summary>Damage may hide the record that names the owner.</summary>
    [Fact]
    public void A_node_that_cannot_be_read_is_kept()
    {
        FoundCluster();
        Serve(static _ => { }, isFlushed: true);
        string[] files =
        [
            .. _disk.Files.Where(static file =>
                file.EndsWith(".run", StringComparison.Ordinal) || file.Contains("/journal-", StringComparison.Ordinal)
            ),
        ];
        Assert.True(files.Length == 2, $"there are a run and a journal segment: {string.Join(' ', _disk.Files)}");
        foreach (string file in files)
        {
            var damaged = _disk.AfterPowerLoss(seed: 0);
            if (file.EndsWith(".run", StringComparison.Ordinal))
            {
                damaged.Rot(file, offset: 12, mask: 0xff);
            }
            else
            {
                damaged.Delete(file);
            }

            Assert.Contains("whether it was ever used cannot be read: ", MoveAside(damaged), StringComparison.Ordinal);
            Assert.True(IdentityDirectory.ExistsIn(damaged, Directory), file);
        }

        foreach (string file in (string[])["/data/format", "/data/cluster/node.pem"])
        {
            var damaged = _disk.AfterPowerLoss(seed: 0);
            damaged.Rot(file, offset: 30, mask: 0xff);
            Assert.Throws<IdentityException>(() => MoveAside(damaged));
        }
    }

    [Fact]
    public void A_running_node_is_kept()
    {
        FoundCluster();
        using var store = Open();
        Assert.Throws<DataDirectoryInUseException>(() => MoveAside(_disk));
    }

    [Fact]
    public void A_power_cut_leaves_the_old_node_or_one_that_joins()
    {
        int old = 0,
            joining = 0;
        new CrashSearch { Points = 400, Runs = 1 }.Verify(
            _ =>
            {
                var card = new UnclaimedNodeTests();
                card.FoundCluster();
                card.Serve(static _ => { }, isFlushed: true);
                card._disk.WriteNew($"{Directory}/claim-code", "CODE"u8);
                var work = card._disk.AfterPowerLoss(seed: 0);
                Assert.Null(card.MoveAside(work));
                int movedAside = work.OperationCount;
                Clear(work);
                return (work, movedAside);
            },
            (image, movedAside, operation) =>
            {
                if (JoinClient.WhyUnfinished(image, Directory) is null)
                {
                    Assert.True(operation < movedAside, "an identity that was moved aside does not come back");
                    using var identity = IdentityDirectory.TryLoad(image, Directory)!;
                    using var store = NodeStore.Open(
                        Options,
                        image.AfterPowerLoss(seed: 0),
                        new MemoryBudget(16 << 20),
                        SilentRecorder.Instance,
                        _time
                    );
                    Assert.Equal(Ids, new NodeIds(store.NodeId, store.ClusterId));
                    Assert.Equal(identity.NodeId, store.NodeId);
                    store.ApplyAll();
                    Assert.NotEmpty(store.ClusterRecords.List(ClusterRecordPrefix.Member));
                    old++;
                }
                else
                {
                    joining++;
                }

                // Repeating the same join succeeds from every point.
                Assert.Null(JoinClient.WhyNot(image, Directory, TokenOf(Joined)));
                Assert.Null(MoveAside(image));
                Clear(image);
                Assert.Equal(["joining", "lock"], image.List(Directory).Order(StringComparer.Ordinal));
            }
        );
        Assert.True(
            CrashSearch.IsReplay || (old > 5 && joining > 5),
            $"{old} cuts left the old node, {joining} one that joins"
        );
    }

    private static NodeOptions Options =>
        new()
        {
            DataDirectory = Directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
            NewIds = Ids,
        };

    private static JoinToken TokenOf(string clusterId) => new(clusterId, ["127.0.0.1:1"], new byte[32], new byte[16]);

    /// <summary>Deletes the old node's files, after its identity was moved aside.</summary>
    private static void Clear(SimulatedDisk disk)
    {
        using var directoryHold = StoppedDirectory.Hold(disk, Directory);
        UnclaimedNode.Clear(disk, Directory, directoryHold);
    }

    private static void Write(NodeStore store, Action<ClusterRecordWriter> write)
    {
        using var writer = new ClusterRecordWriter();
        write(writer);
        Assert.Null(store.CommitAlone(writer.Complete()).Rejection);
    }

    /// <summary>Moves the identity of the node on a disk aside, or returns why it is kept.</summary>
    private string? MoveAside(SimulatedDisk disk) =>
        UnclaimedNode.MoveAside(disk, Options, Joined, new MemoryBudget(16 << 20), SilentRecorder.Instance, _time);

    private void AssertKept(string reason)
    {
        Assert.Equal(
            $"The node of /data is pi-1 of another cluster, rookery ({Ids.ClusterId}), and {reason}. Nothing "
                + $"was changed. To join the other cluster, name an empty data directory.",
            MoveAside(_disk)
        );
        Assert.True(IdentityDirectory.ExistsIn(_disk, Directory));
        Assert.DoesNotContain("/data/joining", _disk.Files);
    }

    /// <summary>Founds a cluster of one on the disk, as a node does at its first boot.</summary>
    private void FoundCluster(IReadOnlyList<KnownPeer>? peers = null)
    {
        using var founded = ClusterFounding.Found(
            Ids,
            new NodeNames("pi-1", "rookery", [IPAddress.Loopback]),
            addedNames: [],
            _time.GetUtcNow()
        );
        IdentityDirectory.Create(_disk, Directory, founded);
        if (peers is not null)
        {
            new IdentityKeeper(_disk, Directory, IdentityDirectory.TryLoad(_disk, Directory)!).KeepPeers(peers);
        }
    }

    private NodeStore Open() =>
        NodeStore.Open(Options, _disk, new MemoryBudget(16 << 20), SilentRecorder.Instance, _time);

    /// <summary>Starts the node, writes the records of every first start, uses the store and stops.</summary>
    /// <param name="use">Uses the store.</param>
    /// <param name="isFlushed">Whether the memtables are flushed before the stop.</param>
    /// <param name="learner">The id of a second member in the configuration; null for none.</param>
    private void Serve(Action<NodeStore> use, bool isFlushed, string? learner = null)
    {
        using var store = Open();
        var configuration = Configuration.Of(
            [Members.IdOf(Ids.NodeId)],
            learner is null ? [] : [Members.IdOf(learner)]
        );
        store.Journal.Write([
            VoteEncoding.ToFrame(new VoteRecord(Term: 1, Members.IdOf(Ids.NodeId)), startNumber: 1),
            new JournalFrame(
                FrameType.Configuration,
                Index: 1,
                Term: 1,
                OperationsBefore: 0,
                OperationCount: 0,
                ConfigurationEncoding.Encode(configuration, index: 1)
            ),
        ]);
        store.ApplyAll();
        Write(
            store,
            static writer =>
            {
                writer.Set(
                    MemberRecord.KeyOf(Ids.NodeId),
                    new MemberRecord
                    {
                        Tag = "A",
                        Name = "pi-1",
                        Addresses = [],
                        PublicKey = [],
                    }.ToJson()
                );
                writer.Set(ClusterRecordPrefix.Topology, "{}"u8);
                writer.Set(ClusterRecordPrefix.Desired + "seats", "{}"u8);
            }
        );
        use(store);
        if (isFlushed)
        {
            store.Storage.Memtables.RequestFlush();
            while (store.Storage.Memtables.FlushIfDue()) { }
        }

        _firstIndex = store.Journal.FirstIndex;
    }
}
