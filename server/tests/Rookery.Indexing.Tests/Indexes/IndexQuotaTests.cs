using Rookery.Indexing.Analysis;
using Rookery.Indexing.Execution;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Language;
using Rookery.Indexing.Scanning;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>How many indexes a node keeps, whatever the log defines.</summary>
public sealed class IndexQuotaTests
{
    private const int MostOfALeastNode = 32;

    [Fact]
    public void The_number_follows_the_memory()
    {
        Assert.Equal((128, 64), Bounds(128L << 20));
        Assert.Equal((1024, 512), Bounds(1L << 30));
        Assert.Equal((32, 16), Bounds(16L << 20));

        static (int Most, int Automatic) Bounds(long bytes) => new IndexQuota(bytes, static _ => { }) is var quota ? (quota.Most, quota.MostAutomatic) : default;
    }

    /// <summary>Definitions come from members with more memory, and from before the bound.</summary>
    [Fact]
    public void A_node_with_a_thousand_definitions_comes_up_and_keeps_what_it_has_room_for()
    {
        var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"a\"");
        node.ChangeIndexes(static writer =>
        {
            for (int i = 0; i < 1_000; i++)
            {
                writer.Put($"i{i:D4}", Of($"f{i}").ToJson(), default);
            }
        });
        node.SettleAll();
        Assert.Equal(MostOfALeastNode / 2, node.Host.ReadStatus(node.Database()).Count);
        Assert.Single(node.Troubles, static trouble => trouble.Contains("keeps 32 indexes, 16 of them automatic", StringComparison.Ordinal));
        Assert.Contains("memory of 16 MiB", node.Host.WhyNotKept(node.Database(), "I0999"), StringComparison.Ordinal);

        node = node.Restart();
        node.SettleAll();
        var kept = node.Host.ReadStatus(node.Database());
        Assert.Equal(MostOfALeastNode / 2, kept.Count);
        Assert.Null(node.Host.WhyNotKept(node.Database(), kept[0].Name));

        // One goes, and another has its place.
        node.ChangeIndexes(writer => writer.Delete(kept[0].Name));
        node.SettleAll();
        Assert.Equal(MostOfALeastNode / 2, node.Host.ReadStatus(node.Database()).Count);
        node.Dispose();
    }

    [Fact]
    public void A_query_for_which_there_is_no_room_looks_at_documents_or_is_refused_where_it_cannot()
    {
        using var node = IndexedNode.New();
        for (int i = 0; i < 300; i++)
        {
            node.Put($"users/{i}", "\"name\":\"a\"");
        }

        Assert.NotNull(Plan(node, "from Users where name = 'a'").ToDefine);
        for (int i = 0; i < MostOfALeastNode / 2; i++)
        {
            node.Define($"i{i}", Of($"f{i}"));
        }

        node.SettleAll();
        var route = Plan(node, "from Users where name = 'a'");
        Assert.Equal((null, null), (route.IndexName, route.ToDefine));
        Assert.Contains("keeps 32 indexes", route.Reasons[^1].Text, StringComparison.Ordinal);
        Assert.Equal("i3", Plan(node, "from Users where f3 = 1").IndexName);
        var refused = Assert.Throws<QueryException>(() => Plan(node, "from Users where search(name, 'a') order by score()"));
        Assert.Contains("answered by an index only", refused.Message, StringComparison.Ordinal);
    }

    private static AutoIndexDefinition Of(string field) => new("Users", [new AutoIndexField([field], AutoIndexFieldUses.None)]);

    private static QueryRoute Plan(IndexedNode node, string text)
    {
        var query = RqlParser.Parse(text);
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        return new IndexedQueries(node.Host).Plan(node.Database(), query, ScanPlan.Compile(query, QueryParameters.None, words).Target);
    }
}
