using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Tests.Attachments;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Schedules;

/// <summary>Scheduled changes of documents whose revisions or contents are damaged.</summary>
[Trait("Effort", "Whole")]
public sealed class ScheduledDamageTests
{
    private const int Documents = 200;

    [Fact]
    public async Task Damage_stops_neither_the_node_nor_the_refresh_of_other_documents()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = AttachedNode.Create(disk))
        {
            uint database = node.Node.Database("db").Number;
            var rule = new RevisionRule { MinimumToKeep = 2 };
            node.Node.Run(CommandEncoder.ConfigureRevisions(database, new RevisionsConfiguration(rule, [])));
            node.Node.Run(CommandEncoder.SetConfiguration(database, "refresh", """{"Disabled":false}"""u8.ToArray()));
            for (int i = 0; i < Documents; i++)
            {
                node.Node.Put("db", $"d/{i:D3}", """{"n":1}""");
                node.Attach($"d/{i:D3}", "x", BitConverter.GetBytes(i));
            }

            node.Node.Flush();
            for (int i = 0; i < Documents; i++)
            {
                node.Node.Put("db", $"d/{i:D3}", """{"@metadata":{"@refresh":"2000-01-01T00:00:00.0000000Z"} }""");
            }

            node.Node.Flush();
        }

        bool othersChanged = false;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 3000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    long before = node.Database("db").LastEtag;
                    await RunAsync(node);
                    Assert.Null(node.Consensus.Refusal);
                    othersChanged |= node.Database("db").LastEtag > before;
                }
            }
        }

        Assert.True(othersChanged);
    }

    [Fact]
    public async Task Documents_that_were_damaged_while_others_were_registered_are_refreshed_after_the_repair()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = AttachedNode.Create(disk))
        {
            for (int i = 0; i < Documents; i++)
            {
                string noise = DamageTests.Noise(i, bytes: 200);
                node.Node.Put(
                    "db",
                    $"d/{i:D3}",
                    $$"""{"n":"{{noise}}","@metadata":{"@refresh":"2000-01-01T00:00:00.0000000Z"} }"""
                );
            }

            node.Node.Flush();
        }

        int skipped = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 12_000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    node.Run(
                        CommandEncoder.SetConfiguration(
                            node.Database("db").Number,
                            "refresh",
                            """{"Disabled":false}"""u8.ToArray()
                        )
                    );
                    await RunAsync(node);
                    long etag = node.Database("db").LastEtag;
                    await RunAsync(node);
                    Assert.Equal(etag, node.Database("db").LastEtag); // what stays damaged writes nothing
                    skipped += string.Equals(Progress(node), "true", StringComparison.Ordinal) ? 0 : 1;
                }

                damaged.Rot(path, offset, mask: 1); // the repair
                using var repaired = DamageTests.OpenUnlessEveryStartReadsIt(damaged)!;
                await RunAsync(repaired);
                Assert.Equal("true", Progress(repaired));
                await RunAsync(repaired);
                using var reader = repaired.Database("db").OpenReader();
                using var documents = reader.SeekByIdPrefix([]);
                int count = 0;
                for (; documents.MoveNext(); count++)
                {
                    Assert.True(documents.Head.Metadata.IsEmpty);
                }

                Assert.Equal(Documents, count);
            }
        }

        Assert.NotEqual(0, skipped);
    }

    private static string Progress(SteppedNode node) =>
        Encoding.UTF8.GetString(node.Database("db").Configurations.Find("schedule-progress").Json.Span);

    private static Task RunAsync(SteppedNode node) =>
        Task.Run(async () =>
        {
            var work = new ScheduledWork(node.Core.Databases, node.Consensus, new SimulatedTimeProvider());
            var done = work.RunOnceAsync(TimeSpan.FromMinutes(1), CancellationToken.None);
            while (!done.IsCompleted)
            {
                node.Commit();
                await Task.Yield();
            }

            await done;
        });
}
