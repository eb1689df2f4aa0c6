using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.CompareExchange;

/// <summary>Damage in the rows of atomic guards.</summary>
public sealed class GuardDamageTests
{
    [Theory]
    [InlineData("users/")]
    [InlineData("users|")]
    public void A_document_that_apply_numbers_is_refused_if_its_guard_may_be_damaged(string prefix)
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, DamageTests.Directory))
        {
            node.CreateDatabase("Shop");

            // Before and after all ids that the server generates.
            Assert.Null(Put(node, "users/!").Rejection);
            Assert.Null(Put(node, "users/~").Rejection);
            node.Flush();
        }

        int refused = 0;
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            var damaged = disk.AfterPowerLoss(seed: 1);
            damaged.Delete(path);
            if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
            {
                continue;
            }

            using (node)
            {
                while (!node.Core.Storage.ScrubOnce(budgetBytes: 1 << 20)) { }

                var rejection = Put(node, prefix).Rejection;
                Assert.Null(node.Consensus.Refusal?.Message);
                Assert.True(rejection is null or { Kind: RejectionKind.Damaged }, rejection?.Message);
                refused += rejection is null ? 0 : 1;
            }
        }

        Assert.InRange(refused, 2, int.MaxValue); // without the file of documents, and without that of guards
    }

    private static CommandOutcome Put(SteppedNode node, string id)
    {
        string body = $$"""{"Commands":[{"Id":"{{id}}","Document":{},"Type":"PUT"}],"TransactionMode":"ClusterWide"}""";
        bool isParsed = BatchRequestParser.TryParse(
            Encoding.UTF8.GetBytes(body),
            node.Database("Shop").Number,
            key: default,
            maxBatchBytes: 1 << 20,
            out var batch,
            out var error,
            FormatLevel.Newest
        );
        Assert.True(isParsed, error.ToString());
        return node.Propose(batch.Command);
    }
}
