using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>The request option that decides where a projection reads its fields.</summary>
public sealed class ProjectionBehaviorTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Metadata = "\"@metadata\":{\"@projection\":true,\"@id\":\"users/1\"}";
    private const string Map =
        """{"Name":"Users","Maps":["from u in docs.Users select new { name = u.name + \"!\", city = u.city, full = u.name + u.city }"],"Fields":{"name":{"Storage":"Yes"},"full":{"Storage":"Yes"}}}""";
    private const string Reduce =
        """{"Name":"Cities","Maps":["from u in docs.Users select new { u.city, n = 1 }"],"Reduce":"from r in results group r by r.city into g select new { city = g.Key, n = g.Sum(x => x.n) }"}""";

    // In the index 'Users', name is stored as Ann! and full is stored but in no document; city is not stored; zip is in
    // neither. Each case has the behavior, the selected fields, and the members of the result.
    [Theory]
    [InlineData(
        "Default",
        "name, full, city, zip",
        "\"name\":\"Ann!\",\"full\":\"AnnUlm\",\"city\":\"Ulm\",\"zip\":null,"
    )]
    [InlineData("FromIndex", "name, full, city, zip", "\"name\":\"Ann!\",\"full\":\"AnnUlm\",")]
    [InlineData("FromIndex", "city", "")]
    [InlineData("FromIndexOrThrow", "name, full", "\"name\":\"Ann!\",\"full\":\"AnnUlm\",")]
    [InlineData("FromDocument", "name, full, city, zip", "\"name\":\"Ann\",\"city\":\"Ulm\",")]
    [InlineData(
        "FromDocumentOrThrow",
        "name, city, lines[].p",
        "\"name\":\"Ann\",\"city\":\"Ulm\",\"lines[].p\":[1,null],"
    )]
    [InlineData(
        "fromDocumentOrThrow",
        "id() as i, 1 as one, @metadata.@nothing as m",
        "\"i\":\"users/1\",\"one\":1,\"m\":null,"
    )]
    public async Task A_projection_from_a_static_index_obeys_the_projection_behavior(
        string behavior,
        string select,
        string members
    )
    {
        string db = await FillAsync();
        foreach (string route in (string[])["queries", "streams/queries"])
        {
            var answer = await server.SendAsync(
                "POST",
                $"{db}/{route}",
                BodyOf($"from index 'Users' select {select}", behavior)
            );
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal($"[{{{members}{Metadata}}}]", answer.Json.GetProperty("Results").GetRawText());
        }
    }

    [Theory]
    [InlineData("Default", "\"name\":\"Ann\",\"zip\":null,")]
    [InlineData("FromIndex", "")]
    [InlineData("FromDocument", "\"name\":\"Ann\",")]
    public async Task A_collection_query_has_no_stored_fields(string behavior, string members)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/queries",
            BodyOf("from Users where city = 'Ulm' select name, zip", behavior)
        );
        Assert.Equal($"[{{{members}{Metadata}}}]", answer.Json.GetProperty("Results").GetRawText());
    }

    [Theory]
    [InlineData("from index 'Cities' select city, n, missing", "FromIndex", 400, "has no field 'missing'")]
    [InlineData("from index 'Users' select name, city", "FromIndexOrThrow", 400, "does not store 'city'")]
    [InlineData("from Users select name", "FromIndexOrThrow", 400, "'name'")]
    [InlineData(
        "from index 'Users' select name, full",
        "FromDocumentOrThrow",
        400,
        "'full' is missing in the document 'users/1'"
    )]
    [InlineData("from Users select zip", "FromDocumentOrThrow", 400, "'zip' is missing in the document 'users/1'")]
    [InlineData("from index 'Cities' select city", "FromDocument", 501, "FromDocument")]
    [InlineData("from index 'Cities' select n", "FromDocumentOrThrow", 501, "FromDocumentOrThrow")]
    [InlineData("from Users group by city select city", "FromDocument", 501, "FromDocument")]
    [InlineData("from index 'Users' as u select { name: u.name }", "FromIndex", 501, "FromIndex")]
    [InlineData("from Users as u select { zip: u.zip }", "FromDocumentOrThrow", 501, "FromDocumentOrThrow")]
    [InlineData("from Users as u load u.boss as b select b.name", "FromIndexOrThrow", 501, "FromIndexOrThrow")]
    [InlineData("from Users select name", "FromNowhere", 400, "FromDocumentOrThrow")]
    [InlineData("from Users select name", "3", 400, "ProjectionBehavior")]
    public async Task Fields_that_the_projection_behavior_cannot_read_are_refused(
        string query,
        string behavior,
        int status,
        string named
    )
    {
        string db = await FillAsync();
        (await server.SendAsync("POST", db + "/queries", BodyOf(query, behavior))).IsRefusal(status, named);
    }

    [Theory]
    [InlineData("from index 'Cities' select city, n", "FromIndex")]
    [InlineData("from index 'Cities' select city, n", "FromIndexOrThrow")]
    [InlineData("from Users group by city select city, count() as n", "FromIndexOrThrow")]
    public async Task Reduced_rows_and_groups_come_from_the_index(string query, string behavior)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query, behavior));
        Assert.Equal(
            "[{\"city\":\"Ulm\",\"n\":1,\"@metadata\":{\"@projection\":true}}]",
            answer.Json.GetProperty("Results").GetRawText()
        );
    }

    [Fact]
    public async Task Whole_documents_ignore_the_projection_behavior()
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf("from index 'Users'", "FromIndexOrThrow"));
        Assert.Equal(
            "Ann",
            Assert.Single(answer.Json.GetProperty("Results").EnumerateArray()).GetProperty("name").GetString()
        );
    }

    private static string BodyOf(string query, string behavior) =>
        JsonSerializer.Serialize(new { Query = query, ProjectionBehavior = behavior });

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "PUT",
                    db + "/docs?id=users/1",
                    """{"name":"Ann","city":"Ulm","lines":[{"p":1},{}],"@metadata":{"@collection":"Users"} }"""
                )
            ).Status
        );
        var stored = await server.SendAsync("PUT", db + "/admin/indexes", $$"""{"Indexes":[{{Map}},{{Reduce}}]}""");
        Assert.True(stored.Status == 201, stored.Body);
        while (
            (await server.SendAsync("GET", db + "/stats"))
                .Json.GetProperty("Indexes")
                .EnumerateArray()
                .Any(static index => index.GetProperty("IsStale").GetBoolean())
        )
        {
            await Task.Delay(20);
        }

        return db;
    }
}
