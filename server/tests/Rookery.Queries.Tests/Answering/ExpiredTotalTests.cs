using System.Globalization;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Totals that streams announce while documents that have expired wait for their deletion.</summary>
public sealed class ExpiredTotalTests : IDisposable
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    private readonly IndexedNode _node = IndexedNode.New();
    private readonly string _expires;

    public ExpiredTotalTests()
    {
        _node.StartExpiry();
        string inAnHour = _node.Time.GetUtcNow().AddHours(1).UtcDateTime.ToString("O", CultureInfo.InvariantCulture);
        _expires = $",\"@expires\":\"{inAnHour}\"";
        _node.Put("users/1", "\"name\":\"ann\"");
        _node.Put("Users/2", "\"name\":\"ann\"", metadata: _expires);
        _node.Put("users/3", "\"name\":\"ann\"");
        _node.Put("codes/1", "\"name\":\"ann\"", "Codes", metadata: _expires);
        _node.Define(ByName.Name, ByName);
        _node.DefineField("Names", "o.name");
        _node.SettleAll();
    }

    [Theory]
    [InlineData("from Users where name = 'ann'")]
    [InlineData("from Users where name = 'ann' order by name desc")]
    [InlineData("from index 'Names' where n = 'ann'")]
    public async Task The_total_of_a_stream_does_not_cost_a_second_reading_of_its_documents(string query)
    {
        int documentsRead = 0;
        var queries = new QueriedNode(_node, () => documentsRead++, _node.Time);
        Assert.Equal((3L, 3), await queries.StreamAsync(query));
        _node.Time.Advance(TimeSpan.FromHours(2));
        documentsRead = 0;
        Assert.Equal((2L, 2), await queries.StreamAsync(query));
        Assert.Equal(2, documentsRead);
    }

    /// <summary>The page is filled up with results of which one has expired, too.</summary>
    [Fact]
    public async Task The_total_of_a_page_that_is_not_full_is_the_number_of_its_results()
    {
        _node.Put("users/4", "\"name\":\"ann\"", metadata: _expires);
        _node.Put("users/5", "\"name\":\"ann\"", metadata: _expires);
        _node.Put("users/6", "\"name\":\"ann\"");
        _node.SettleAll();
        var queries = new QueriedNode(_node, static () => { }, _node.Time);
        _node.Time.Advance(TimeSpan.FromHours(2));
        Assert.Equal((3L, 3), await queries.StreamAsync("from Users where name = 'ann' limit 4"));
    }

    public void Dispose() => _node.Dispose();
}
