using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>What a node says about definitions that it does not run.</summary>
public sealed class NotMaintainedTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    [Fact]
    public void The_error_of_a_refused_definition_has_the_time_since_when_it_is_refused()
    {
        using var node = IndexedNode.New();
        var first = Refuse(node, "[");
        node.Time.Advance(TimeSpan.FromHours(1));

        // Another index opens the refused ones again, which changes nothing.
        node.Define("other", ByName);
        node.SettleAll();
        Assert.Equal(first, Assert.Single(node.Host.ReadErrors(node.Database(), "odd")));
        node.Time.Advance(TimeSpan.FromHours(1));
        var changedAt = node.Time.GetUtcNow();
        var second = Refuse(node, """{"Type":"Later"}""");
        Assert.Equal("Open", second.Action);
        Assert.InRange(second.Time, changedAt, node.Time.GetUtcNow());
    }

    // Defines an index that this version cannot run; returns its error.
    private static IndexError Refuse(IndexedNode node, string definition)
    {
        node.ChangeIndexes(writer => writer.Put("odd", System.Text.Encoding.UTF8.GetBytes(definition), default));
        node.SettleAll();
        return Assert.Single(node.Host.ReadErrors(node.Database(), "odd"));
    }
}
