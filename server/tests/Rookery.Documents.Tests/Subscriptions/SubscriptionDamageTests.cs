using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Subscriptions;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Subscriptions;

/// <summary>Changes of subscriptions whose rows are damaged.</summary>
public sealed class SubscriptionDamageTests
{
    private const int Subscriptions = 60;

    [Fact]
    public void Damage_refuses_the_change_of_a_subscription_and_does_not_stop_the_node()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, DamageTests.Directory))
        {
            node.CreateDatabase("Shop");
            for (int i = 0; i < Subscriptions; i++)
            {
                node.Run(Define(node, $"s{i:D2}", DamageTests.Noise(i, bytes: 400)));
            }

            node.Flush();
        }

        int refused = 0;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 100; offset < DamageTests.Length(disk, path); offset += 5000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                refused += CountRefused(damaged);
            }
        }

        Assert.True(refused > 0);
    }

    private static int CountRefused(SimulatedDisk disk)
    {
        if (DamageTests.OpenUnlessEveryStartReadsIt(disk) is not { } node)
        {
            return 0;
        }

        int refused = 0;
        using (node)
        {
            for (int i = 0; i < Subscriptions; i += 3)
            {
                uint database = node.Database("Shop").Number;
                foreach (
                    var change in (CommandBuffer[])
                        [
                            SubscriptionWriter.Acknowledge(database, i + 1, 1, expected: 0, 1, connectedTicks: 7),
                            Define(node, $"s{i:D2}", "from B"),
                            SubscriptionWriter.Delete(database, key: default, $"s{i + 1:D2}"),
                        ]
                )
                {
                    var rejection = node.Propose(change).Rejection;
                    refused += rejection is null ? 0 : 1;
                    Assert.True(rejection is null or { Kind: RejectionKind.Damaged }, rejection?.Message);
                }
            }

            Assert.Null(node.Consensus.Refusal);
        }

        return refused;
    }

    private static CommandBuffer Define(SteppedNode node, string name, string query) =>
        SubscriptionWriter.Put(
            node.Database("Shop").Number,
            key: default,
            name,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Put,
                Query = Encoding.UTF8.GetBytes(query),
                Creates = true,
            }
        );
}
