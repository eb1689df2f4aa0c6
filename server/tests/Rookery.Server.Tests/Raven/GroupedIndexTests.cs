using System.Globalization;
using System.Text.Json;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries with <c>group by</c> of collections that are large enough for an index.</summary>
public sealed class GroupedIndexTests : IAsyncLifetime
{
    private const string ByCity = "from Users group by city order by city select city, count() as n, sum(age) as sum";
    private const string CountAndAge = "Auto/Users/ByAgeAndCountReducedByCity";

    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _database = "";

    public GroupedIndexTests() => _server = new RunningServer { Time = _time };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _database = await _server.CreateDatabaseAsync();
        var commands = Enumerable.Range(0, 300).Select(static i => string.Create(
            CultureInfo.InvariantCulture, $$$"""{"Id":"users/{{{i}}}","Type":"PUT","Document":{"age":{{{i}}},"city":"c{{{i % 3}}}","tags":["a","b{{{i % 2}}}"],"@metadata":{"@collection":"Users"} } }"""));
        Assert.Equal(201, (await _server.SendAsync("POST", _database + "/bulk_docs", $$"""{"Commands":[{{string.Join(',', commands)}}]}""")).Status);
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_query_makes_the_index_of_groups_that_it_needs_and_each_answer_sees_what_was_written_before()
    {
        var first = await AskAsync(ByCity);
        Assert.Equal(CountAndAge, first.GetProperty("IndexName").GetString());
        Assert.Equal("""c0 100 14850,c1 100 14950,c2 100 15050""", Groups(first));
        Assert.Equal(3, first.GetProperty("TotalResults").GetInt32());
        await WaitAsync();
        for (int i = 0; i < 10; i++)
        {
            await PutAsync(1000 + i, """{"age":1,"city":"new","@metadata":{"@collection":"Users"}}""");
            var answer = await AskAsync(ByCity + " limit 3, 5");
            Assert.False(answer.GetProperty("IsStale").GetBoolean());
            Assert.Equal($"new {i + 1} {i + 1}", Groups(answer));
            Assert.Equal(4, answer.GetProperty("TotalResults").GetInt32());
        }

        Assert.Equal(204, (await _server.SendAsync("DELETE", _database + "/docs?id=users/0")).Status);
        Assert.Equal("c0 99 14850", Groups(await AskAsync("from Users group by city where count() = 99 select city, count() as n, sum(age) as sum")));
        Assert.Equal("c2", (await AskAsync("from Users group by city order by sum(age) desc select city limit 1")).GetProperty("Results")[0].GetProperty("city").GetString());
        Assert.Equal([CountAndAge], await NamesAsync());
    }

    [Fact]
    public async Task It_is_listed_counted_and_explained_as_an_automatic_one()
    {
        var before = await AskAsync(ByCity, "?debug=explain");
        Assert.Contains("is made for it", before.GetProperty("Results")[0].GetProperty("Reason").GetString(), StringComparison.Ordinal);
        Assert.Empty(await NamesAsync());
        await AskAsync(ByCity);
        await WaitAsync();
        var listed = (await GetAsync("/indexes")).GetProperty("Results")[0];
        Assert.Equal("AutoMapReduce", listed.GetProperty("Type").GetString());
        Assert.Equal("Users:[<Name:count(),Operation:Count>;<Name:sum(age),Operation:Sum>]", listed.GetProperty("Maps")[0].GetString());
        Assert.Equal("Users:[<Name:city>]", listed.GetProperty("Reduce").GetString());
        var stats = (await GetAsync("/indexes/stats?name=" + CountAndAge)).GetProperty("Results")[0];
        Assert.Equal("AutoMapReduce", stats.GetProperty("Type").GetString());
        Assert.Equal(3, stats.GetProperty("EntriesCount").GetInt32());
        Assert.True(stats.GetProperty("Collections").TryGetProperty("Users", out _));
        Assert.Equal(["c0", "c1", "c2"], (await GetAsync($"/indexes/terms?name={CountAndAge}&field=city")).GetProperty("Terms").EnumerateArray().Select(static term => term.GetString()!));
        Assert.Equal(["100"], (await GetAsync($"/indexes/terms?name={CountAndAge}&field=count()")).GetProperty("Terms").EnumerateArray().Select(static term => term.GetString()!));
        var after = await AskAsync(ByCity, "?debug=explain");
        Assert.Equal(CountAndAge, after.GetProperty("IndexName").GetString());
        Assert.Contains("holds all", after.GetProperty("Results")[0].GetProperty("Reason").GetString(), StringComparison.Ordinal);
        Assert.True(after.TryGetProperty("PostingsRead", out _));
        (await _server.SendAsync("POST", _database + "/queries", Body($"from index '{CountAndAge}' where city = 'c0'"))).IsRefusal(501, "ask its collection with 'group by'");
    }

