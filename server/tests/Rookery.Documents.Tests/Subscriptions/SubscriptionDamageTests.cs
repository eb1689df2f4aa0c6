using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Subscriptions;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;
using Rookery.Storage;

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
        uint database = node.Database("Shop").Number;
        using (node)
        {
            for (int i = 0; i < Subscriptions; i += 3)
            {
                foreach (
                    var change in (CommandBuffer[])
                        [
                            Acknowledge(node, i, progress: 2),
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

    /// <summary>A progress in memory does not hide that the definition cannot be read.</summary>
    [Fact]
    public void Damage_refuses_the_acknowledgement_of_a_running_subscription()
    {
        var disk = new SimulatedDisk("/data");
        using var node = SteppedNode.Open(disk, DamageTests.Directory);
        node.CreateDatabase("Shop");
        for (int i = 0; i < Subscriptions; i++)
        {
            node.Run(Define(node, $"s{i:D2}", DamageTests.Noise(i, bytes: 4000)));
        }

        node.Flush();
        for (int i = 0; i < Subscriptions; i++)
        {
            node.Run(Acknowledge(node, i, progress: 1));
        }

        var changes = Enumerable.Range(0, Subscriptions).Select(i => Acknowledge(node, i, progress: 2)).ToList();
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            // Not in the first block, whose damaged counters would refuse every change.
            for (long offset = 20_000; offset < DamageTests.Length(disk, path); offset += 20_000)
            {
                disk.Rot(path, offset, mask: 1);
            }
        }

        node.Core.Storage.TrimIdle();
        node.Core.Storage.TrimIdle();
        var rejections = changes.ConvertAll(change => node.Propose(change).Rejection);
        Assert.Contains(rejections, static one => one is { Kind: RejectionKind.Damaged });
        Assert.All(rejections, static one => Assert.True(one is null or { Kind: RejectionKind.Damaged }));
        Assert.Null(node.Consensus.Refusal);
    }

    [Fact]
    public void A_deleted_subscription_is_defined_again()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), DamageTests.Directory);
        node.CreateDatabase("Shop");
        uint database = node.Database("Shop").Number;
        node.Run(Define(node, "s", "from A"));
        node.Flush();
        node.Run(SubscriptionWriter.Delete(database, key: default, "s"));
        node.Flush();
        node.Run(Acknowledge(node, index: 0, progress: 1));
        node.Run(Define(node, "s", "from A"));
    }

    // The subscriptions have the numbers 1, 2 and so on.
    private static CommandBuffer Acknowledge(SteppedNode node, int index, long progress)
    {
        using var reader = node.Database("Shop").OpenReader();
        SubscriptionRecord? found = null;
        try
        {
            found = SubscriptionRows.Find(reader, index + 1);
        }
        catch (DamagedException)
        {
            // The acknowledgement of another version is refused, or does nothing.
        }

        return SubscriptionWriter.Acknowledge(
            node.Database("Shop").Number,
            index + 1,
            found?.Version ?? 0,
            found?.Progress ?? 0,
            progress,
            connectedTicks: 7
        );
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
