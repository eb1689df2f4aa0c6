namespace Rookery.Server.Tests.Raven;

/// <summary>Queries that include counters.</summary>
public sealed class CounterIncludeTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Ann = """{"DocumentId":"users/1","CounterName":"Likes","TotalValue":5}""";
    private const string Views = """{"DocumentId":"users/1","CounterName":"views","TotalValue":2}""";
    private const string Shop = """{"DocumentId":"companies/1","CounterName":"likes","TotalValue":7}""";

    /// <summary>The part, the counters by document, and the names by document.</summary>
    public static TheoryData<string, string, string> Parts() =>
        new()
        {
            {
                "counters('Likes')",
                $$"""{"users/1":[{{Ann}}],"users/2":[null]}""",
                """{"users/1":["Likes"],"users/2":["Likes"]}"""
            },
            {
                "counters('LIKES', $views)",
                $$"""{"users/1":[{{Ann.Replace("Likes", "LIKES", StringComparison.Ordinal)}},{{Views}}],"users/2":[null,null]}""",
                """{"users/1":["LIKES","views"],"users/2":["LIKES","views"]}"""
            },
            {
                "counters($both)",
                $$"""{"users/1":[{{Ann}},{{Views}}],"users/2":[null,null]}""",
                """{"users/1":["Likes","views"],"users/2":["Likes","views"]}"""
            },
            { "counters()", $$"""{"users/1":[{{Ann}},{{Views}}],"users/2":[]}""", """{"users/1":[],"users/2":[]}""" },
            { "counters(u)", $$"""{"users/1":[{{Ann}},{{Views}}],"users/2":[]}""", """{"users/1":[],"users/2":[]}""" },
            {
                "counters(u, 'views')",
                $$"""{"users/1":[{{Views}}],"users/2":[null]}""",
                """{"users/1":["views"],"users/2":["views"]}"""
            },
            { "counters(u.company, 'likes')", $$"""{"companies/1":[{{Shop}}]}""", """{"companies/1":["likes"]}""" },
            { "counters(company)", $$"""{"companies/1":[{{Shop}}]}""", """{"companies/1":[]}""" },
            {
                "counters('Likes'), counters('likes', 'views'), counters(u.self, 'x')",
                $$"""{"users/1":[{{Ann}},{{Views}},null],"users/2":[null,null]}""",
                """{"users/1":["Likes","views","x"],"users/2":["Likes","views"]}"""
            },
            { "counters(u.missing, 'likes')", "{}", "{}" },
            {
                // Two names: the lower case of both is the letter itself.
                "counters('σ', 'ς')",
                """{"users/1":[null,null],"users/2":[null,null]}""",
                """{"users/1":["σ","ς"],"users/2":["σ","ς"]}"""
            },
        };

    [Theory]
    [MemberData(nameof(Parts))]
    public async Task A_query_includes_counters_of_results_and_of_documents_that_they_name(
        string part,
        string counters,
        string names
    )
    {
        string db = await StartAsync();
        foreach (string where in new[] { "", "where id() in ('users/1', 'users/2')", "where age > 0" })
        {
            var answer = await QueryAsync(db, $"from Users as u {where} include {part}");
            Assert.Equal(200, answer.Status);
            Assert.Equal(counters, answer.Json.GetProperty("CounterIncludes").GetRawText());
            Assert.Equal(names, answer.Json.GetProperty("IncludedCounterNames").GetRawText());
        }
    }

    [Fact]
    public async Task A_query_sent_again_shows_counters_that_were_incremented_meanwhile()
    {
        string db = await StartAsync();
        const string Query = "from Users where age > 0 include counters('likes')";
        var first = await QueryAsync(db, Query);
        await IncrementAsync(db, "users/1", "likes", 1);
        var second = await server.SendAsync(
            "POST",
            db + "/queries",
            $$"""{"Query":"{{Query}}"}""",
            headers: [("If-None-Match", first.Tag ?? "\"none\"")]
        );
        Assert.Equal(200, second.Status);
        Assert.Contains("\"TotalValue\":6", second.Body, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("from Users group by company include counters('likes')", 400, "A group has no counters")]
    [InlineData("from Users as u load u.company as c include counters(c)", 501, "'c'")]
    [InlineData("from Users include counters(1)", 400, "'counters()' needs a text.")]
    [InlineData("from Users include counters(company, age)", 400, "'age'")]
    [InlineData("from Users include counters('likes'", 400, ")")]
    public async Task Counters_that_cannot_be_included_are_refused(string query, int status, string text) =>
        (await QueryAsync(await StartAsync(), query)).IsRefusal(status, text);

    private async Task<string> StartAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "companies/1", "Companies", "\"name\":\"Shop\"");
        await PutAsync(db, "users/1", "Users", "\"age\":1,\"company\":\"companies/1\",\"self\":\"users/1\"");
        await IncrementAsync(db, "users/1", "Likes", 5);
        await IncrementAsync(db, "users/1", "views", 2);
        await IncrementAsync(db, "companies/1", "likes", 7);
        // The last, because a new counter gives its document a new etag, by which results are ordered.
        await PutAsync(db, "users/2", "Users", "\"age\":2,\"company\":\"companies/9\"");
        return db;
    }

    private async Task PutAsync(string db, string id, string collection, string members) =>
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "PUT",
                    $"{db}/docs?id={id}",
                    $$"""{ {{members}},"@metadata":{"@collection":"{{collection}}"} }"""
                )
            ).Status
        );

    private async Task IncrementAsync(string db, string id, string name, int delta) =>
        Assert.Equal(
            200,
            (
                await server.SendAsync(
                    "POST",
                    db + "/counters",
                    $$"""
                    {"Documents":[{"DocumentId":"{{id}}","Operations":[
                      {"Type":"Increment","CounterName":"{{name}}","Delta":{{delta}} }]}]}
                    """
                )
            ).Status
        );

    private Task<Answer> QueryAsync(string db, string query) =>
        server.SendAsync(
            "POST",
            db + "/queries",
            $$"""{"Query":"{{query}}","QueryParameters":{"views":"views","both":["Likes","views"]} }"""
        );
}
