using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries with <c>group by</c> of collections that are large enough for an index.</summary>
public sealed class GroupedIndexTests : IndexedDatabase
{
    private const string ByCity = "from Users group by city order by city select city, count() as n, sum(age) as sum";
    private const string CountAndAge = "Auto/Users/ByCountAndageReducedBycity";

    [Fact]
    public async Task A_query_defines_its_group_index_and_sees_all_earlier_writes()
    {
        var first = await AskAsync(ByCity);
        Assert.Equal(CountAndAge, first.GetProperty("IndexName").GetString());
        Assert.Equal("""c0 100 14850,c1 100 14950,c2 100 15050""", DescribeGroups(first));
        Assert.Equal(3, first.GetProperty("TotalResults").GetInt32());
        await WaitAsync();
        for (int i = 0; i < 10; i++)
        {
            await PutAsync(1000 + i, "\"age\":1,\"city\":\"new\"");
            var answer = await AskAsync(ByCity + " limit 3, 5");
            Assert.False(answer.GetProperty("IsStale").GetBoolean());
            Assert.Equal($"new {i + 1} {i + 1}", DescribeGroups(answer));
            Assert.Equal(4, answer.GetProperty("TotalResults").GetInt32());
        }

        Assert.Equal(204, (await Server.SendAsync("DELETE", Database + "/docs?id=users/0")).Status);
        Assert.Equal(
            "c0 99 14850",
            DescribeGroups(
                await AskAsync("from Users group by city where count() = 99 select city, count() as n, sum(age) as sum")
            )
        );
        Assert.Equal(
            "c2",
            (await AskAsync("from Users group by city order by sum(age) desc select city limit 1"))
                .GetProperty("Results")[0]
                .GetProperty("city")
                .GetString()
        );
        Assert.Equal([CountAndAge], await NamesAsync());
    }

    [Fact]
    public async Task A_group_index_is_listed_counted_and_explained_as_automatic()
    {
        // Before the first query there is no index. The query creates it.
        var before = await AskAsync(ByCity, "?debug=explain");
        Assert.Contains(
            "Will be created for the query",
            before.GetProperty("Results")[0].GetProperty("Reason").GetString(),
            StringComparison.Ordinal
        );
        Assert.Empty(await NamesAsync());
        await AskAsync(ByCity);
        await WaitAsync();
        var listed = (await GetAsync("/indexes")).GetProperty("Results")[0];
        Assert.Equal("AutoMapReduce", listed.GetProperty("Type").GetString());
        Assert.Equal(
            "Users:[<Name:count(),Operation:Count>;<Name:sum(age),Operation:Sum>]",
            listed.GetProperty("Maps")[0].GetString()
        );
        Assert.Equal("Users:[<Name:city>]", listed.GetProperty("Reduce").GetString());
        var stats = (await GetAsync("/indexes/stats?name=" + CountAndAge)).GetProperty("Results")[0];
        Assert.Equal("AutoMapReduce", stats.GetProperty("Type").GetString());
        Assert.Equal(3, stats.GetProperty("EntriesCount").GetInt32());
        Assert.True(stats.GetProperty("Collections").TryGetProperty("Users", out _));
        Assert.Equal(
            ["c0", "c1", "c2"],
            (await GetAsync($"/indexes/terms?name={CountAndAge}&field=city"))
                .GetProperty("Terms")
                .EnumerateArray()
                .Select(static term => term.GetString()!)
        );
        Assert.Equal(
            ["100"],
            (await GetAsync($"/indexes/terms?name={CountAndAge}&field=count()"))
                .GetProperty("Terms")
                .EnumerateArray()
                .Select(static term => term.GetString()!)
        );
        var after = await AskAsync(ByCity, "?debug=explain");
        Assert.Equal(CountAndAge, after.GetProperty("IndexName").GetString());
        Assert.Contains(
            "Computes all that the query needs",
            after.GetProperty("Results")[0].GetProperty("Reason").GetString(),
            StringComparison.Ordinal
        );
        Assert.True(after.TryGetProperty("PostingsRead", out _));
        (
            await Server.SendAsync("POST", Database + "/queries", Body($"from index '{CountAndAge}' where city = 'c0'"))
        ).IsRefusal(501, "query its collection with 'group by'");
    }

