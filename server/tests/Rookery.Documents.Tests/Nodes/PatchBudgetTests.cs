using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// The budget of the bytes that the patches of a command, and of a log entry with several commands, may rewrite: a
/// short patch can rewrite a large document.
/// </summary>
public sealed class PatchBudgetTests
{
    [Fact]
    public void Patches_over_the_budget_are_refused_and_the_node_continues()
    {
        var disk = new SimulatedDisk();
        using (var node = Open(disk))
        {
            const int DocumentBytes = 200_000;
            node.Put("db", "large", $"{{\"t\":\"{new string('x', DocumentBytes)}\"}}");
            int tooMany = (int)(PatchBudget.StoredBytesPerCommand / DocumentBytes) + 1;
            Assert.Equal(RejectionKind.TooLarge, node.Propose(EncodePatches(node, tooMany)).Rejection?.Kind);
            Assert.Null(node.Propose(EncodePatches(node, count: 10)).Rejection);
            node.Put("db", "small", "{}");
        }

        using var again = SteppedNode.Open(disk, "/data");
        var documents = again.Documents("db");
        // The last of the ten patches has the value 9.
        Assert.EndsWith("\"n\":9", documents["large"], StringComparison.Ordinal);
        Assert.True(documents.ContainsKey("small"));
    }

    [Fact]
    public void Commands_of_one_entry_share_a_patch_budget()
    {
        var budget = new PatchBudget();
        // An entry may use the budget of two commands.
        budget.BeginEntry();
        for (int command = 0; command < 2; command++)
        {
            budget.BeginCommand();
            Assert.Null(budget.Charge(PatchBudget.StoredBytesPerCommand, PatchBudget.CopiedBytesPerCommand));
        }

        budget.BeginCommand();
        Assert.Equal(RejectionKind.Overloaded, budget.Charge(storedBytes: 1, copiedBytes: 1)?.Kind);
        budget.BeginEntry();
        budget.BeginCommand();
        Assert.Null(budget.Charge(storedBytes: 1, copiedBytes: 1));
        Assert.Equal(RejectionKind.TooLarge, budget.Charge(storedBytes: 0, PatchBudget.CopiedBytesPerCommand)?.Kind);
    }

    private static SteppedNode Open(SimulatedDisk disk)
    {
        var node = SteppedNode.Open(disk, "/data");
        node.CreateDatabase("db");
        return node;
    }

    /// <summary>Encodes a batch that sets n of the document 'large' to 0, 1 and so on, in as many patches.</summary>
    private static CommandBuffer EncodePatches(SteppedNode node, int count)
    {
        string commands = string.Join(
            ',',
            Enumerable
                .Range(0, count)
                .Select(i =>
                    $$"""{"Id":"large","Type":"PATCH","Patch":{"Script":"this.n = args.v","Values":{"v":{{i}}} } }"""
                )
        );
        byte[] body = Encoding.UTF8.GetBytes($$"""{"Commands":[{{commands}}]}""");
        Assert.True(
            BatchRequestParser.TryParse(
                body,
                node.Database("db").Number,
                key: default,
                maxBatchBytes: 1 << 20,
                out var batch,
                out var error
            ),
            error.ToString()
        );
        return batch.Command;
    }
}
