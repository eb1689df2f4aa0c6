using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Transfer;

/// <summary>
/// Two nodes of which the sender offers its state and the receiver fetches it, without a network. The sender has the
/// databases "both" and "new", the receiver "both" and "old".
/// </summary>
internal static class Transferred
{
    public const string Sender = "/data/sender";
    public const string Receiver = "/data/receiver";

    /// <summary>Fills the sender, and flushes everything into runs.</summary>
    public static void FillSender(SteppedNode node, int documents = 120)
    {
        node.CreateDatabase("both");
        node.CreateDatabase("new");
        node.CreateDatabase("gone");
        node.Run(CommandEncoder.DeleteDatabases(["gone"]));
        for (int i = 0; i < documents; i++)
        {
            node.Put(
                i % 2 == 0 ? "both" : "new",
                $"users/{i % 90}",
                $$"""{"Name":"sender {{i}}","@metadata":{"@collection":"Users"} }"""
            );
        }

        using var records = new ClusterRecordWriter();
        records.Set("member/a", "1"u8);
        node.Run(records.Complete());
        node.Put("both", "large", $$"""{"Text":"{{new string('x', 150_000)}}"}""");
        node.Flush();
    }

    /// <summary>Fills a receiver that stopped early.</summary>
    public static void FillReceiver(SteppedNode node, int documents = 12)
    {
        node.CreateDatabase("both");
        node.CreateDatabase("old");
        for (int i = 0; i < documents; i++)
        {
            node.Put("both", $"users/{i}", $$"""{"Name":"receiver {{i}}","@metadata":{"@collection":"Users"} }""");
        }
    }

    /// <summary>Writes more documents, flushes them, and releases their journal entries.</summary>
    public static void FillLater(SteppedNode node, int round)
    {
        for (int i = 0; i < 40; i++)
        {
            node.Put(
                "both",
                $"later/{round}/{i}",
                $$"""{"Text":"{{new string((char)('a' + (i % 26)), 2000)}}{{i * round}}"}"""
            );
        }

        node.Flush();
    }

    /// <summary>
    /// Puts 300 documents, then 20 of them again. Returns the etag in between, after which little changed.
    /// </summary>
    public static long FillWithLittleChanged(SteppedNode node)
    {
        var random = new Random(3);
        if (!node.Core.Databases.TryGet("db", out _))
        {
            node.CreateDatabase("db");
        }

        Fill(300);
        long since = node.Core.Storage.Sequence;
        Fill(20);
        return since;

        void Fill(int documents)
        {
            byte[] text = new byte[400];
            for (int i = 0; i < documents; i++)
            {
                random.NextBytes(text);
                node.Put("db", $"users/{i}", $$"""{"Text":"{{Convert.ToHexString(text)}}"}""");
            }

            node.Flush();
        }
    }

    /// <summary>Copies the bytes of an offer that an inbox lacks.</summary>
    public static void Copy(SnapshotOffers offers, SnapshotOffer offer, StateInbox inbox)
    {
        inbox.Begin(offer);
        byte[] buffer = new byte[20_000];
        foreach (var file in offer.Files)
        {
            using IDiskFile source = offers.Open(offer.Id, file.Name)!;
            using var target = inbox.Open(file, inbox.ResumeAt(file));
            while (target.Length < file.Bytes)
            {
                int read = source.Read(buffer, target.Length);
                offers.CountSent(offer.Id, read);
                target.Append(buffer.AsSpan(0, read));
            }

            target.Sync();
        }
    }

    /// <summary>Opens a node's data without consensus, and applies all entries of its journal.</summary>
    public static NodeStore Open(IDisk disk, NodeOptions options)
    {
        var store = NodeStore.Open(
            options,
            disk,
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );
        store.ApplyAll();
        return store;
    }

    /// <summary>Returns the bodies of all documents, by id; empty if the database does not exist.</summary>
    public static Dictionary<string, string> Documents(NodeStore store, string name)
    {
        var documents = new Dictionary<string, string>(StringComparer.Ordinal);
        if (store.Databases.TryGet(name, out var database))
        {
            using var reader = database.OpenReader();
            using var cursor = reader.SeekByIdPrefix(prefix: []);
            while (cursor.MoveNext())
            {
                documents.Add(Encoding.UTF8.GetString(cursor.View.Id), Encoding.UTF8.GetString(cursor.View.Body));
            }
        }

        return documents;
    }

    /// <summary>Asserts that two nodes have the same content.</summary>
    public static void AssertEqual(NodeStore expected, NodeStore actual)
    {
        Assert.Equal(expected.Databases.All.Select(Describe), actual.Databases.All.Select(Describe));
        Assert.Equal(VersionsOf(expected), VersionsOf(actual));
        foreach (var database in expected.Databases.All)
        {
            Assert.Equal(Documents(expected, database.Name), Documents(actual, database.Name));
            Assert.True(actual.Databases.TryGet(database.Name, out var other));
            using var mine = database.OpenReader();
            using var theirs = other.OpenReader();
            Assert.Equal(mine.ReadStatistics(), theirs.ReadStatistics());
        }

        static (string Name, uint Number, string HistoryId) Describe(Database database) =>
            (database.Name, database.Number, database.HistoryId);

        static IEnumerable<(string Key, long Version)> VersionsOf(NodeStore store) =>
            store.ClusterRecords.List(prefix: "").Select(static record => (record.Key, record.Version));
    }

    /// <summary>Opens and fills a sender. Returns an offer of its state.</summary>
    public static SnapshotOffer Offer(SimulatedDisk disk, out SteppedNode sender)
    {
        sender = SteppedNode.Open(disk, Sender);
        FillSender(sender);
        return sender.Core.Offers.Make();
    }
}
