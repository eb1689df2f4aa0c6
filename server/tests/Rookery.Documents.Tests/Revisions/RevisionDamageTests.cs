using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Documents.Tests.Attachments;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Changes of documents with revisions, attachments and counters, while a block of a run is damaged.</summary>
[Trait("Effort", "Whole")]
public sealed class RevisionDamageTests
{
    private const int Documents = 90;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Damage_refuses_a_change_and_never_stops_the_node(bool purges)
    {
        var disk = FillDisk(purges);
        int refused = 0;
        int stored = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 4000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    for (int i = 0; i < Documents; i++)
                    {
                        // The second change finds the document in the memtable, and its older revisions in the run.
                        foreach (var command in (CommandBuffer[])[Change(node, i), Change(node, i + 1, of: i)])
                        {
                            var rejection = node.Propose(command).Rejection;
                            Assert.True(
                                node.Consensus.Refusal is null,
                                $"{path} at {offset}, change {i}: {node.Consensus.Refusal?.Message}"
                            );
                            refused += rejection is { Kind: RejectionKind.Damaged } ? 1 : 0;
                            stored += rejection is null ? 1 : 0;
                        }
                    }
                }
            }
        }

        Assert.True(refused > 0 && stored > refused, $"{refused} refused, {stored} stored");
    }

    [Fact]
    public void Damaged_contents_of_a_document_that_becomes_a_revision_within_a_command_never_stop_the_node()
    {
        var disk = new SimulatedDisk("/data");
        using (var attached = AttachedNode.Create(disk))
        {
            for (int i = 0; i < Documents; i++)
            {
                Put(attached.Node, i, collection: "B");
                attached.Attach(Id(i), "x", Encoding.UTF8.GetBytes(DamageTests.Noise(i, bytes: 20)));
            }

            var rules = new RevisionsConfiguration(null, [("B", new RevisionRule())]);
            attached.Node.Run(CommandEncoder.ConfigureRevisions(attached.Database, rules));
            attached.Node.Flush();
        }

        int refused = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 4000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                using var node = DamageTests.OpenUnlessEveryStartReadsIt(damaged);
                for (int i = 0; node is not null && i < Documents; i++)
                {
                    string put = $$$"""
                        {"Type":"PUT","Id":"{{{Id(i)}}}","Document":{"@metadata":{"@collection":"B"} } }
                        """;
                    refused += node.Propose(Batch(node, $"{put},{put}")).Rejection is null ? 0 : 1;
                    Assert.True(
                        node.Consensus.Refusal is null,
                        $"{path} at {offset}: {node.Consensus.Refusal?.Message}"
                    );
                }
            }
        }

        Assert.True(refused > 0);
    }

    [Fact]
    public void After_a_damaged_row_no_revision_is_decoded_from_another_one_than_it_needs()
    {
        using var node = new RevisedNode();
        node.Configure(new RevisionRule());
        for (int i = 0; i < 5; i++)
        {
            // Each version is longer, so that its end is at another offset.
            node.Put("a", $$"""{"pad":"{{new string('x', 7 * i)}}","text":"{{DamageTests.Noise(0, bytes: 200)}}"}""");
        }

        var revisions = node.Read("a"); // the newest is the document
        BreakDelta(node, revisions[2].Etag);
        using var reader = node.Node.Database("db").OpenReader();
        var source = new RevisionSource(reader.Snapshot, node.Database);
        using var decoder = new RevisionDecoder();
        Assert.True(reader.TryGetDocument("a"u8, out var document));
        using (document)
        {
            decoder.ReadLive(document);
        }

        // Reads the rows from the newest to the damaged one.
        Exception? damage = null;
        try
        {
            decoder.TryRead(source, "a"u8, revisions[3].Etag);
        }
        catch (StoredDocumentException failure)
        {
            damage = failure;
        }

        Assert.NotNull(damage);
        Assert.True(decoder.TryRead(source, "a"u8, revisions[1].Etag, newerEtag: revisions[0].Etag));
        Assert.Equal(revisions[1].Body, Encoding.UTF8.GetString(decoder.View.Body));
    }

    // Replaces the differences in a revision's row by none, which give no content of its length.
    private static void BreakDelta(RevisedNode node, long etag)
    {
        var storage = node.Node.Core.Storage;
        byte[] key = new byte[Key.MaxBytes];
        int keyLength = Key.WriteRevision(key, node.Database, "a"u8, etag).Length;
        byte[] broken;
        using (var snapshot = storage.OpenSnapshot())
        {
            Assert.True(snapshot.TryGet(key.AsSpan(0, keyLength), out var row));
            using (row)
            {
                var revision = new RevisionRow(row.Value);
                Assert.True(revision.IsDelta);
                broken = [.. row.Value[..^revision.Content.Length], 100];
            }
        }

        var batch = storage.Begin(storage.AppliedIndex + 1, term: 1);
        batch.Put(key.AsSpan(0, keyLength), storage.Sequence, broken);
        storage.Apply(batch, storage.Sequence);
    }

    private static SimulatedDisk FillDisk(bool purges)
    {
        var disk = new SimulatedDisk("/data");
        using var attached = AttachedNode.Create(disk);
        var node = attached.Node;
        var rule = new RevisionRule { MinimumToKeep = 2, PurgesOnDelete = purges };
        node.Run(CommandEncoder.ConfigureRevisions(attached.Database, new RevisionsConfiguration(null, [("B", rule)])));
        // Every third document has a collection without a rule, and so revisions only if they are forced.
        for (int i = 0; i < Documents; i++)
        {
            Put(node, i, collection: i % 3 == 0 ? "A" : "B");
            attached.Attach(Id(i), "x", Encoding.UTF8.GetBytes(DamageTests.Noise(i, bytes: 20)));
            node.Run(Increment(node, i, $"likes{DamageTests.Noise(i, bytes: 60)}"));
        }

        node.Flush();
        for (int i = 0; i < Documents; i++)
        {
            Put(node, i, collection: i % 3 == 0 ? "A" : "B");
            if (i % 9 == 4)
            {
                node.Run(Batch(node, $$"""{"Type":"DELETE","Id":"{{Id(i)}}"}"""));
            }
        }

        node.Flush();
        return disk;
    }

    private static CommandBuffer Change(SteppedNode node, int kind, int? of = null)
    {
        int i = of ?? kind;
        string id = Id(i);
        switch (kind % 10)
        {
            case 0:
                return node.PutCommand("db", id, """{"@metadata":{"@collection":"B"} }""");
            case 1:
                return Batch(node, $$"""{"Type":"DELETE","Id":"{{id}}"}""");
            case 2:
                return Increment(node, i, "new");
            case 3:
                return Batch(node, $$"""{"Type":"AttachmentDELETE","Id":"{{id}}","Name":"x"}""");
            case 4:
                return Batch(node, $$"""{"Type":"ForceRevisionCreation","Id":"{{id}}"}""");
            case 5:
                return Batch(node, $$"""{"Type":"PATCH","Id":"{{id}}","Patch":{"Script":"this.m = 1;"} }""");
            case 6:
                using (var expiry = new ExpiryWriter(node.Database("db").Number))
                {
                    expiry.Add(Encoding.UTF8.GetBytes(id), EtagOf(node, id));
                    return expiry.Complete();
                }

            case 7:
                return Act(node, id, new RevisionCommand { Action = RevisionAction.Enforce, IncludesForced = true });
            case 8:
                return Act(node, id, new RevisionCommand { Action = RevisionAction.Revert, Etag = OldestOf(node, id) });
            default:
                return Act(
                    node,
                    id,
                    new RevisionCommand
                    {
                        Action = RevisionAction.Delete,
                        ToTicks = long.MaxValue,
                        Etags = BitConverter.GetBytes(OldestOf(node, id)),
                    }
                );
        }
    }

    private static CommandBuffer Act(SteppedNode node, string id, in RevisionCommand command)
    {
        using var writer = new BatchWriter(CommandKind.Batch, node.Database("db").Number);
        writer.Revision(Encoding.UTF8.GetBytes(id), command);
        return writer.Complete();
    }

    private static CommandBuffer Increment(SteppedNode node, int i, string name) =>
        Batch(
            node,
            $$"""
            {"Type":"Counters","Id":"{{Id(i)}}","Counters":{"DocumentId":"{{Id(i)}}","Operations":[
                {"Type":"Increment","CounterName":"{{name}}","Delta":1}]} }
            """
        );

    private static void Put(SteppedNode node, int i, string collection) =>
        node.Put(
            "db",
            Id(i),
            $$"""{"n":"{{DamageTests.Noise(i, bytes: 200)}}","@metadata":{"@collection":"{{collection}}"} }"""
        );

    private static string Id(int i) => $"d/{i:D3}";

    private static long EtagOf(SteppedNode node, string id) =>
        Read(
            node,
            (in DatabaseReader reader) =>
            {
                reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document);
                using (document)
                {
                    return document.Etag;
                }
            }
        );

    private static long OldestOf(SteppedNode node, string id) =>
        Read(
            node,
            (in DatabaseReader reader) =>
            {
                using var revisions = new RevisionReader(reader);
                return revisions.TrySelect(Encoding.UTF8.GetBytes(id)) && revisions.TryFindOldest()
                    ? revisions.Etag
                    : 0;
            }
        );

    private delegate long Reading(in DatabaseReader reader);

    private static long Read(SteppedNode node, Reading read)
    {
        try
        {
            using var reader = node.Database("db").OpenReader();
            return read(reader);
        }
        catch (DamagedException)
        {
            return 0;
        }
    }

    private static CommandBuffer Batch(SteppedNode node, string command)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes("{\"Commands\":[" + command + "]}"),
                node.Database("db").Number,
                key: default,
                maxBatchBytes: 32 << 20,
                out var batch,
                out var error,
                FormatLevel.Newest
            ),
            error.ToString()
        );
        return batch.Command;
    }
}
