using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries and streams by id, and invalid queries.</summary>
public sealed class QueryRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_collection_is_read_in_pages_with_its_total()
    {
        string db = await FillAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/queries?queryHash=1&addTimeSeriesNames=true",
            """{"Query":"from 'users' limit $p0, $p1","QueryParameters":{"p0":1,"p1":2},"WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:05"}"""
        );
        Assert.Equal(200, answer.Status);
        var result = answer.Json;
        Assert.Equal(["users/2", "users/3"], IdsOf(result));
        Assert.Equal(5, result.GetProperty("TotalResults").GetInt32());
        Assert.False(result.GetProperty("IsStale").GetBoolean());
        Assert.Equal("A", result.GetProperty("NodeTag").GetString());
        Assert.Equal("collection/users", result.GetProperty("IndexName").GetString());
        foreach (
            string member in (string[])
                [
                    "Includes",
                    "SkippedResults",
                    "DurationInMs",
                    "IndexTimestamp",
                    "LastQueryTime",
                    "ResultEtag",
                    "IncludedPaths",
                ]
        )
        {
            Assert.True(result.TryGetProperty(member, out _), member);
        }
    }

    [Fact]
    public async Task An_answer_has_IsScan_if_the_documents_were_scanned()
    {
        string db = await FillAsync();
        var scanned = await server.SendAsync("POST", db + "/queries", """{"Query":"from Users where nothing = 1"}""");
        Assert.True(scanned.Json.GetProperty("IsScan").GetBoolean());
        var walked = await server.SendAsync("POST", db + "/queries", """{"Query":"from Users"}""");
        Assert.False(walked.Json.TryGetProperty("IsScan", out _));
    }

    [Fact]
    public async Task An_answer_that_defined_its_index_is_not_sent_again()
    {
        string db = await FillAsync();
        const string Query = """{"Query":"from Users where unheard = 'of'"}""";
        string tag = (await server.SendAsync("POST", db + "/queries", Query)).Tag!;
        Assert.Single((await server.SendAsync("GET", db + "/indexes")).Json.GetProperty("Results").EnumerateArray());
        Assert.Equal(304, (await server.SendAsync("POST", db + "/queries", Query, ("If-None-Match", tag))).Status);
    }

    [Fact]
    public async Task A_query_of_a_collection_whose_name_is_too_long_is_refused_and_defines_no_index()
    {
        string db = await FillAsync();
        string body = $$"""{"Query":"from '{{new string('x', 2_000)}}' where name = 'a'"}""";
        for (int attempt = 0; attempt < 2; attempt++)
        {
            var refused = await server.SendAsync("POST", db + "/queries", body);
            Assert.Equal(400, refused.Status);
            Assert.Contains("The name of a collection has at most", refused.Body, StringComparison.Ordinal);
        }

        Assert.Empty((await server.SendAsync("GET", db + "/indexes")).Json.GetProperty("Results").EnumerateArray());
    }

    [Fact]
    public async Task An_unchanged_answer_is_not_sent_again_and_a_changed_one_is()
    {
        string db = await FillAsync();
        const string Query = """{"Query":"from Users"}""";
        string tag = (await server.SendAsync("POST", db + "/queries", Query)).Tag!;
        Assert.Equal(304, (await server.SendAsync("POST", db + "/queries", Query, ("If-None-Match", tag))).Status);
        Assert.Equal(
            200,
            (
                await server.SendAsync("POST", db + "/queries", """{"Query":"from Orders"}""", ("If-None-Match", tag))
            ).Status
        );
        await server.SendAsync("DELETE", db + "/docs?id=users/1");
        Assert.Equal(200, (await server.SendAsync("POST", db + "/queries", Query, ("If-None-Match", tag))).Status);
    }

    [Theory]
    [InlineData("from Users order by age")]
    [InlineData("from Users as u select { text: 'abcdefghij'.repeat(20000) }")]
    public async Task A_query_whose_memory_others_hold_is_refused_as_overload_and_answered_later(string query)
    {
        string db = await FillAsync();
        string body = $$"""{"Query":"{{query}}"}""";
        var memory = server.Context.QueryMemory;
        memory.Reserve(memory.LimitBytes);
        try
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(server.Address, db + "/queries"))
            {
                Content = new StringContent(body),
            };
            using var refused = await server.Http.SendAsync(request);
            Assert.Equal(429, (int)refused.StatusCode);
            Assert.Equal("1", refused.Headers.RetryAfter?.ToString());
            Assert.Contains(
                "Other requests, or work of the node such as building indexes, hold the memory",
                await refused.Content.ReadAsStringAsync(),
                StringComparison.Ordinal
            );
        }
        finally
        {
            memory.Release(memory.LimitBytes);
        }

        Assert.Equal(200, (await server.SendAsync("POST", db + "/queries", body)).Status);
    }

    public static TheoryData<string, string> BadQueries() =>
        new()
        {
            { """{"Query":"from Users where id() = $p","QueryParameters":{"p":"\ud800"} }""", "JSON" },
            { """{"Query":"from Users where id() in ($p)","QueryParameters":{"p":["\ud800x"]} }""", "JSON" },
            { """{"Query":"from Users"} {}""", "JSON" },
            { $$"""{"Query":"from Users where startsWith(id(), 'x{{new string('ä', 300)}}')"}""", "512" },
            { $$"""{"Query":"from '{{new string('ä', 300)}}'"}""", "512" },
        };

    [Theory]
    [MemberData(nameof(BadQueries))]
    public async Task A_malformed_query_is_refused(string body, string named)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(400, named);
        (await server.SendAsync("POST", db + "/streams/queries", body)).IsRefusal(400, named);
    }

    [Fact]
    public async Task A_query_of_many_ids_takes_linear_time()
    {
        string db = await FillAsync();
        string ids = string.Join(',', Enumerable.Range(0, 200_000).Select(i => $"\"none/{i}\"").Append("\"users/1\""));
        var answer = await server.SendAsync(
            "POST",
            db + "/queries",
            $$"""{"Query":"from Users where id() in ($p)","QueryParameters":{"p":[{{ids}}]} }"""
        );

        // Comparing each id with each other would take 2 × 10^10 comparisons, which would not end.
        Assert.Equal(["users/1"], IdsOf(answer.Json));
    }

    // The ids of the results, and the total.
    [Theory]
    [InlineData("from Users limit 0", "", 5)]
    [InlineData("from @all_docs limit 1", "users/1", 6)]
    [InlineData("from Nobody", "", 0)]
    [InlineData("from Users where id() = 'USERS/2'", "users/2", 1)]
    [InlineData("from Users where id() = 'orders/1'", "", 0)]
    [InlineData("from Users where id() in ('users/3', 'users/1', 'Users/3', 'none', '')", "users/1,users/3", 2)]
    [InlineData("from Users where id() in ('users/3', 'users/1') limit 1, 5", "users/3", 2)]
    [InlineData("from Users where startsWith(id(), 'users/') limit 3, 1", "users/4", 5)]
    [InlineData("from @all_docs where startsWith(id(), 'o')", "orders/1", 1)]
    public async Task Conditions_on_ids_need_no_index(string query, string ids, int total)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", JsonSerializer.Serialize(new { Query = query }));
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(ids, string.Join(',', IdsOf(answer.Json)));
        Assert.Equal(total, answer.Json.GetProperty("TotalResults").GetInt32());
    }

    [Fact]
    public async Task Includes_are_sent_with_the_results()
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", """{"Query":"from Orders include buyer"}""");
        Assert.Equal("users/3", Assert.Single(answer.Json.GetProperty("Includes").EnumerateObject().ToArray()).Name);
        Assert.Equal(
            "buyer",
            Assert.Single(answer.Json.GetProperty("IncludedPaths").EnumerateArray().ToArray()).GetString()
        );
    }

    [Theory]
    [InlineData(
        """{"Query":"from Users where spatial.within(a, spatial.circle(1, 2, 3))"}""",
        501,
        "'spatial.within()'"
    )]
    [InlineData("""{"Query":"from index 'A'"}""", 404, "There is no index")]
    [InlineData(
        """{"Query":"from Users where n > > 5"}""",
        400,
        "Line 1, column 22:\nfrom Users where n > > 5\n                     ^"
    )]
    [InlineData("""{"Query":"from Users where n = $p"}""", 400, "QueryParameters has no 'p'")]
    [InlineData("""{"Query":"from Users where id() = 5"}""", 400, "id is a text")]
    [InlineData("""{"Query":"from Users update { this.a = 1 }"}""", 400, "update")]
    [InlineData("""{"Query":"form Users"}""", 400, "from")]
    [InlineData("""{"Query":""}""", 400, "Query")]
    [InlineData("""{}""", 400, "Query")]
    [InlineData("""[]""", 400, "object")]
    [InlineData("""{"Query":"from Users","PageSize":-1}""", 400, "PageSize")]
    [InlineData("""{"Query":"from Users",""", 400, "JSON")]
    [InlineData("""{"Query":7}""", 400, "Query")]
    [InlineData("", 400, "")]
    public async Task Invalid_and_unsupported_queries_are_refused(string body, int status, string named)
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(status, named);
        (await server.SendAsync("POST", db + "/streams/queries?format=jsonl", body)).IsRefusal(status, named);
    }

    [Fact]
    public async Task Streams_are_lines_or_one_object()
    {
        string db = await FillAsync();
        string[] lines = (
            await server.SendAsync("GET", db + "/streams/docs?format=jsonl&startsWith=users%2F&")
        ).Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(5, lines.Length);
        Assert.Equal(
            "users/1",
            JsonDocument.Parse(lines[0]).RootElement.GetProperty("@metadata").GetProperty("@id").GetString()
        );
        Assert.Equal(
            ["users/2", "users/3"],
            IdsOf(
                (
                    await server.SendAsync("GET", db + "/streams/docs?format=json&startsWith=users/&start=1&pageSize=2")
                ).Json
            )
        );

        lines = (
            await server.SendAsync("POST", db + "/streams/queries?format=jsonl", """{"Query":"from Users"}""")
        ).Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(6, lines.Length);
        Assert.Equal(
            5,
            JsonDocument.Parse(lines[0]).RootElement.GetProperty("Stats").GetProperty("TotalResults").GetInt32()
        );
        Assert.Equal(
            "users/5",
            JsonDocument
                .Parse(lines[5])
                .RootElement.GetProperty("Item")
                .GetProperty("@metadata")
                .GetProperty("@id")
                .GetString()
        );

        string json = (
            await server.SendAsync("POST", db + "/streams/queries?format=json", """{"Query":"from Users limit 2"}""")
        ).Body;
        Assert.True(
            json.IndexOf("TotalResults", StringComparison.Ordinal)
                < json.IndexOf("Results\":[", StringComparison.Ordinal),
            "statistics come first"
        );
        Assert.Equal(["users/1", "users/2"], IdsOf(JsonDocument.Parse(json).RootElement));
        (await server.SendAsync("GET", db + "/streams/docs?format=csv")).IsRefusal(501, "csv");
    }

    [Fact]
    public async Task Long_answers_are_sent_completely_in_parts()
    {
        string db = await server.CreateDatabaseAsync();
        string text = new('x', 4000);
        for (int i = 0; i < 300; i += 100)
        {
            string commands = string.Join(
                ',',
                Enumerable
                    .Range(i, 100)
                    .Select(n =>
                        $$"""{"Id":"big/{{n:0000}}","Type":"PUT","Document":{"t":"{{text}}","@metadata":{"@collection":"Big"} } }"""
                    )
            );
            Assert.Equal(
                201,
                (await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""")).Status
            );
        }

        Assert.Equal(300, IdsOf((await server.SendAsync("GET", db + "/docs?startsWith=big/")).Json).Length);
        Assert.Equal(
            300,
            IdsOf((await server.SendAsync("POST", db + "/queries", """{"Query":"from Big"}""")).Json).Length
        );
        Assert.Equal(
            300,
            (await server.SendAsync("GET", db + "/streams/docs?format=jsonl&startsWith=big/"))
                .Body.Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Length
        );
    }

    private static string[] IdsOf(JsonElement result) =>
        result
            .GetProperty("Results")
            .EnumerateArray()
            .Select(item => item.GetProperty("@metadata").GetProperty("@id").GetString()!)
            .ToArray();

    // Creates a database with users/1 to users/5, and an order that refers to users/3.
    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        for (int i = 1; i <= 5; i++)
        {
            await server.SendAsync(
                "PUT",
                $"{db}/docs?id=users/{i}",
                $$"""{"n":{{i}},"@metadata":{"@collection":"Users"} }"""
            );
        }

        await server.SendAsync(
            "PUT",
            db + "/docs?id=orders/1",
            """{"buyer":"users/3","@metadata":{"@collection":"Orders"}}"""
        );
        return db;
    }
}
