using Rookery.Fixtures;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>An index is rebuilt by the first version that computes other entries for it, and only then.</summary>
public sealed class ContentVersionTests
{
    /// <summary>
    /// Earlier versions took collections that .NET compares as equal for one, and skipped the documents of the second.
    /// </summary>
    [Theory]
    [InlineData("docs.Ärzte", "docs.ärzte", 5)]
    [InlineData("docs.Users", "docs.users", 4)]
    [InlineData("docs.Users", "docs.Orders", 4)]
    public void Only_an_index_whose_collections_were_taken_for_one_is_rebuilt(string first, string second, int version)
    {
        using var node = IndexedNode.New();
        node.Define(
            $$"""{"Maps":["from d in {{first}} select new { d.n }","from d in {{second}} select new { d.n }"]}""",
            "both"
        );
        node.SettleAll();
        Assert.Equal(version, node.Serving("both").Map.ContentVersion);
    }

    /// <summary>In earlier versions, words that the analyzer removes took positions.</summary>
    [Theory]
    [InlineData("""{"Indexing":"Search"}""", 6)]
    [InlineData("""{"Indexing":"Search","Analyzer":"WhitespaceAnalyzer"}""", 4)]
    [InlineData("""{"Indexing":"Exact"}""", 4)]
    public void An_index_whose_analyzer_removes_words_is_rebuilt(string field, int version)
    {
        using var node = IndexedNode.New();
        node.Define(
            $$$"""{"Maps":["from d in docs.Notes select new { d.text }"],"Fields":{"text":{{{field}}}}}""",
            "words"
        );
        node.SettleAll();
        Assert.Equal(version, node.Serving("words").Map.ContentVersion);
    }

    /// <summary>In earlier versions, entries of an index over counters did not store their rows.</summary>
    [Theory]
    [InlineData("""{"Maps":["counters.map('Users', c => ({ n: c.Name }))"]}""", 8)]
    [InlineData(
        """{"Maps":["counters.map('Users', c => ({ n: c.Name, v: c.Value }))"],"Reduce":"groupBy(r => r.n).aggregate(g => ({ n: g.key, v: g.values.reduce((t, r) => t + r.v, 0) }))"}""",
        4
    )]
    public void An_index_over_counters_is_rebuilt_to_store_its_rows(string definition, int version)
    {
        using var node = IndexedNode.New();
        node.Define(definition, "counters");
        node.SettleAll();
        Assert.Equal(version, node.Serving("counters").Map.ContentVersion);
    }
}
