using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>AttachmentCOPY and AttachmentMOVE in batches.</summary>
public sealed class AttachmentCopyRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Copy = """
        {"Id":"USERS/1","Name":"A","DestinationId":"users/2","DestinationName":"b","ChangeVector":null,
        "Type":"AttachmentCOPY"}
        """;

    [Fact]
    public async Task The_results_name_what_clients_change_in_their_documents()
    {
        string db = await CreateAsync();
        var results = (
            await SendAsync(
                db,
                Copy,
                """{"Id":"users/3","Document":{},"Type":"PUT"}""",
                """
                {"Id":"users/1","Name":"a","DestinationId":"users/3","DestinationName":"c","Type":"AttachmentMOVE"}
                """,
                """
                {"Id":"users/3","Name":"c","DestinationId":"users/3","DestinationName":"d","Type":"AttachmentMOVE"}
                """,
                """{"Id":"none","Type":"DELETE"}"""
            )
        ).Json.GetProperty("Results");
        Assert.Equal(5, results.GetArrayLength());
        Assert.Equal("AttachmentCOPY users/2 b  ", Describe(results[0]));
        Assert.Equal("PUT", results[1].GetProperty("Type").GetString());
        Assert.Equal("AttachmentMOVE users/1 a users/3 c", Describe(results[2]));
        Assert.Equal("AttachmentMOVE users/3 c users/3 d", Describe(results[3]));
        Assert.Equal("none", results[4].GetProperty("Id").GetString());
        foreach (int copied in (int[])[0, 2, 3])
        {
            Assert.Equal("image/png", Text(results[copied], "ContentType"));
            Assert.Equal("EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=", Text(results[copied], "Hash"));
            Assert.Equal(3, results[copied].GetProperty("Size").GetInt64());
        }

        Assert.Equal(await VersionAsync(db, "users/2"), Text(results[0], "DocumentChangeVector"));
        Assert.Equal(await VersionAsync(db, "users/1"), Text(results[2], "DocumentChangeVector"));
        Assert.Equal(await VersionAsync(db, "users/3"), Text(results[3], "DocumentChangeVector"));
        Assert.Equal(await VersionAsync(db, "users/3"), Text(results[3], "DestinationDocumentChangeVector"));
        Assert.Equal(Text(results[2], "ChangeVector"), Text(results[2], "DestinationDocumentChangeVector"));
        var read = await server.SendAsync("GET", db + "/attachments?id=users/3&name=d");
        Assert.Equal((200, "\u0001\u0002\u0003"), (read.Status, read.Body));
    }

    [Theory]
    [InlineData("{\"DestinationId\":\"\"}", 400, "DestinationId")]
    [InlineData("{\"DestinationName\":\"\"}", 400, "DestinationName")]
    [InlineData("{\"Name\":\"\"}", 400, "1 to 512")]
    [InlineData("{\"Name\":\"none\"}", 400, "has no attachment 'none'")]
    [InlineData("{\"DestinationId\":\"users/9\"}", 400, "users/9 does not exist")]
    [InlineData("{\"DestinationId\":\"users/1\",\"DestinationName\":\"A\"}", 409, "expected not to exist")]
    [InlineData("{\"ChangeVector\":\"A:1-x\"}", 409, "A:1-x")]
    [InlineData("{\"ContentType\":\"text/plain\"}", 501, "ContentType")]
    [InlineData("{\"Type\":\"AttachmentDELETE\"}", 501, "DestinationId")]
    public async Task A_copy_that_cannot_be_made_is_refused_and_nothing_is_stored(
        string change,
        int status,
        string what
    )
    {
        string db = await CreateAsync();
        var members = JsonSerializer.Deserialize<Dictionary<string, string?>>(Copy)!;
        foreach (var (name, value) in JsonSerializer.Deserialize<Dictionary<string, string>>(change)!)
        {
            members[name] = value;
        }

        (
            await SendAsync(db, """{"Id":"users/4","Document":{},"Type":"PUT"}""", JsonSerializer.Serialize(members))
        ).IsRefusal(status, what);
        Assert.Equal(2, await server.CountAsync(db));
    }

    private Task<Answer> SendAsync(string db, params string[] commands) =>
        server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{string.Join(',', commands)}}]}""");

    private static string Describe(JsonElement result) =>
        $"{Text(result, "Type")} {Text(result, "Id")} {Text(result, "Name")} {Text(result, "DestinationId")} "
        + Text(result, "DestinationName");

    private static string? Text(JsonElement result, string name) =>
        result.TryGetProperty(name, out var value) ? value.GetString() : null;

    private async Task<string?> VersionAsync(string db, string id) =>
        Text(
            (await server.SendAsync("GET", $"{db}/docs?id={id}"))
                .Json.GetProperty("Results")[0]
                .GetProperty("@metadata"),
            "@change-vector"
        );

    private async Task<string> CreateAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/1", "{}");
        await server.SendAsync("PUT", db + "/docs?id=users/2", "{}");
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a&contentType=image/png", [1, 2, 3]);
        return db;
    }
}
