using System.Text;
using Rookery.Documents.Consensus;
using Rookery.Documents.Redis;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Redis;

/// <summary>Commands of Redis while a block of a run is damaged.</summary>
[Trait("Effort", "Whole")]
public sealed class RedisDamageTests
{
    private const int Documents = 40;
    private static readonly DateTimeOffset Start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The command has <c>#</c> where the number of a document belongs.</summary>
    [Theory]
    [InlineData("SET d/# x", false)]
    [InlineData("DEL d/#", false)]
    [InlineData("RENAME d/# other", false)]
    [InlineData("APPEND d/# x", true)]
    public void Unknown_damage_refuses_the_command_and_never_stops_the_node(string command, bool isLarge)
    {
        var disk = FillDisk(isLarge);
        int refused = 0;
        int carriedOut = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 500; offset < DamageTests.Length(disk, path); offset += isLarge ? 10_000 : 800)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                SteppedNode node;
                try
                {
                    node = SteppedNode.Open(damaged, "/data/node", new SimulatedTimeProvider(Start));
                }
                catch (DamagedException)
                {
                    continue;
                }

                using (node)
                {
                    for (int i = 0; i < Documents; i += isLarge ? 7 : 1)
                    {
                        var rejection = Run(node, command.Replace("#", $"{i:D2}", StringComparison.Ordinal));
                        Assert.True(node.Consensus.Refusal is null, node.Consensus.Refusal?.Message);
                        Assert.True(rejection is null or { Kind: RejectionKind.Damaged }, rejection?.Message);
                        refused += rejection is null ? 0 : 1;
                        carriedOut += rejection is null ? 1 : 0;
                    }
                }
            }
        }

        Assert.True(refused > 0 && carriedOut > 0, $"{refused} refused, {carriedOut} carried out");
    }

    private static SimulatedDisk FillDisk(bool isLarge)
    {
        var disk = new SimulatedDisk("/data");
        using var node = SteppedNode.Open(disk, "/data/node", new SimulatedTimeProvider(Start));
        node.CreateDatabase("db");
        for (int i = 0; i < Documents; i++)
        {
            Run(node, $"SET d/{i:D2} {DamageTests.Noise(i, isLarge && i % 7 == 0 ? 100_000 : 200)}");
        }

        node.Flush();
        return disk;
    }

    private static Rejection? Run(SteppedNode node, string line)
    {
        byte[][] words = [.. line.Split(' ').Select(static word => Encoding.UTF8.GetBytes(word))];
        Assert.True(RedisCommandTable.TryFind(words[0], out var command));
        using var writer = new RedisCommandWriter(node.Database("db").Number);
        RedisNode.WithArguments(words, arguments => writer.Append(command, arguments));
        var outcome = node.Propose(writer.Complete());
        if (outcome.Rejection is null)
        {
            RedisOutcome.Release(outcome);
        }

        return outcome.Rejection;
    }
}
