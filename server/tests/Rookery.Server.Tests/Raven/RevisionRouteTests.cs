using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Requests about revisions: what they answer, and what they refuse.</summary>
public sealed class RevisionRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_configuration_is_read_as_it_was_stored()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(404, (await server.SendAsync("GET", db + "/revisions/config")).Status);
        const string Sent = """
            {"Default":{"MinimumRevisionsToKeep":5,"Disabled":false},
            "Collections":{"Users":{"MinimumRevisionAgeToKeep":"14.00:00:00","PurgeOnDelete":true,
            "MaximumRevisionsToDeleteUponDocumentUpdate":7}}}
            """;
        var stored = await server.SendAsync("POST", db + "/admin/revisions/config", Sent);
        Assert.True(stored.Status == 200, stored.Body);
        Assert.True(stored.Json.GetProperty("RaftCommandIndex").GetInt64() > 0);
        var read = (await server.SendAsync("GET", db + "/revisions/config")).Json;
        Assert.Equal(5, read.GetProperty("Default").GetProperty("MinimumRevisionsToKeep").GetInt64());
        var users = read.GetProperty("Collections").GetProperty("Users");
        Assert.Equal("14.00:00:00", users.GetProperty("MinimumRevisionAgeToKeep").GetString());
        Assert.True(users.GetProperty("PurgeOnDelete").GetBoolean());
        Assert.Equal(7, users.GetProperty("MaximumRevisionsToDeleteUponDocumentUpdate").GetInt64());

        // A client that sends the record back changes nothing.
        var record = await server.SendAsync("GET", "/admin/databases?name=" + db.Split('/')[^1]);
        Assert.Equal(JsonValueKind.Object, record.Json.GetProperty("Revisions").ValueKind);

        Assert.Equal(200, (await server.SendAsync("POST", db + "/admin/revisions/config", "{}")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", db + "/revisions/config")).Status);
    }

    [Fact]
    public async Task Answers_to_changes_with_a_key_tell_since_when_keys_are_remembered()
    {
        string db = await server.CreateDatabaseAsync();
        await AssertHorizonAsync("POST", "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.SendAsync("PUT", db + "/docs?id=a", """{"n":1}""");
        string revision = (await server.SendAsync("GET", db + "/revisions?id=a"))
            .Json.GetProperty("Results")[1]
            .GetProperty("@metadata")
            .GetProperty("@change-vector")
            .GetString()!;
        await AssertHorizonAsync(
            "POST",
            "/revisions/revert/docs",
            $$$"""{"IdToChangeVector":{"a":"{{{revision}}}"}}"""
        );
        await AssertHorizonAsync("DELETE", "/admin/revisions", """{"DocumentIds":["a"]}""");

        async Task AssertHorizonAsync(string method, string path, string body)
        {
            var answer = await server.SendAsync(method, db + path, body, ("Idempotency-Key", path));
            Assert.True(answer.Status is 200 or 204, answer.Body);
            Assert.Matches(@"^\d{4}-\d\d-\d\dT", Assert.Single(answer.Headers.GetValues("Idempotency-Key-Horizon")));
        }
    }

    [Theory]
    [InlineData(
        "admin/revisions/config",
        """{"Default":{"MinimumRevisionsToKeep":-1}}""",
        400,
        "MinimumRevisionsToKeep"
    )]
    [InlineData("admin/revisions/config", """{"Default":{"MinimumRevisionAgeToKeep":"soon"}}""", 400, "14.00:00:00")]
    [InlineData("admin/revisions/config", """{"Default":{"Disabled":1}}""", 400, "Disabled")]
    [InlineData("admin/revisions/config", """{"Default":{"MinimumAge":"1"}}""", 501, "MinimumAge")]
    [InlineData("admin/revisions/config", """{"Collection":{}}""", 501, "Collection")]
    [InlineData("admin/revisions/config", """[]""", 400, "object")]
    [InlineData("admin/revisions/config/enforce", """{"MaxOpsPerSecond":0}""", 400, "MaxOpsPerSecond")]
    [InlineData("admin/revisions/config/enforce", """{"ContinuationParameters":{}}""", 501, "ContinuationParameters")]
    [InlineData("revisions/revert", """{"WindowInSec":96}""", 400, "Time")]
    [InlineData("revisions/revert", """{"Time":"yesterday"}""", 400, "Time")]
    [InlineData("revisions/revert", """{"Time":"2026-01-01T00:00:00Z","Ids":[]}""", 501, "Ids")]
    [InlineData("revisions/revert/docs", """{"IdToChangeVector":{}}""", 400, "IdToChangeVector")]
    [InlineData("revisions/revert/docs", """{"IdToChangeVector":{"a":"A:1-other"}}""", 400, "A:1-other")]
    [InlineData("revisions/revert/docs", """{"IdToChangeVector":{"a":null}}""", 400, "document a")]
    public async Task Malformed_bodies_are_400_and_unknown_members_501(
        string path,
        string body,
        int status,
        string named
    ) =>
        (await server.SendAsync("POST", $"{await server.CreateDatabaseAsync()}/{path}", body)).IsRefusal(status, named);

    [Theory]
    [InlineData("""{"DocumentIds":[]}""", 400, "DocumentIds")]
    [InlineData("""{"DocumentIds":["a","b"],"RevisionsChangeVectors":["A:1-x"]}""", 400, "one document")]
    [InlineData("""{"DocumentIds":["a"],"RevisionsChangeVectors":["A:1-x",""]}""", 400, "empty text")]
    [InlineData("""{"DocumentIds":["a"],"MaxDeletes":5}""", 501, "MaxDeletes")]
    [InlineData(
        """{"DocumentIds":["a"],"From":"2026-02-01T00:00:00Z","To":"2026-01-01T00:00:00Z"}""",
        400,
        "'From' must not be later"
    )]
    public async Task Requests_to_remove_revisions_are_checked(string body, int status, string named) =>
        (await server.SendAsync("DELETE", await server.CreateDatabaseAsync() + "/admin/revisions", body)).IsRefusal(
            status,
            named
        );

    /// <summary>As in RavenDB. Formerly, both kinds of change vectors were skipped.</summary>
    [Fact]
    public async Task A_change_vector_of_another_document_is_refused_and_one_of_no_revision_is_skipped()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", db + "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
        var ofA = await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        var ofB = await server.SendAsync("PUT", db + "/docs?id=b", "{}");
        (await DeleteAsync("A", ofA, ofB)).IsRefusal(400, "is one of document b, not of A");
        Assert.Equal(0, (await DeleteAsync("a", "A:1-none")).Json.GetProperty("TotalDeletes").GetInt32());
        Assert.Equal(1, (await DeleteAsync("A", ofA, "A:1-none")).Json.GetProperty("TotalDeletes").GetInt32());

        Task<Answer> DeleteAsync(string id, params object[] revisions)
        {
            var changeVectors = revisions.Select(static revision =>
                revision is Answer stored ? stored.Json.GetProperty("ChangeVector").GetString() : revision
            );
            return server.SendAsync(
                "DELETE",
                db + "/admin/revisions",
                JsonSerializer.Serialize(new { DocumentIds = new[] { id }, RevisionsChangeVectors = changeVectors })
            );
        }
    }

    [Theory]
    [InlineData("revisions", "id")]
    [InlineData("revisions?id=a&before=x", "before")]
    [InlineData("revisions?id=a&pageSize=-1", "pageSize")]
    [InlineData("revisions?id=a&before=2026-01-01T00:00:00.0000000Z&start=1", "'start'")]
    [InlineData("revisions?id=a&before=2026-01-01T00:00:00.0000000Z&pageSize=5", "'pageSize'")]
    [InlineData("revisions?id=a&changeVector=A:1-x", "'id'")]
    [InlineData("revisions/count", "id")]
    [InlineData("revisions/bin?pageSize=many", "pageSize")]
    public async Task Reads_are_checked(string path, string named) =>
        (await server.SendAsync("GET", $"{await server.CreateDatabaseAsync()}/{path}")).IsRefusal(400, named);

    [Theory]
    [InlineData("revisions/bin?etag=0", 200)]
    [InlineData("revisions/bin?etag=5", 501)]
    public async Task Deletions_are_read_from_the_first_one_as_the_client_for_Node_asks(string path, int status)
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", db + "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.SendAsync("DELETE", db + "/docs?id=a");
        var answer = await server.SendAsync("GET", $"{db}/{path}");
        Assert.Equal(status, answer.Status);
        Assert.Equal(status == 200, answer.Body.Contains("\"@id\":\"a\"", StringComparison.Ordinal));
    }

    /// <summary>Clients expect their general exception, as from RavenDB.</summary>
    [Fact]
    public async Task What_revisions_cannot_do_is_refused_with_the_exception_that_clients_expect()
    {
        string db = await server.CreateDatabaseAsync();
        var repeated = await server.SendAsync(
            "POST",
            db + "/admin/revisions/config",
            """{"Collections":{"users":{"Disabled":false},"USERS":{"Disabled":false}}}"""
        );
        var forced = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """{"Commands":[{"Id":"none","Type":"ForceRevisionCreation"}]}"""
        );
        foreach (
            var (answer, named) in ((Answer, string)[])
                [(repeated, "two different revision configurations"), (forced, "Can't force revision creation - the")]
        )
        {
            answer.IsRefusal(400, named);
            Assert.Equal("Raven.Client.Exceptions.RavenException", answer.Json.GetProperty("Type").GetString());
        }
    }

    [Fact]
    public async Task Revisions_of_a_large_document_are_answered_whole()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", db + "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
        for (int i = 0; i < 5; i++)
        {
            string text = new string((char)('a' + i), 300_000);
            Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=a", $$"""{"t":"{{text}}"}""")).Status);
        }

        var results = (await server.SendAsync("GET", db + "/revisions?id=a")).Json.GetProperty("Results");
        Assert.Equal(
            ["e300000", "d300000", "c300000", "b300000", "a300000"],
            results
                .EnumerateArray()
                .Select(static each => each.GetProperty("t").GetString()!)
                .Select(static t => $"{t[0]}{t.Length}")
        );
        Assert.Equal(
            0,
            (await server.SendAsync("GET", db + "/revisions?id=b")).Json.GetProperty("TotalResults").GetInt32()
        );
        Assert.Equal(404, (await server.SendAsync("GET", db + "/revisions?changeVector=A:1-x")).Status);
    }
}
