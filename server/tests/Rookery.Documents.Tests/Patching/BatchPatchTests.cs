using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Nodes;
using Rookery.Json;
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

    [Fact]
    public void More_documents_than_a_batch_may_have_commands_are_refused_while_they_are_read()
    {
        const int MaxCommands = 64;
        string ids = string.Join(',', Enumerable.Range(0, MaxCommands + 1).Select(static i => $$"""{"Id":"{{i}}"}"""));
        string patch = """{"Script":"this.p = 1"}""";
        string command = $$"""{"Type":"BatchPATCH","Patch":{{patch}},"Ids":[{{ids}}, and no JSON""";
        bool isParsed = BatchRequestParser.TryParse(
            Encoding.UTF8.GetBytes($$"""{"Commands":[{{command}}"""),
            database: 1,
            default,
            MaxCommands * DocumentLimits.BytesPerBatchCommand,
            out _,
            out var error,
            FormatLevel.Newest
        );
        Assert.False(isParsed);
        Assert.Equal(InputErrorCode.BatchTooLarge, error.Code);
        Assert.Contains("64 commands", error.What, StringComparison.Ordinal);
    }
}
