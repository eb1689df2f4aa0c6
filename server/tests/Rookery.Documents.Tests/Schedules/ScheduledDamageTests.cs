using Rookery.Documents.Commands;
using Rookery.Documents.Revisions;
using Rookery.Documents.Schedules;
using Rookery.Documents.Tests.Attachments;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Schedules;

/// <summary>Scheduled changes of documents whose revisions or contents are damaged.</summary>
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
