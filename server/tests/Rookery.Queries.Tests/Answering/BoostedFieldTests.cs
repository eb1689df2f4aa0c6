using Rookery.Fixtures;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries of static indexes whose maps boost fields.</summary>
public sealed class BoostedFieldTests : IDisposable
{
    private const string JavaScript = "map('Users', u => ({ first: boost(u.first, 10), last: u.last }))";
    private const string CSharp = "from u in docs.Users select new { first = u.first.Boost(10), last = u.last }";
    private const string Computed =
        "map('Users', u => { const f = '' + u.first; return { first: boost(f, 9), last: u.last } })";

    private readonly IndexedNode _node = IndexedNode.New();
    private readonly QueriedNode _queries;

    public BoostedFieldTests()
    {
        _queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Put("users/1", "\"first\":\"Ann\",\"last\":\"Bob\"");
        _node.Put("users/2", "\"first\":\"Bob\",\"last\":\"Ann\"");
        _node.Put("users/3", "\"first\":\"Ann\",\"last\":\"Bob\"");
    }

    [Theory]
    [InlineData(JavaScript)]
    [InlineData(Computed)]
    [InlineData(CSharp)]
    [InlineData("docs.Users.Select(u => new { first = u.first.Boost(10f), last = u.last })")]
    public async Task Results_that_match_in_a_boosted_field_come_first(string map)
    {
        Define(map);
        Assert.Equal("users/2 users/1 users/3", await AskAsync("where last = 'bob' or first = 'bob'"));
        Assert.Equal(
            "users/2 users/1 users/3",
            await AskAsync("where startsWith(last, 'b') or startsWith(first, 'b')")
        );
        Assert.Equal(
            "users/1 users/3 users/2",
            await AskAsync("where last = 'bob' or first = 'bob' order by last desc")
        );
        Assert.Equal("users/2", await AskAsync("where not last = 'bob' and first = 'bob'"));
        Assert.Equal("users/2 users/1 users/3", await AskAsync("where exact(last = 'Bob') or exact(first = 'Bob')"));
        Assert.Equal("users/2 users/1 users/3", await AskAsync("where exact(last = 'Bob' or first = 'Bob')"));
    }

    [Fact]
    public async Task Words_of_a_boosted_field_score_higher()
    {
        Define(JavaScript, "\"first\":{\"Indexing\":\"Search\"},\"last\":{\"Indexing\":\"Search\"}");
        Assert.Equal("users/2 users/1 users/3", await AskAsync("where search(last, 'bob') or search(first, 'bob')"));
        Assert.Equal(
            "users/1 users/3 users/2",
            await AskAsync("where boost(search(last, 'bob'), 100) or search(first, 'bob')")
        );
    }

    [Fact]
    public async Task A_field_that_is_not_boosted_keeps_the_order_of_the_index()
    {
        Define("map('Users', u => ({ first: u.first, last: u.last }))");
        Assert.Equal("users/1 users/2 users/3", await AskAsync("where last = 'bob' or first = 'bob'"));
    }

    public void Dispose() => _node.Dispose();

    private void Define(string map, string fields = "")
    {
        _node.Define($$$"""{"Maps":["{{{map}}}"],"Fields":{ {{{fields}}} } }""", "ByName");
        _node.SettleAll();
    }

    private async Task<string> AskAsync(string query) =>
        string.Join(
            ' ',
            (await _queries.AskAsync($"from index 'ByName' {query}", wait: null)).Rows.Select(static row =>
                row.GetProperty("@metadata").GetProperty("@id").GetString()!
            )
        );
}
