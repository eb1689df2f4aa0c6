using System.Text;
using Rookery.Documents.Redis;
using Rookery.Documents.Tests.Attachments;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Redis;

/// <summary>What commands of Redis do with the attachments of documents.</summary>
public sealed class RedisPartsTests : IDisposable
{
    private readonly AttachedNode _node = AttachedNode.Create(new SimulatedDisk("/data"));

    public RedisPartsTests()
    {
        _node.Node.Put("db", "a", """{"Value":"1"}""");
        _node.Node.Put("db", "b", """{"Value":"2"}""");
        _node.Attach("b", "picture", [1, 2, 3]);
        Assert.Equal(["picture"], _node.Names("b")!);
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_key_that_is_renamed_to_another_does_not_get_its_attachments()
    {
        Run("RENAME", "a", "b");
        Assert.Empty(_node.Names("b")!);
        Assert.Equal(default, _node.Totals());
    }

    [Fact]
    public void A_string_that_is_replaced_keeps_its_attachments()
    {
        Run("SET", "b", "3");
        Assert.Equal(["picture"], _node.Names("b")!);
    }

    private void Run(params string[] words)
    {
        using var writer = new RedisCommandWriter(_node.Node.Database("db").Number);
        Assert.True(RedisCommandTable.TryFind(Encoding.ASCII.GetBytes(words[0]), out var command));
        RedisNode.WithArguments(
            [.. words.Select(static word => Encoding.ASCII.GetBytes(word))],
            arguments => writer.Append(command, arguments)
        );
        var outcome = _node.Node.Propose(writer.Complete());
        Assert.Null(outcome.Rejection);
        RedisOutcome.Release(outcome);
    }
}
