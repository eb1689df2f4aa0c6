using Rookery.Fixtures;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries of an index that was just defined, so that this node has not opened it yet.</summary>
public sealed class OpeningWaitTests : IDisposable
{
    private readonly IndexedNode _node = IndexedNode.New();
    private readonly QueriedNode _queries;

    public OpeningWaitTests()
    {
        _queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Put("users/1", "\"n\":1");
        _node.DefineField("ByN", "o.n");
    }

    [Fact]
    public async Task A_query_waits_until_its_index_is_opened()
    {
        var asking = _queries.AskAsync("from index 'ByN'", wait: null);
        for (int second = 0; second < 14; second++)
        {
            _node.Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(1);
        }

        Assert.False(asking.IsCompleted);
        while (!asking.IsCompleted)
        {
            _node.Settle();
            await Task.Delay(1);
        }

        var (isStale, rows) = await asking;
        Assert.False(isStale);
        Assert.Single(rows);
    }

    [Fact]
    public async Task A_query_is_refused_if_its_index_is_not_opened_in_time()
    {
        var asking = _queries.AskAsync("from index 'ByN'", wait: null);
        while (!asking.IsCompleted)
        {
            _node.Time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(1);
        }

        Assert.Equal(QueryFault.IndexUnavailable, (await Assert.ThrowsAsync<QueryException>(() => asking)).Fault);
    }

    public void Dispose() => _node.Dispose();
}
