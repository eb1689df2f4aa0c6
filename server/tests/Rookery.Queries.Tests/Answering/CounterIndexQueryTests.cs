using Rookery.Fixtures;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries of indexes over counters whose answers need the maps.</summary>
public sealed class CounterIndexQueryTests : IDisposable
{
    private readonly IndexedNode _node = IndexedNode.New();
    private readonly QueriedNode _queries;

    public CounterIndexQueryTests()
    {
        _queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Define("""{"Maps":["counters.map('Users', c => ({ name: c.Name, value: c.Value }))"]}""", "Likes");
        _node.Put("users/1", "\"n\":1");
        _node.Put("users/2", "\"n\":1");
        _node.Count("users/1", ("Increment", "likes", 5));
        _node.Count("users/2", ("Increment", "likes", 2));
        _node.SettleAll();
    }

    [Fact]
    public async Task Conditions_that_the_terms_do_not_decide_are_evaluated_with_the_counters() =>
        Assert.Equal(["users/1"], await AskAsync("where value > 3 filter n = 1"));

    [Fact]
    public async Task A_document_that_got_a_counter_after_the_index_read_it_is_mapped_from_its_counters()
    {
        _node.Count("users/1", ("Increment", "dislikes", 1));
        Assert.Equal(["users/1"], await AskAsync("where value > 3", isStale: true));
        _node.Count("users/1", ("Increment", "likes", -4), ("Delete", "dislikes", 0));
        Assert.Empty(await AskAsync("where value > 3", isStale: true));
    }

    [Fact]
    public async Task Results_are_the_rows_of_the_map()
    {
        _node.Count("users/1", ("Increment", "dislikes", 1));
        _node.SettleAll();
        const string All =
            """{"name":"dislikes","value":1,"@metadata":{"@projection":true,"@id":"users/1"}}"""
            + """{"name":"likes","value":2,"@metadata":{"@projection":true,"@id":"users/2"}}"""
            + """{"name":"likes","value":5,"@metadata":{"@projection":true,"@id":"users/1"}}""";
        Assert.Equal(All, await RowsAsync(""));
        Assert.Equal(All, await RowsAsync("filter n = 1"));
        Assert.Equal(
            """{"value":5,"@metadata":{"@projection":true,"@id":"users/1"}}""",
            await RowsAsync("where value > 2 select value")
        );
    }

    public void Dispose() => _node.Dispose();

    private async Task<string> RowsAsync(string query) =>
        string.Concat(
            (await _queries.AskAsync($"from index 'Likes' {query}", wait: null))
                .Rows.Select(static row => row.GetRawText())
                .Order(StringComparer.Ordinal)
        );

    private async Task<string[]> AskAsync(string query, bool isStale = false)
    {
        var asking = _queries.AskAsync($"from index 'Likes' {query}", wait: null);
        while (!asking.IsCompleted)
        {
            _node.Time.Advance(TimeSpan.FromSeconds(1)); // the query waits a moment for the index
            await Task.Delay(1);
        }

        var answer = await asking;
        Assert.Equal(isStale, answer.IsStale);
        return
        [
            .. answer
                .Rows.Select(static row => row.GetProperty("@metadata").GetProperty("@id").GetString()!)
                .Order(StringComparer.Ordinal),
        ];
    }
}
