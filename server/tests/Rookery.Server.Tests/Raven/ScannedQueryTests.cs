using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries that scan documents, over HTTP.</summary>
public sealed class ScannedQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    // The ids of the results, the total, and the name of the index that would answer the query.
    [Theory]
    [InlineData("from Users where name = 'ANN'", "users/1", 1, "Auto/Users/Byname")]
    [InlineData("from Users where exact(name = 'ANN')", "", 0, "Auto/Users/ByExact(name)")]
    [InlineData("from Users where age > 20 and city = 'ulm'", "users/1", 1, "Auto/Users/ByageAndcity")]
    [InlineData(
        "from Users where address.street = 'x' or tags[] = 'b'",
        "users/2",
        1,
        "Auto/Users/Byaddress_streetAndtags"
    )]
    [InlineData("from @all_docs where exists(buyer)", "orders/1", 1, "Auto/AllDocs/Bybuyer")]
    [InlineData("from Users order by age as long desc", "users/1,users/3,users/2", 3, "Auto/Users/Byage")]
    [InlineData("from Users order by age limit 1, 1", "users/3", 3, "Auto/Users/Byage")]
    [InlineData("from Users where age > 0 limit 1, 1", "users/2", 3, "Auto/Users/Byage")]
    [InlineData("from Users where age > 0 limit 0", "", 3, "Auto/Users/Byage")]
    [InlineData("from Users where age > 0 filter city = 'Ulm'", "users/1,users/2", 2, "Auto/Users/Byage")]
    [InlineData("from Users where age > 0 filter city = 'Bonn' filter_limit 2", "", 0, "Auto/Users/Byage")]
    [InlineData(
        "from Users where id() in ('users/3', 'users/1', 'orders/1') and age > 0 order by name",
        "users/1,users/3",
        2,
        "Auto/Users/ByageAndname"
    )]
    [InlineData(
        "from Users where startsWith(id(), 'users/') and city = 'Ulm'",
        "users/1,users/2",
        2,
        "Auto/Users/Bycity"
    )]
    [InlineData("from Nobody where a = 1", "", 0, "Auto/Nobody/Bya")]
    public async Task Matching_documents_are_found(string query, string ids, int total, string index)
    {
        string db = await FillAsync();
        var answer = await QueryAsync(db, query);
        Assert.Equal(ids, string.Join(',', ResultsOf(answer).Select(IdOf)));
        Assert.Equal(total, answer.GetProperty("TotalResults").GetInt32());
        Assert.Equal(index, answer.GetProperty("IndexName").GetString());
        Assert.False(answer.GetProperty("IsStale").GetBoolean());

        var streamed = await server.SendAsync("POST", db + "/streams/queries?format=jsonl", BodyOf(query));
        string[] lines = streamed.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(
            total,
            JsonDocument.Parse(lines[0]).RootElement.GetProperty("Stats").GetProperty("TotalResults").GetInt32()
        );
        Assert.Equal(
            ids,
            string.Join(
                ',',
                lines.Skip(1).Select(line => IdOf(JsonDocument.Parse(line).RootElement.GetProperty("Item")))
            )
        );
    }

    [Theory]
    [InlineData(
        "from Users where name = 'ann' select name, age as years",
        """{"name":"Ann","years":31,"@metadata":{"@projection":true,"@id":"users/1"}}"""
    )]
    [InlineData(
        "from Users order by name select address.street, missing limit 1",
        """{"address.street":"s","missing":null,"@metadata":{"@projection":true,"@id":"users/1"}}"""
    )]
    [InlineData(
        "from Users group by city order by city select city, count() as n, sum(age) as sum",
        """{"city":"Bonn","n":1,"sum":20,"@metadata":{"@projection":true}},{"city":"Ulm","n":2,"sum":38,"@metadata":{"@projection":true}}"""
    )]
    [InlineData(
        "from Users order by city select distinct city",
        """{"city":"Bonn","@metadata":{"@projection":true,"@id":"users/3"}},{"city":"Ulm","@metadata":{"@projection":true,"@id":"users/1"}}"""
    )]
    [InlineData(
        "from Users where age > 0 and city = 'Bonn' select score() as s",
        """{"s":2,"@metadata":{"@projection":true,"@id":"users/3","@index-score":2}}"""
    )]
    [InlineData(
        "from Users group by city where count() > 1 select city",
        """{"city":"Ulm","@metadata":{"@projection":true}}"""
    )]
    public async Task Selections_and_groups_are_projections(string query, string results)
    {
        string db = await FillAsync();
        Assert.Equal($"[{results}]", (await QueryAsync(db, query)).GetProperty("Results").GetRawText());
        Assert.EndsWith(
            $"\"Results\":[{results}]}}",
            (await server.SendAsync("POST", db + "/streams/queries", BodyOf(query))).Body,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("from Orders group by buyer select buyer as b, count() include b")]
    [InlineData("from Orders group by buyer include buyer")]
    [InlineData("from Orders as o load o.buyer as u select u.name include u")]
    [InlineData("from Orders as o load o.buyer as buyer select buyer.name include o.buyer")]
    public async Task Includes_follow_groups_and_loaded_documents(string query)
    {
        string db = await FillAsync();
        var included = (await QueryAsync(db, query)).GetProperty("Includes");
        Assert.Equal("users/3", Assert.Single(included.EnumerateObject().ToArray()).Name);
    }

    [Theory]
    [InlineData("from Users select name")]
    [InlineData("from Users as u select { n: u.name }")]
    [InlineData("from Users group by city")]
    [InlineData("from Users select facet(city)")]
    public async Task Metadata_only_is_refused_for_projections(string query)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries?metadataOnly=true", BodyOf(query));
        answer.IsRefusal(501, "'metadataOnly'");
    }

    [Theory]
    [InlineData("""{"Query":"from Users include timings()"}""", "timings()")]
    [InlineData("""{"Query":"from Users","IncludeTimings":true}""", "IncludeTimings")]
    [InlineData("""{"Query":"from Users include friend"}""", "'include'")]
    public async Task Streams_refuse_includes_and_timings(string body, string named)
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/streams/queries", body)).IsRefusal(501, named);
    }

    [Fact]
    public async Task Includes_follow_the_results()
    {
        string db = await FillAsync();
        foreach (
            string query in (string[])
                ["from Orders where total > 1 include buyer", "from Orders order by total select total include buyer"]
        )
        {
            Assert.Equal(
                "users/3",
                Assert.Single((await QueryAsync(db, query)).GetProperty("Includes").EnumerateObject().ToArray()).Name
            );
        }

        Assert.Empty(
            (await QueryAsync(db, "from Orders where total > 100 include buyer"))
                .GetProperty("Includes")
                .EnumerateObject()
                .ToArray()
        );
    }

    [Fact]
    public async Task Metadata_only_returns_metadata_only()
    {
        string db = await FillAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/queries?metadataOnly=true",
            BodyOf("from Users where name = 'ann'")
        );
        Assert.Equal(
            "@metadata",
            Assert.Single(Assert.Single(ResultsOf(answer.Json)).EnumerateObject().ToArray()).Name
        );
    }

    [Fact]
    public async Task An_unchanged_answer_is_not_sent_again_unless_it_is_shuffled()
    {
        string db = await FillAsync();
        string query = BodyOf("from Users where id() in ('users/1', 'users/2') order by name");
        string tag = (await server.SendAsync("POST", db + "/queries", query)).Tag!;
        Assert.Equal(304, (await server.SendAsync("POST", db + "/queries", query, ("If-None-Match", tag))).Status);
        Assert.Null((await server.SendAsync("POST", db + "/queries", BodyOf("from Users order by random()"))).Tag);
        Assert.NotNull(
            (await server.SendAsync("POST", db + "/queries", BodyOf("from Users order by random('x')"))).Tag
        );
    }

    [Fact]
    public async Task Start_and_page_size_mean_the_same_as_limit()
    {
        string db = await FillAsync();
        Assert.Equal(
            ["users/3"],
            IdsOf(
                await server.SendAsync(
                    "POST",
                    db + "/queries",
                    """{"Query":"from Users order by age limit 1, 5","Start":1,"PageSize":1}"""
                )
            )
        );
        Assert.Equal(
            ["users/3", "users/1"],
            IdsOf(await server.SendAsync("POST", db + "/queries", """{"Query":"from Users order by age","Start":1}"""))
        );
        Assert.Equal(
            ["users/2"],
            IdsOf(await server.SendAsync("POST", db + "/queries", """{"Query":"from Users","Start":1,"PageSize":1}"""))
        );
    }

    [Fact]
    public async Task Answers_of_any_length_are_complete()
    {
        string db = await server.CreateDatabaseAsync();
        await FillAsync(
            db,
            3000,
            i =>
                $$"""{"n":{{i % 1000}},"even":{{(i % 2 == 0 ? "true" : "false")}},"text":"{{new string('x', 500)}}","@metadata":{"@collection":"Items"} }"""
        );
        var even = await QueryAsync(db, "from Items where even = true");
        Assert.Equal(Enumerable.Range(0, 1500).Select(i => $"items/{2 * i:0000}"), ResultsOf(even).Select(IdOf));
        var sorted = await QueryAsync(db, "from Items where even = true order by n as long desc");
        Assert.Equal(
            Enumerable.Range(0, 1500).Select(i => 998 - (i / 3 * 2)),
            ResultsOf(sorted).Select(item => item.GetProperty("n").GetInt32())
        );
        Assert.Equal(1000, ResultsOf(await QueryAsync(db, "from Items group by n select n, count() as c")).Length);
        var lines = (
            await server.SendAsync(
                "POST",
                db + "/streams/queries?format=jsonl",
                BodyOf("from Items where even = false")
            )
        ).Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(1501, lines.Length);
    }

    [Fact]
    public async Task An_answer_that_fails_after_its_start_is_cut_off()
    {
        string db = await server.CreateDatabaseAsync();
        // The last document is so large that its result exceeds the limit, after the answer has begun.
        await FillAsync(
            db,
            200,
            i =>
                $$"""{"n":{{i}},"text":"{{new string('x', i == 199 ? 300_000 : 4000)}}","@metadata":{"@collection":"Items"} }"""
        );
        const string Query = "from Items where n >= 0 select text as a, text as b, text as c, text as d, text as e";
        await Assert.ThrowsAnyAsync<HttpRequestException>(() =>
            server.SendAsync("POST", db + "/streams/queries?format=jsonl", BodyOf(Query))
        );
        await Assert.ThrowsAnyAsync<HttpRequestException>(() =>
            server.SendAsync("POST", db + "/queries", BodyOf(Query))
        );
        (
            await server.SendAsync(
                "POST",
                db + "/queries",
                BodyOf(Query.Replace(">= 0", "= 199", StringComparison.Ordinal))
            )
        ).IsRefusal(400, "twice as large");
    }

    [Fact]
    public async Task A_query_that_needs_too_much_memory_is_refused_and_releases_it()
    {
        // Orders, groups and distinct values of 16,000 documents take more than a node of 16 MiB gives a query.
        var small = new RunningServer { Memory = new MemoryBudget(16 << 20) };
        await small.InitializeAsync();
        try
        {
            string db = await small.CreateDatabaseAsync();
            for (int chunk = 0; chunk < 16; chunk++)
            {
                string commands = string.Join(
                    ',',
                    Enumerable
                        .Range(chunk * 1000, 1000)
                        .Select(i =>
                            $$"""{"Id":"items/{{i}}","Type":"PUT","Document":{"n":{{i}},"m":{{i % 7}},"@metadata":{"@collection":"Items"} } }"""
                        )
                );
                Assert.Equal(
                    201,
                    (await small.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""")).Status
                );
            }

            for (int round = 0; round < 3; round++)
            {
                foreach (
                    string query in (string[])
                        [
                            "from Items order by n",
                            "from Items group by n select n",
                            "from Items order by n select distinct n",
                        ]
                )
                {
                    (await small.SendAsync("POST", db + "/queries", BodyOf(query + " /* */"))).IsRefusal(400, "memory");
                }
            }

            Assert.Equal(
                10,
                ResultsOf(
                    (await small.SendAsync("POST", db + "/queries", BodyOf("from Items order by n desc limit 10"))).Json
                ).Length
            );
            Assert.Equal(
                7,
                ResultsOf(
                    (await small.SendAsync("POST", db + "/queries", BodyOf("from Items group by m select m"))).Json
                ).Length
            );
        }
        finally
        {
            await small.DisposeAsync();
        }
    }

    [Fact]
    public async Task Long_texts_and_lists_are_bounded()
    {
        string db = await FillAsync();
        string terms = string.Join(',', Enumerable.Range(0, 10_000));
        Assert.Equal(
            ["users/3"],
            (await QueryAsync(db, $"from Users where age in ({terms}) and city = 'Bonn'"))
                .GetProperty("Results")
                .EnumerateArray()
                .Select(IdOf)
        );
        (await server.SendAsync("POST", db + "/queries", BodyOf($"from Users where age in ({terms}, 1)"))).IsRefusal(
            400,
            "10000"
        );
        (
            await server.SendAsync(
                "POST",
                db + "/queries",
                BodyOf("from Users where " + string.Join(" or ", Enumerable.Repeat("a = 1", 40_000)))
            )
        ).IsRefusal(400, "262144");
        (
            await server.SendAsync("POST", db + "/queries", BodyOf("from Users where " + new string('(', 5000)))
        ).IsRefusal(400, "128");
    }

    [Fact]
    public async Task An_invalid_query_in_a_multi_get_fails_alone()
    {
        string db = await FillAsync();
        string requests = string.Join(
            ',',
            (
                (string[])["from Users where age > 20", "from Users where age >", "from Users order by age limit 1"]
            ).Select(query =>
                $$"""{"Url":"{{db}}/queries","Query":"?queryHash=1","Method":"POST","Headers":{},"Content":{{JsonSerializer.Serialize(BodyOf(query))}} }"""
            )
        );
        var parts = ResultsOf(
            (await server.SendAsync("POST", db + "/multi_get", $$"""{"Requests":[{{requests}}]}""")).Json
        );
        Assert.Equal([200, 400, 200], parts.Select(part => part.GetProperty("StatusCode").GetInt32()));
        Assert.Equal("users/2", IdOf(Assert.Single(ResultsOf(parts[2].GetProperty("Result")))));
    }

    private static JsonElement[] ResultsOf(JsonElement answer) => [.. answer.GetProperty("Results").EnumerateArray()];

    private static string[] IdsOf(Answer answer) => [.. ResultsOf(answer.Json).Select(IdOf)];

    private static string IdOf(JsonElement result) => result.GetProperty("@metadata").GetProperty("@id").GetString()!;

    private static string BodyOf(string query) => JsonSerializer.Serialize(new { Query = query });

    private async Task<JsonElement> QueryAsync(string db, string query)
    {
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query));
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json;
    }

    // Puts documents items/0000 and so on.
    private async Task FillAsync(string db, int count, Func<int, string> document)
    {
        for (int start = 0; start < count; start += 500)
        {
            string commands = string.Join(
                ',',
                Enumerable
                    .Range(start, Math.Min(500, count - start))
                    .Select(i => $$"""{"Id":"items/{{i:0000}}","Type":"PUT","Document":{{document(i)}} }""")
            );
            Assert.Equal(
                201,
                (await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""")).Status
            );
        }
    }

    // Creates a database with three users and an order.
    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Id, string Json)[] documents =
        [
            (
                "users/1",
                """{"name":"Ann","age":31,"city":"Ulm","address":{"street":"s"},"@metadata":{"@collection":"Users"}}"""
            ),
            ("users/2", """{"name":"Bob","age":7,"city":"Ulm","tags":["a","b"],"@metadata":{"@collection":"Users"}}"""),
            ("users/3", """{"name":"Cid","age":20,"city":"Bonn","@metadata":{"@collection":"Users"}}"""),
            ("orders/1", """{"buyer":"users/3","total":5,"@metadata":{"@collection":"Orders"}}"""),
        ];
        foreach ((string id, string json) in documents)
        {
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", json)).Status);
        }

        return db;
    }
}
