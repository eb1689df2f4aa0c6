using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Exports of a node whose journal needs damaged rows other than documents.</summary>
public sealed class ExportDamageTests
{
    private const int Names = 150;

    [Fact]
    public void An_export_leaves_out_only_the_commands_that_need_a_damaged_identity()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, DamageTests.Directory))
        {
            node.CreateDatabase("Shop");
            uint shop = node.Database("Shop").Number;
            for (int i = 0; i < Names; i++)
            {
                node.Run(CommandEncoder.IdentitySeed(shop, NameOf(i), i, force: true, key: default));
                node.Run(CommandEncoder.IdentityNext(shop, "other|"u8, KeyOf(i)));
            }

            node.Flush();

            // Only the journal has these commands. The last one repeats a command.
            for (int i = 0; i < Names; i += 5)
            {
                node.Run(CommandEncoder.IdentityNext(shop, NameOf(i), key: default));
                node.Put("Shop", $"after/{i}", "{}");
                node.Run(PutWithKey(node, $"after/key/{i}", KeyOf(Names + i)));
                node.Run(CommandEncoder.IdentityNext(shop, "other|"u8, KeyOf(i)));
            }
        }

        var reports = new List<string>();
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 500; offset < DamageTests.Length(disk, path); offset += 2000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.DiagnoseStart(damaged, leftOut: null) is null)
                {
                    continue;
                }

                using var node = DamageTests.OpenNode(damaged, reports.Add);
                Assert.True(node.Diagnosis is null, $"{path} at {offset}: {node.Diagnosis}");
                Assert.True(
                    node.Databases.All.Sum(static database => CountAfter(database)) == 2 * Names / 5,
                    $"{path} at {offset}: all documents that the journal has are read"
                );
            }
        }

        Assert.Contains(reports, static report => report.Contains("is left out", StringComparison.Ordinal));
    }

    private static byte[] NameOf(int i) => Encoding.UTF8.GetBytes($"{i * 41 % Names:D3}{DamageTests.Noise(i, 150)}|");

    private static IdempotencyKey KeyOf(int i) => new((ulong)i + 1, 7);

    private static CommandBuffer PutWithKey(SteppedNode node, string id, IdempotencyKey key)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("{}"u8, out var document, out _));
        return CommandEncoder.Put(
            node.Database("Shop").Number,
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
            document,
            key
        );
    }

    private static int CountAfter(Database database)
    {
        int count = 0;
        using var reader = database.OpenReader();
        using var cursor = reader.SeekAllReadable(static _ => { });
        while (cursor.MoveNext())
        {
            count += cursor.View.Id.StartsWith("after/"u8) ? 1 : 0;
        }

        return count;
    }
}
