using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>Plans on a node that keeps as many indexes as its memory allows.</summary>
public sealed class IndexRoomTests
{
    /// <summary>The most indexes that a node with the least memory keeps.</summary>
    private const int MaxIndexes = 32;

    [Fact]
    public void A_query_whose_index_has_no_room_scans_documents()
    {
        using var node = IndexedNode.New();
        for (int i = 0; i < 300; i++)
        {
            node.Put($"users/{i}", "\"name\":\"a\"");
        }

        Assert.NotNull(Plan(node, "from Users where name = 'a'").ToDefine);
        // At most half of the indexes are automatic ones, like these.
        for (int i = 0; i < MaxIndexes / 2; i++)
        {
            node.Define($"i{i}", DefinitionOf($"f{i}"));
        }

        node.SettleAll();
        var route = Plan(node, "from Users where name = 'a'");
        Assert.Equal((null, null), (route.IndexName, route.ToDefine));
        Assert.Contains("has memory for 32 indexes", route.Reasons[^1].Text, StringComparison.Ordinal);
        Assert.Equal("i3", Plan(node, "from Users where f3 = 1").IndexName);
        Assert.False(Plan(node, "from Users where search(name, 'a') order by score()").IsScanExpensive);
    }

    private static AutoIndexDefinition DefinitionOf(string field) =>
        new("Users", [new AutoIndexField([field], AutoIndexFieldUses.None)]);

    private static IndexChoice Plan(IndexedNode node, string text)
    {
        var query = RqlParser.Parse(text);
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        return new IndexedQueries(node.Host).ChooseIndex(
            node.Database(),
            query,
            CompiledQuery.Compile(query, QueryParameters.None, words).Target
        );
    }
}