    [Fact]
    public async Task A_stale_group_index_answers_as_stale_unless_the_query_waits()
    {
        await AskAsync(ByCity);
        await WaitAsync();
        await Server.SendAsync("POST", Database + "/admin/indexes/stop");
        await PutAsync(1000, "\"age\":1,\"city\":\"new\"");
        var stale = await AskAsync(ByCity);
        Assert.True(stale.GetProperty("IsStale").GetBoolean());
        Assert.Equal(3, stale.GetProperty("TotalResults").GetInt32());
        await Server.SendAsync("POST", Database + "/admin/indexes/start");
        var fresh = (
            await Server.SendAsync(
                "POST",
                Database + "/queries",
                $$"""{"Query":"{{ByCity}}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":15000}"""
            )
        ).Json;
        Assert.Equal(
            (false, 4),
            (fresh.GetProperty("IsStale").GetBoolean(), fresh.GetProperty("TotalResults").GetInt32())
        );
    }

    [Fact]
    public async Task A_group_index_is_widened_and_narrower_or_unused_ones_are_deleted()
    {
        await AskAsync("from Users group by city select city, count()");
        await WaitAsync();
        await AskAsync(ByCity);
        await WaitAsync();
        await AskAsync("from Users group by tags[] select key() as k, count() as n");
        await WaitAsync();
        Assert.Equal(
            [CountAndAge, "Auto/Users/ByCountReducedBycity", "Auto/Users/ByCountReducedBytags[]"],
            await NamesAsync()
        );
        // The index that the wider one replaces is deleted soon; the others stay as long as they are used.
        Time.Advance(TimeSpan.FromMinutes(2));
        await Server.Context.RetireIndexesAsync();
        Assert.Equal([CountAndAge, "Auto/Users/ByCountReducedBytags[]"], await NamesAsync());
        const string Count = "from Users group by city select city, count() as n";
        while (
            !string.Equals(
                (await AskAsync(Count, "?debug=explain")).GetProperty("IndexName").GetString(),
                CountAndAge,
                StringComparison.Ordinal
            )
        )
        {
            await Task.Delay(20);
        }

        // An index that no query used for three days is deleted.
        Time.Advance(TimeSpan.FromHours(71));
        await AskAsync(Count);
        Time.Advance(TimeSpan.FromHours(2));
        await Server.Context.RetireIndexesAsync();
        Assert.Equal([CountAndAge], await NamesAsync());
    }

    [Fact]
    public async Task A_scan_answers_if_a_document_does_not_fit_the_group_index()
    {
        await AskAsync("from Users group by tags[] select key() as k, count() as n");
        await WaitAsync();
        // A document in 3000 groups, more than an index allows.
        await PutAsync(1000, $"\"tags\":[{string.Join(',', Enumerable.Range(0, 3000))}]");
        var answer = await AskAsync("from Users group by tags[] select key() as k, count() as n limit 3000, 10");
        Assert.Equal(3003, answer.GetProperty("TotalResults").GetInt32());
        Assert.Equal(
            """[{"k":"a","n":300},{"k":"b0","n":150},{"k":"b1","n":150}]""",
            $"[{string.Join(',', answer.GetProperty("Results").EnumerateArray().Select(static group => $$"""{"k":{{group.GetProperty("k").GetRawText()}},"n":{{group.GetProperty("n")}}}"""))}"
                + $"]"
        );
        await WaitAsync();
        var explained = await AskAsync("from Users group by tags[] select key() as k, count() as n", "?debug=explain");
        Assert.Contains(
            "more groups or longer values",
            explained.GetProperty("Results").EnumerateArray().Last().GetProperty("Reason").GetString(),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_stream_is_read_from_an_index_of_groups()
    {
        await AskAsync(ByCity);
        await WaitAsync();
        var answer = await Server.SendAsync("POST", Database + "/streams/queries?format=jsonl", Body(ByCity));
        string[] lines = answer.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        using var statistics = JsonDocument.Parse(lines[0]);
        Assert.Equal(CountAndAge, statistics.RootElement.GetProperty("Stats").GetProperty("IndexName").GetString());
        // The statistics and three groups.
        Assert.Equal(4, lines.Length);
    }

    protected override string MembersOf(int number) =>
        FormattableString.Invariant($"\"age\":{number},\"city\":\"c{number % 3}\",\"tags\":[\"a\",\"b{number % 2}\"]");

    // Each group as "city count sum".
    private static string DescribeGroups(JsonElement answer) =>
        string.Join(
            ',',
            answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static group =>
                    $"{group.GetProperty("city").GetString()} {group.GetProperty("n")} {group.GetProperty("sum")}"
                )
        );
}
