using Rookery.Fixtures;

namespace Rookery.Queries.Tests.Answering;

/// <summary>The setting <c>Indexing.IndexMissingFieldsAsNull</c> of a static index.</summary>
public sealed class MissingFieldTests : IDisposable
{
    private readonly IndexedNode _node = IndexedNode.New();
    private readonly QueriedNode _queries;

    public MissingFieldTests()
    {
        _queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Put("users/1", "\"n\":1");
        _node.Put("users/2", "\"n\":2,\"city\":null");
        _node.Put("users/3", "\"n\":3,\"city\":\"Ulm\"");
    }

    [Theory]
    [InlineData("from u in docs.Users select new { u.n, u.city }")]
    [InlineData("map('Users', u => ({ n: u.n, city: u.city }))")]
    [InlineData("map('Users', u => ({ n: u.n, city: u['city'] }))")]
    public async Task Missing_fields_are_null_if_the_setting_is_true(string map)
    {
        Define(map, "true");
        Assert.Equal("users/1 users/2", await AskAsync("where city = null"));
        Assert.Equal("users/3", await AskAsync("where city != null"));
        Assert.Equal("users/1", await AskAsync("where city = null and lucene(n, '1')"));
        Define(map, "false");
        Assert.Equal("users/2", await AskAsync("where city = null"));
    }

    [Fact]
    public async Task Missing_fields_of_reduced_rows_are_null_if_the_setting_is_true()
    {
        const string Map = "map('Users', u => ({ n: u.n, city: u.city, top: u.top }))";
        const string Reduce =
            "groupBy(x => x.n).aggregate(g => ({ n: g.key, city: g.values[0].city, top: g.values[0].top }))";
        Define(Map, "true", Reduce);
        Assert.Equal("{\"n\":1,\"city\":null,\"top\":null}", await RowAsync());
        Define(Map, "false", Reduce);
        Assert.Equal("{\"n\":1}", await RowAsync());
    }

    public void Dispose() => _node.Dispose();

    private void Define(string map, string setting, string? reduce = null)
    {
        string written = reduce is null ? "" : $",\"Reduce\":\"{reduce}\"";
        _node.Define(
            $$"""{"Maps":["{{map}}"]{{written}},"Configuration":{ "Indexing.IndexMissingFieldsAsNull":"{{setting}}" } }""",
            "ByCity"
        );
        _node.SettleAll();
    }

    private async Task<string> AskAsync(string query) =>
        string.Join(
            ' ',
            (await _queries.AskAsync($"from index 'ByCity' {query}", wait: null)).Rows.Select(static row =>
                row.GetProperty("@metadata").GetProperty("@id").GetString()!
            )
        );

    private async Task<string> RowAsync()
    {
        var row = (await _queries.AskAsync("from index 'ByCity' where n = 1", wait: null)).Rows.Single();
        return "{"
            + string.Join(
                ',',
                row.EnumerateObject()
                    .Where(static member => member.Name is not "@metadata")
                    .Select(static member => $"\"{member.Name}\":{member.Value.GetRawText()}")
            )
            + "}";
    }
}
