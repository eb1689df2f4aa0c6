using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Counters as members of results, and what scripts of selections include.</summary>
public sealed class CounterSelectionTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData(
        "from Users select counter('Likes'), name",
        """{"Likes":9007199254740993,"name":"Ann"},{"Likes":null,"name":"Bob"}"""
    )]
    [InlineData("from Users as u select counter(u, $name) as n", """{"n":9007199254740993},{"n":null}""")]
    [InlineData(
        "from Users where age > 0 order by age select id() as id, counter('likes')",
        """{"id":"users/1","likes":9007199254740993},{"id":"users/2","likes":null}"""
    )]
    [InlineData("from Users filter age > 1 select counter('likes')", """{"likes":null}""")]
    [InlineData(
        "from index 'Names' select stored, counter('likes')",
        """{"stored":"ann","likes":9007199254740993},{"stored":"bob","likes":null}"""
    )]
    [InlineData(
        "from Users as u load u.company as c select u.name as n, counter(c, 'Visits') as v, counter(u, $name) as l",
        """{"n":"Ann","v":7,"l":9007199254740993},{"n":"Bob","v":null,"l":null}"""
    )]
    [InlineData(
        "from Users as u select { n: counter(u, 'likes'), of: counter(u.company, 'visits'), all: counterRaw(u, 'LIKES') }",
        """{"n":9007199254740993,"of":7,"all":{"Total":9007199254740993}},{"n":null,"of":null,"all":null}"""
    )]
    [InlineData(
        "from Users as u select { names: counterNamesFor(u), none: counterNamesFor(load('x')) }",
        """{"names":["Likes"],"none":[]},{"names":[],"none":[]}"""
    )]
    [InlineData(
        "declare function f(u, p) { return { n: counter(u, p) + 1 - 1 } } from Users as u where age = 2 select f(u, 'a')",
        """{"n":0}"""
    )]
    public async Task Counters_of_results_and_of_other_documents_are_selected(string query, string results)
    {
        string db = await FillAsync();
        var answer = await QueryAsync(db, query);
        Assert.True(answer.Status == 200, answer.Body);
        Assert.Equal(results, ResultsOf(answer.Json));
        var streamed = await server.SendAsync("POST", db + "/streams/queries?format=jsonl", BodyOf(query));
        Assert.Equal(200, streamed.Status);
        Assert.Equal(
            results.Contains("9007", StringComparison.Ordinal),
            streamed.Body.Contains("9007199254740993", StringComparison.Ordinal)
        );
    }

    [Fact]
    public async Task A_query_sent_again_selects_counters_that_were_incremented_meanwhile()
    {
        string db = await FillAsync();
        foreach (string query in (string[])["from Users select counter('n')", "from index 'Names' select counter('n')"])
        {
            var first = await QueryAsync(db, query);
            await IncrementAsync(db, "users/2", "n", 1);
            var second = await server.SendAsync(
                "POST",
                db + "/queries",
                BodyOf(query),
                headers: [("If-None-Match", first.Tag ?? "\"none\"")]
            );
            Assert.Equal(200, second.Status);
            Assert.NotEqual(ResultsOf(first.Json), ResultsOf(second.Json));
        }
    }

    [Fact]
    public async Task Scripts_include_documents_and_compare_exchange_values()
    {
        string db = await FillAsync();
        await server.SendAsync("PUT", $"{db}/cmpxchg?key=ann&index=0", """{"Object":5}""");
        const string Query =
            "declare function f(u) { includes.document([u.company, null, 'none']); includes.cmpxchg(u.name); return u } "
            + "from Users as u select f(u)";
        var answer = (await QueryAsync(db, Query)).Json;
        Assert.Equal(["companies/1"], NamesOf(answer.GetProperty("Includes")));
        var values = answer.GetProperty("CompareExchangeValueIncludes");
        Assert.Equal(["Ann", "Bob"], NamesOf(values));
        Assert.Equal(5, values.GetProperty("Ann").GetProperty("Value").GetProperty("Object").GetInt32());
        Assert.Equal(-1, values.GetProperty("Bob").GetProperty("Index").GetInt32());
        (await server.SendAsync("POST", db + "/streams/queries", BodyOf(Query))).IsRefusal(501, "includes");
    }

    [Theory]
    [InlineData("from Users group by company select counter('likes')", 400, "no counters")]
    [InlineData("from index 'Sums' select counter('likes')", 400, "no counters")]
    [InlineData("from index 'Sums' include counters('likes')", 400, "A reduced row has no counters")]
    [InlineData("from Users select distinct counter('likes')", 501, "counter()")]
    [InlineData("from Users as u select counter(u.company, 'likes')", 501, "counter(company, …)")]
    [InlineData("from Users as u select counter(x, 'likes')", 501, "counter(x, …)")]
    [InlineData("from Users as u select counter($name)", 400, "'as'")]
    [InlineData("from Users as u select counter(5) as n", 400, "needs a text")]
    [InlineData("from Users select counter()", 400, "alias or the name of a counter")]
    [InlineData("from Users as u select { n: counter(u, 5) }", 400, "a name that is no text")]
    [InlineData("from Users as u select { n: counter({}, 'likes') }", 400, "no document and no id")]
    [InlineData("from Users as u select { n: counter(u) }", 501, "'counter' with one argument")]
    [InlineData("from Users as u select { n: $many.map(i => counter('users/' + i, 'x')) }", 400, "more than 256")]
    [InlineData("from Users as u select { n: $many.map(i => includes.document('users/' + i)) }", 400, "more than 256")]
    public async Task Counters_that_cannot_be_selected_or_included_are_refused(string query, int status, string text) =>
        (await QueryAsync(await FillAsync(), query)).IsRefusal(status, text);

    [Theory]
    [InlineData("this.n = counterRaw(this, 'likes')", "counterRaw")]
    [InlineData("includes.cmpxchg('a')", "includes.cmpxchg")]
    public async Task Patches_and_indexes_do_not_read_the_answer_of_a_query(string script, string function)
    {
        string db = await FillAsync();
        (
            await server.SendAsync(
                "PATCH",
                db + "/docs?id=users/1",
                JsonSerializer.Serialize(new { Patch = new { Script = script } })
            )
        ).IsRefusal(501, $"'{function}'");
    }

    private static string[] NamesOf(JsonElement value) =>
        [.. value.EnumerateObject().Select(static member => member.Name)];

    private static string ResultsOf(JsonElement answer) =>
        string.Join(
            ',',
            answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static result =>
                    JsonSerializer.Serialize(
                        result
                            .EnumerateObject()
                            .Where(static member => member.Name is not "@metadata")
                            .ToDictionary(static member => member.Name, static member => member.Value)
                    )
                )
        );

    private static string BodyOf(string query) =>
        JsonSerializer.Serialize(
            new
            {
                Query = query,
                QueryParameters = new { name = "likes", many = Enumerable.Range(0, 300) },
                WaitForNonStaleResults = true,
            }
        );

    private Task<Answer> QueryAsync(string db, string query) =>
        server.SendAsync("POST", db + "/queries", BodyOf(query));

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Id, string Json)[] documents =
        [
            ("companies/1", """{"@metadata":{"@collection":"Companies"}}"""),
            ("users/1", """{"name":"Ann","age":1,"company":"companies/1","@metadata":{"@collection":"Users"}}"""),
            ("users/2", """{"name":"Bob","age":2,"@metadata":{"@collection":"Users"}}"""),
        ];
        foreach (var (id, json) in documents)
        {
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", json)).Status);
            if (id is not "users/2")
            {
                await IncrementAsync(
                    db,
                    id,
                    id is "users/1" ? "Likes" : "visits",
                    id is "users/1" ? (1L << 53) + 1 : 7
                );
            }
        }

        const string Indexes = """
            {"Indexes":[
              {"Name":"Names","Maps":["map('Users', u => ({ stored: u.name.toLowerCase(), age: u.age }))"],
                "Fields":{"stored":{"Storage":"Yes"}}},
              {"Name":"Sums","Maps":["map('Users', u => ({ age: u.age, n: 1 }))"],
                "Reduce":"groupBy(r => r.age).aggregate(g => ({ age: g.key, n: g.values.reduce((n, v) => n + v.n, 0) }))"}]}
            """;
        var defined = await server.SendAsync("PUT", db + "/admin/indexes", Indexes);
        Assert.True(defined.Status == 201, defined.Body);
        return db;
    }

    private async Task IncrementAsync(string db, string id, string name, long delta)
    {
        string body = $$"""
            {"Documents":[{"DocumentId":"{{id}}","Operations":[
              {"Type":"Increment","CounterName":"{{name}}","Delta":{{delta}} }]}]}
            """;
        Assert.Equal(200, (await server.SendAsync("POST", db + "/counters", body)).Status);
    }
}