    [Fact]
    public async Task One_that_is_behind_answers_and_says_so_unless_it_is_waited_for()
    {
        await AskAsync(ByCity);
        await WaitAsync();
        await _server.SendAsync("POST", _database + "/admin/indexes/stop");
        await PutAsync(1000, """{"age":1,"city":"new","@metadata":{"@collection":"Users"}}""");
        var stale = await AskAsync(ByCity);
        Assert.True(stale.GetProperty("IsStale").GetBoolean());
        Assert.Equal(3, stale.GetProperty("TotalResults").GetInt32());
        await _server.SendAsync("POST", _database + "/admin/indexes/start");
        var fresh = (await _server.SendAsync("POST", _database + "/queries", $$"""{"Query":"{{ByCity}}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":15000}""")).Json;
        Assert.Equal((false, 4), (fresh.GetProperty("IsStale").GetBoolean(), fresh.GetProperty("TotalResults").GetInt32()));
    }

    [Fact]
    public async Task One_is_widened_and_the_narrower_and_those_that_nobody_asks_are_deleted()
    {
        await AskAsync("from Users group by city select city, count()");
        await WaitAsync();
        await AskAsync(ByCity);
        await WaitAsync();
        await AskAsync("from Users group by tags[] select key() as k, count() as n");
        await WaitAsync();
        Assert.Equal([CountAndAge, "Auto/Users/ByCountReducedByCity", "Auto/Users/ByCountReducedByTags[]"], await NamesAsync());
        _time.Advance(TimeSpan.FromMinutes(2));
        await _server.Context.RetireIndexesAsync();
        Assert.Equal([CountAndAge, "Auto/Users/ByCountReducedByTags[]"], await NamesAsync());
        const string Count = "from Users group by city select city, count() as n";
        while (!string.Equals((await AskAsync(Count, "?debug=explain")).GetProperty("IndexName").GetString(), CountAndAge, StringComparison.Ordinal))
        {
            await Task.Delay(20);
        }

        _time.Advance(TimeSpan.FromHours(71));
        await AskAsync(Count);
        _time.Advance(TimeSpan.FromHours(2));
        await _server.Context.RetireIndexesAsync();
        Assert.Equal([CountAndAge], await NamesAsync());
    }

    [Fact]
    public async Task Documents_answer_in_the_place_of_an_index_that_cannot_hold_one_of_them()
    {
        await AskAsync("from Users group by tags[] select key() as k, count() as n");
        await WaitAsync();
        await PutAsync(1000, $$"""{"tags":[{{string.Join(',', Enumerable.Range(0, 3000))}}],"@metadata":{"@collection":"Users"} }""");
        var answer = await AskAsync("from Users group by tags[] select key() as k, count() as n limit 3000, 10");
        Assert.Equal(3003, answer.GetProperty("TotalResults").GetInt32());
        Assert.Equal("""[{"k":"a","n":300},{"k":"b0","n":150},{"k":"b1","n":150}]""", $"[{string.Join(',', answer.GetProperty("Results").EnumerateArray().Select(static one => $$"""{"k":{{one.GetProperty("k").GetRawText()}},"n":{{one.GetProperty("n")}}}"""))}]");
        await WaitAsync();
        var explained = await AskAsync("from Users group by tags[] select key() as k, count() as n", "?debug=explain");
        Assert.Contains("more groups or longer values", explained.GetProperty("Results").EnumerateArray().Last().GetProperty("Reason").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stream_is_read_from_an_index_of_groups()
    {
        await AskAsync(ByCity);
        await WaitAsync();
        var answer = await _server.SendAsync("POST", _database + "/streams/queries?format=jsonl", Body(ByCity));
        string[] lines = answer.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        using var statistics = JsonDocument.Parse(lines[0]);
        Assert.Equal(CountAndAge, statistics.RootElement.GetProperty("Stats").GetProperty("IndexName").GetString());
        Assert.Equal(4, lines.Length);
    }

    private static string Groups(JsonElement answer) => string.Join(',', answer.GetProperty("Results").EnumerateArray().Select(static one => $"{one.GetProperty("city").GetString()} {one.GetProperty("n")} {one.GetProperty("sum")}"));

    private static string Body(string query) => $$"""{"Query":{{JsonSerializer.Serialize(query)}}}""";

    private async Task PutAsync(int number, string document) => Assert.Equal(201, (await _server.SendAsync("PUT", string.Create(CultureInfo.InvariantCulture, $"{_database}/docs?id=users/{number}"), document)).Status);

    private async Task<string[]> NamesAsync() => [.. (await GetAsync("/indexes?namesOnly=true")).GetProperty("Results").EnumerateArray().Select(static name => name.GetString()!)];

    private async Task<JsonElement> AskAsync(string query, string parameters = "")
    {
        var answer = await _server.SendAsync("POST", _database + "/queries" + parameters, Body(query));
        Assert.True(answer.Status == 200, $"{answer.Status}: {answer.Body}");
        return answer.Json;
    }

    private async Task<JsonElement> GetAsync(string path)
    {
        var answer = await _server.SendAsync("GET", _database + path);
        Assert.True(answer.Status == 200, $"{answer.Status}: {answer.Body}");
        return answer.Json;
    }

    private async Task WaitAsync()
    {
        while ((await GetAsync("/stats")).GetProperty("Indexes").EnumerateArray().Any(static index => index.GetProperty("IsStale").GetBoolean()))
        {
            await Task.Delay(20);
        }
    }
}
