using Rookery.Fixtures;
using Rookery.Indexing.Automatic;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries that an automatic index covers but cannot answer.</summary>
public sealed class ScanWithoutWaitTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.Search)]
    );

    [Theory]
    [InlineData("from Users where name = 'ann' select facet(name)", 1)]
    [InlineData("from Users where name = 'ann' select suggest(name, 'anna')", 1)]
    [InlineData("from Users where search(name, 'ann') order by name select score() as s", 2)]
    public async Task A_query_that_only_a_scan_can_answer_does_not_wait_for_its_index(string query, int results)
    {
        using var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"ann\"");
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("users/2", "\"name\":\"Ann\""); // the index lags now, because nothing steps it
        var queries = new QueriedNode(node, static () => { }, node.Time);
        var guard = TimeSpan.FromSeconds(30); // longest wait for what must happen
        Assert.Equal(results, await queries.ScanAsync(query, TimeSpan.FromHours(1)).WaitAsync(guard));
    }
}
