using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Patching;

/// <summary>Scripts of patches that reach other documents, while a block of a run is damaged.</summary>
[Trait("Effort", "Whole")]
public sealed class ReachingPatchDamageTests
{
    private const int Documents = 60;

    // Enough that the identities of a run take several blocks. Each start reads the first of them.
    private const int OtherIdentities = 8;

    private static readonly DateTimeOffset Start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The script has <c>#</c> where the number of a document belongs.</summary>
    [Theory]
    [InlineData("put('d/#', {})", false)]
    [InlineData("del('d/#')", true)]
    [InlineData("incrementCounter('d/#', 'new')", true)]
    [InlineData("deleteCounter('d/#', 'likes')", true)]
    [InlineData("put('d/#|', {})", false)]
    [InlineData("put('x|', {}); put('x|', {}); this.n = load('d/#').n", false)]
    [InlineData("this.n = load('d/' + new Date().toISOString().slice(0, 10)).n", false)]
    public void Unknown_damage_refuses_the_patch_and_never_stops_the_node(string script, bool isLarge)
    {
        var disk = FillDisk(isLarge);
        int refused = 0;
        int stored = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 500; offset < DamageTests.Length(disk, path); offset += isLarge ? 10_000 : 800)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                var time = new SimulatedTimeProvider(Start + TimeSpan.FromDays(40));
                SteppedNode node;
                try
                {
                    node = SteppedNode.Open(damaged, "/data/node", time);
                }
                catch (DamagedException)
                {
                    continue;
                }

                using (node)
                {
                    for (int i = 0; i < Documents; i += isLarge ? 7 : 1)
                    {
                        var rejection = node.Propose(
                            Patch(node, script.Replace("#", $"{i:D2}", StringComparison.Ordinal))
                        ).Rejection;
                        Assert.True(
                            node.Consensus.Refusal is null,
                            $"{path} at {offset}, document {i}: {node.Consensus.Refusal?.Message}"
                        );
                        Assert.True(rejection is null or { Kind: RejectionKind.Damaged }, rejection?.Message);
                        refused += rejection is null ? 0 : 1;
                        stored += rejection is null ? 1 : 0;
                    }
                }
            }
        }

        Assert.True(refused > 0 && stored > 0, $"{refused} refused, {stored} stored");
    }

    private static SimulatedDisk FillDisk(bool isLarge)
    {
        var disk = new SimulatedDisk("/data");
        var time = new SimulatedTimeProvider(Start);
        using var node = SteppedNode.Open(disk, "/data/node", time);
        node.CreateDatabase("db");
        uint database = node.Database("db").Number;
        for (int i = 0; i < Documents; i++)
        {
            string noise = DamageTests.Noise(i, isLarge && i % 7 == 0 ? 30_000 : 200);
            node.Put("db", $"d/{i:D2}", $$"""{"n":"{{noise}}"}""");
            node.Put("db", $"d/{Start + TimeSpan.FromDays(i):yyyy-MM-dd}", $$"""{"n":"{{noise}}"}""");
            SeedIdentity($"d/{i:D2}|");
            for (int other = 0; other < OtherIdentities; other++)
            {
                SeedIdentity($"d/{i:D2}/{DamageTests.Noise((i * OtherIdentities) + other, bytes: 200)}|");
            }

            if (isLarge && i % 7 == 0)
            {
                node.Run(Batch(node, Increment($"d/{i:D2}")));
            }
        }

        node.Flush();
        node.Put("db", "own", """{"n":0}""");
        return disk;

        void SeedIdentity(string name) =>
            node.Run(
                CommandEncoder.IdentitySeed(database, Encoding.UTF8.GetBytes(name), 1000, force: true, key: default)
            );
    }

    private static string Increment(string id) =>
        $$"""
            {"Type":"Counters","Id":"{{id}}","Counters":{"DocumentId":"{{id}}","Operations":[
                {"Type":"Increment","CounterName":"likes","Delta":1}]} }
            """;

    private static CommandBuffer Patch(SteppedNode node, string script) =>
        Batch(node, $$"""{"Type":"PATCH","Id":"own","Patch":{"Script":{{JsonSerializer.Serialize(script)}} } }""");

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
