using System.Security.Cryptography.X509Certificates;
using System.Text;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Log;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Recovery;

/// <summary>Data directories of stopped members, on one disk.</summary>
internal sealed class StoppedMembers(SimulatedDisk disk, TimeProvider time, ClusterAuthority authority)
{
    public const string ClusterId = "abcdefghijklmnopqrstuv";

    /// <summary>The address for members that the operator configured for each member.</summary>
    public const string ConfiguredAddress = "192.168.7.9:9443";

    /// <summary>The URL for clients that the operator configured for each member.</summary>
    public const string ConfiguredUrl = "https://pi-1.example.org:8443";

    public static string NodeIdOf(int number) => $"node-{number}-abcdefghijklmno";

    public static NodeOptions Options(string directory) =>
        new()
        {
            DataDirectory = directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
        };

    /// <summary>Writes a member's data directory.</summary>
    /// <param name="directory">The data directory.</param>
    /// <param name="number">The member's number, from which its ids follow.</param>
    /// <param name="entries">The number of documents, each of which is one log entry at the end.</param>
    /// <param name="term">The term of all entries.</param>
    /// <param name="cluster">The id of its cluster.</param>
    /// <param name="hasIdentity">Whether it has an identity; a restored directory has none.</param>
    /// <param name="voters">The number of voters in its configuration.</param>
    /// <param name="starts">The number of its starts.</param>
    /// <param name="metAs">A member of which it has a record with this number of starts; default for none.</param>
    /// <param name="isFlushed">Whether all entries are flushed to runs.</param>
    public void Write(
        string directory,
        int number,
        int entries,
        long term = 1,
        string cluster = ClusterId,
        bool hasIdentity = true,
        int voters = 3,
        long starts = 1,
        (int Member, long Starts) metAs = default,
        bool isFlushed = false
    )
    {
        var ids = new NodeIds(NodeIdOf(number), cluster);
        using (
            var store = NodeStore.Open(
                Options(directory) with
                {
                    NewIds = ids,
                },
                disk,
                new MemoryBudget(16 << 20),
                NoRecorder.Instance,
                time
            )
        )
        {
            var configuration = Configuration.Of(
                [.. Enumerable.Range(1, voters).Select(static member => Members.IdOf(NodeIdOf(member)))],
                number > voters ? [Members.IdOf(NodeIdOf(number))] : []
            );
            store.Journal.Write([
                VoteEncoding.ToFrame(new VoteRecord(term, NodeId.None), starts),
                new JournalFrame(
                    FrameType.Configuration,
                    Index: 1,
                    term,
                    OperationsBefore: 0,
                    OperationCount: 0,
                    ConfigurationEncoding.Encode(configuration, 1)
                ),
            ]);
            store.ApplyAll();
            using var records = new ClusterRecordWriter();
            foreach (int member in new[] { 3, metAs.Member }.Where(static member => member > 0).Distinct())
            {
                records.Set(
                    MemberRecord.KeyOf(NodeIdOf(member)),
                    new MemberRecord
                    {
                        Tag = "C",
                        Name = $"pi-{member}",
                        Addresses = [],
                        PublicKey = [],
                        StartNumber = metAs.Member == member ? metAs.Starts : 0,
                    }.ToJson()
                );
            }

            records.Set(ClusterRecordPrefix.Access + "token", "{}"u8);
            store.CommitAlone(records.Complete());
            store.CommitAlone(CommandEncoder.CreateDatabase("Shop", HistoryId.Create()));
            for (int i = 0; i < entries; i++)
            {
                Put(store, $"d/{i}");
            }

            if (isFlushed)
            {
                store.Storage.Memtables.RequestFlush();
                while (store.Storage.Memtables.FlushIfDue()) { }
            }
        }

        if (hasIdentity)
        {
            var key = NodeKey.Create();
            var publicKey = new PublicKey(key);
            using var foreign = ClusterAuthority.Create(cluster, "home", ["pi-1.example.org"]);
            var signing = string.Equals(cluster, ClusterId, StringComparison.Ordinal) ? authority : foreign;
            using var identity = new NodeIdentity
            {
                ClusterId = cluster,
                ClusterName = "home",
                NodeId = ids.NodeId,
                NodeName = $"pi-{number}",
                Tag = "A",
                Peers =
                [
                    .. Enumerable
                        .Range(1, Math.Max(voters, number))
                        .Where(other => other != number)
                        .Select(static other => new KnownPeer(NodeIdOf(other), [$"192.0.2.{other}:9080"])),
                ],
                ConfiguredAddresses = [ConfiguredAddress],
                ConfiguredUrl = ConfiguredUrl,
                Key = key,
                Certificate = signing.SignNode(
                    publicKey,
                    ids.NodeId,
                    new NodeNames($"pi-{number}", "home", CurrentAddresses: []),
                    time.GetUtcNow()
                ),
                Authorities = [X509CertificateLoader.LoadCertificate(signing.Certificate.RawData)],
                SealedAuthorityKey = signing.SealKeyFor(publicKey),
            };
            IdentityDirectory.Create(disk, directory, identity);
        }
    }

    private static void Put(NodeStore store, string id)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("{}"u8.ToArray(), out var document, out _));
        store.CommitAlone(
            CommandEncoder.Put(
                store.Databases.All[0].Number,
                Encoding.UTF8.GetBytes(id),
                ExpectedChangeVector.None,
                document,
                key: default
            )
        );
    }
}
