using Rookery.Fixtures;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries that return a document for each of its entries in a static index.</summary>
public sealed class DuplicateCheckingTests : IDisposable
{
    private readonly IndexedNode _node = IndexedNode.New();
    private readonly QueriedNode _queries;

    public DuplicateCheckingTests()
    {
        _queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Define("""{"Maps":["map('Users', u => u.tags.map(t => ({ tag: t, n: u.n })))"]}""", "ByTag");
        _node.Put("users/1", "\"n\":1,\"tags\":[\"a\",\"b\"]");
        _node.Put("users/2", "\"n\":2,\"tags\":[\"b\",\"c\",\"d\"]");
        _node.SettleAll();
    }

    [Theory]
    [InlineData("", "users/1 users/2", "users/1 users/1 users/2 users/2 users/2")]
    [InlineData("where tag >= 'b'", "users/1 users/2", "users/1 users/2 users/2 users/2")]
    [InlineData("where tag >= 'b' filter n = 2", "users/2", "users/2 users/2 users/2")]
    [InlineData("order by tag desc", "users/2 users/1", "users/2 users/2 users/1 users/2 users/1")]
    public async Task Each_entry_is_a_result_if_the_request_skips_the_check(
        string query,
        string checkedIds,
        string allIds
    )
    {
        Assert.Equal(checkedIds, await AskAsync(query, skips: false));
        Assert.Equal(Sorted(allIds), Sorted(await AskAsync(query, skips: true)));
    }

    public void Dispose() => _node.Dispose();

    private static string Sorted(string ids) => string.Join(' ', ids.Split(' ').Order(StringComparer.Ordinal));

    private async Task<string> AskAsync(string query, bool skips) =>
        string.Join(
            ' ',
            (
                await _queries.AskAsync($"from index 'ByTag' {query}", wait: null, skipsDuplicateChecking: skips)
            ).Rows.Select(static row => row.GetProperty("@metadata").GetProperty("@id").GetString()!)
        );
}
