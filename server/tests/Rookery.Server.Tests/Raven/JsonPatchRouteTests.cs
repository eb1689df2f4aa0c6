namespace Rookery.Server.Tests.Raven;

/// <summary>
/// JSON Patches (RFC 6902): in batches and envelopes, as RavenDB's clients send them, and in the RFC's form.
/// </summary>
public sealed class JsonPatchRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    // The batch that the newest clients for C#, Python and Node.js send for the patches of a session.
    private const string SessionPatch = """
        {"Commands":[{"Id":"users/1","ChangeVector":null,"JsonPatch":{"Operations":[
          {"op":"replace","path":"/name","value":"Updated"},{"op":"add","path":"/tags/-","value":"c"},
          {"op":"remove","path":"/settings/lang"}]},"ReturnDocument":true,"Type":"JsonPatch"}]}
        """;

    [Fact]
    public async Task A_batch_answers_a_json_patch_with_its_type_and_the_document()
    {
        string db = await CreateAsync();
        var answer = await server.SendAsync("POST", db + "/bulk_docs", SessionPatch);
        Assert.Equal(201, answer.Status);
        var result = answer.Json.GetProperty("Results")[0];
        Assert.Equal("JsonPatch", result.GetProperty("Type").GetString());
        Assert.Equal("users/1", result.GetProperty("Id").GetString());
        Assert.Equal("Patched", result.GetProperty("PatchStatus").GetString());
        Assert.Matches(@"^A:\d+-\S{22}$", result.GetProperty("ChangeVector").GetString());
        Assert.EndsWith("Z", result.GetProperty("LastModified").GetString(), StringComparison.Ordinal);
        var document = result.GetProperty("ModifiedDocument");
        Assert.Equal("Updated", document.GetProperty("name").GetString());
        Assert.Equal("""["a","c"]""", document.GetProperty("tags").GetRawText());
        Assert.Equal("{}", document.GetProperty("settings").GetRawText());
        Assert.Equal("Users", document.GetProperty("@metadata").GetProperty("@collection").GetString());
    }

    [Fact]
    public async Task A_failed_operation_stores_nothing_of_its_batch()
    {
        string db = await CreateAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """
            {"Commands":[{"Id":"users/2","Document":{},"Type":"PUT"},
            {"Id":"users/1","JsonPatch":{"Operations":[{"op":"add","path":"/name","value":"x"},
              {"op":"remove","path":"/tags/10"}]},"Type":"JsonPatch"}]}
            """
        );
        answer.IsRefusal(400, "Operations[1] (remove /tags/10): position 10 is out of array bounds");
        Assert.Equal(1, await server.CountAsync(db));
        Assert.Contains(
            """
            "name":"Test"
            """,
            (await server.SendAsync("GET", db + "/docs?id=users/1")).Body,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData(
        "json-patch?id=users/1",
        """{"Operations":[{"op":"test","path":"/name","value":"Test"},{"op":"add","path":"/n","value":1}]}""",
        null
    )]
    [InlineData(
        "docs?id=users/1",
        """[{"op":"test","path":"/name","value":"Test"},{"op":"add","path":"/n","value":1}]""",
        "application/json-patch+json"
    )]
    public async Task One_document_is_patched_in_either_form(string route, string body, string? type)
    {
        string db = await CreateAsync();
        (string, string)[] headers = type is null ? [] : [("Content-Type", type)];
        var answer = await server.SendAsync("PATCH", $"{db}/{route}", body, headers);
        Assert.Equal(200, answer.Status);
        Assert.Equal("Patched", answer.Json.GetProperty("Status").GetString());
        Assert.Equal(1, answer.Json.GetProperty("ModifiedDocument").GetProperty("n").GetInt32());
        answer = await server.SendAsync("PATCH", $"{db}/{route}", body, headers);
        Assert.Equal("NotModified", answer.Json.GetProperty("Status").GetString());
        answer = await server.SendAsync(
            "PATCH",
            $"{db}/{route.Replace("/1", "/none", StringComparison.Ordinal)}",
            body,
            headers
        );
        answer.IsRefusal(400, "Cannot apply json patch because the document users/none does not exist");
        answer = await server.SendAsync("PATCH", $"{db}/{route}", body, [.. headers, ("If-Match", "\"A:1-x\"")]);
        Assert.Equal(409, answer.Status);
    }

    [Theory]
    [InlineData("docs", """{"op":"add"}""", "The operations of a JSON Patch are no array ($, line 1, byte 0). Send [{")]
    [InlineData("docs", """null""", "The operations of a JSON Patch are no array")]
    [InlineData("docs", """[1]""", "A number is where an object must be ($[0], line 1, byte 1). Send {…}.")]
    [InlineData("docs", """[{"op":1}]""", "A number is where a string must be ($[0].op, line 1, byte 7).")]
    [InlineData(
        "json-patch",
        """[]""",
        """The JSON Patch is an array, and an object must be here ($, line 1, byte 0)."""
    )]
    [InlineData("json-patch", """{"Operations":{}}""", "The operations of a JSON Patch are no array ($.Operations")]
    [InlineData("json-patch", """3""", "A number is where an object must be")]
    public async Task A_body_that_is_no_json_patch_is_refused_with_the_form_that_is_needed(
        string route,
        string body,
        string message
    )
    {
        string db = await CreateAsync();
        var answer = await server.SendAsync(
            "PATCH",
            $"{db}/{route}?id=users/1",
            body,
            [
                (
                    "Content-Type",
                    string.Equals(route, "docs", StringComparison.Ordinal)
                        ? "application/json-patch+json"
                        : "application/json"
                ),
            ]
        );
        answer.IsRefusal(400, message);
    }

    [Theory]
    [InlineData("""[{"op":"add","path":"/n","value":1}]""", "application/json-patch+json")]
    [InlineData("""{"n":1}""", "application/merge-patch+json")]
    [InlineData("""{"Patch":{"Script":"this.n = 1"}}""", "application/json")]
    public async Task Every_patch_is_skipped_on_a_mismatch_if_that_is_requested(string body, string type)
    {
        string db = await CreateAsync();
        string before = (await server.SendAsync("GET", db + "/docs?id=users/1")).Body;
        (string, string)[] headers = [("Content-Type", type), ("If-Match", "\"A:1-x\"")];
        string route = db + "/docs?id=users/1&skipPatchIfChangeVectorMismatch=true";
        var answer = await server.SendAsync("PATCH", route, body, headers);
        Assert.Equal(
            (200, "Skipped"),
            (answer.Status, answer.Status == 200 ? answer.Json.GetProperty("Status").GetString() : answer.Body)
        );
        Assert.Equal(before, (await server.SendAsync("GET", db + "/docs?id=users/1")).Body);
    }

    /// <summary>Creates a database with the document users/1. Returns its path.</summary>
    private async Task<string> CreateAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "PUT",
            db + "/docs?id=users/1",
            """{"name":"Test","tags":["a"],"settings":{"lang":"en"},"@metadata":{"@collection":"Users"}}"""
        );
        return db;
    }
}
