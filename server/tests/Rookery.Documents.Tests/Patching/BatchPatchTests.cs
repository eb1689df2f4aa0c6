using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Patching;

/// <summary>BatchPATCH: one patch for many documents.</summary>
public sealed class BatchPatchTests
{
    [Fact]
    public void One_command_patches_many_documents()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node");
        node.CreateDatabase("db");
        node.Put("db", "users/1", """{"n":1}""");
        node.Put("db", "other", """{"m":2}""");
        const string Ids = """[{"Id":"users/1","ChangeVector":null},{"Id":"other"},{"Id":"new"}]""";
        const string Script = """{"Script":"this.p = args.p","Values":{"p":3}}""";
        const string IfMissing = """{"Script":"this.q = 4"}""";
        const string Command =
            $$"""{"Commands":[{"Type":"BatchPATCH","Ids":{{Ids}},"Patch":{{Script}},"""
            + $$""" "PatchIfMissing":{{IfMissing}},"ReturnDocument":true}]}""";
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes(Command),
                node.Database("db").Number,
                default,
                1 << 20,
                out var batch,
                out var error,
                FormatLevel.Newest
            ),
            error.What
        );
        Assert.Equal(3, batch.Count);
        var outcome = node.Propose(batch.Command);
        Assert.Null(outcome.Rejection);
        Assert.All(Enumerable.Range(0, 3), index => Assert.NotNull(outcome[index].Document));
        var documents = node.Documents("db");
        Assert.Contains("\"p\":3", documents["users/1"], StringComparison.Ordinal);
        Assert.Contains("\"p\":3", documents["other"], StringComparison.Ordinal);
        Assert.Contains("\"q\":4", documents["new"], StringComparison.Ordinal);
    }
}
