using System.Text.Json;

namespace Rookery.Server.Tests.Raven.Databases;

/// <summary>
/// The routes that configure databases: expiration, refresh, archival, client configuration, settings, lock mode, and
/// whether a database is disabled.
/// </summary>
public sealed class ConfigurationRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Past = "2020-01-01T00:00:00.0000000Z";

    [Fact]
    public async Task A_record_that_is_sent_back_as_disabled_disables_the_database()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        string url = $"/admin/databases?name={name}&replicationFactor=1";
        foreach (bool disables in (bool[])[true, false])
        {
            var record = await server.SendAsync("GET", "/admin/databases?name=" + name);
            string etag = $"\"{record.Json.GetProperty("Etag").GetInt64()}\"";
            string changed = record.Body.Replace(
                disables ? "\"Disabled\":false" : "\"Disabled\":true",
                disables ? "\"Disabled\":true" : "\"Disabled\":false",
                StringComparison.Ordinal
            );
            Assert.Equal(201, (await server.SendAsync("PUT", url, changed, ("ETag", etag))).Status);
            Assert.Equal(409, (await server.SendAsync("PUT", url, changed, ("ETag", etag))).Status);
            Assert.Equal(disables ? 503 : 200, (await server.SendAsync("GET", db + "/stats")).Status);
            // The record of a database that exists is not read as that of a new one.
            var again = await server.SendAsync("PUT", url, changed);
            Assert.Equal(
                (409, true),
                (again.Status, again.Body.Contains("ConcurrencyException", StringComparison.Ordinal))
            );
        }
    }

    [Theory]
    [InlineData("expiration", "DeleteFrequencyInSec")]
    [InlineData("refresh", "RefreshFrequencyInSec")]
    [InlineData("data-archival", "ArchiveFrequencyInSec")]
    public async Task A_schedule_is_configured_read_and_removed(string name, string frequency)
    {
        string db = await server.CreateDatabaseAsync();
        string url = $"{db}/admin/{name}/config";
        Assert.Equal(404, (await server.SendAsync("GET", $"{db}/{name}/config")).Status);
        var set = await server.SendAsync("POST", url, $$"""{"Disabled":false,"{{frequency}}":5}""");
        Assert.True(set.Json.GetProperty("RaftCommandIndex").GetInt64() > 0);
        var read = (await server.SendAsync("GET", $"{db}/{name}/config")).Json;
        Assert.Equal(5, read.GetProperty(frequency).GetInt64());
        Assert.Equal(JsonValueKind.Null, read.GetProperty("MaxItemsToProcess").ValueKind);
        Assert.False((await server.SendAsync("GET", url)).Json.GetProperty("Disabled").GetBoolean());

        Assert.Equal(200, (await server.SendAsync("POST", url, "null")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", url)).Status);
    }

    [Theory]
    [InlineData("expiration", """{"RefreshFrequencyInSec":5}""", 501, "RefreshFrequencyInSec")]
    [InlineData("refresh", """{"RefreshFrequencyInSec":0}""", 400, "RefreshFrequencyInSec")]
    [InlineData("refresh", """{"RefreshFrequencyInSec":1.5}""", 400, "RefreshFrequencyInSec")]
    [InlineData("refresh", """{"MaxItemsToProcess":-1}""", 400, "MaxItemsToProcess")]
    [InlineData("data-archival", """{"Disabled":"no"}""", 400, "Disabled")]
    [InlineData("data-archival", """{"Disabled":false,"Disabled":true}""", 400, "Disabled")]
    [InlineData("data-archival", "[]", 400, "object")]
    [InlineData("data-archival", "{", 400, "JSON")]
    public async Task An_invalid_schedule_is_refused_by_name(string name, string body, int status, string text)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", $"{db}/admin/{name}/config", body)).IsRefusal(status, text);
        Assert.Equal(404, (await server.SendAsync("GET", $"{db}/{name}/config")).Status);
    }

    [Theory]
    [InlineData("Lucene", 201)]
    [InlineData("Corax", 201)]
    [InlineData("Elastic", 400)]
    public async Task A_new_database_may_name_a_search_engine_of_RavenDB(string engine, int status)
    {
        string body =
            $$"""{"DatabaseName":"engine-{{engine}}","Settings":{"Indexing.Static.SearchEngineType":"{{engine}}","Indexing.Auto.SearchEngineType":"{{engine}}"} }""";
        Assert.Equal(status, (await server.SendAsync("PUT", "/admin/databases", body)).Status);
    }

    [Fact]
    public async Task There_are_no_connection_strings_and_none_can_be_stored()
    {
        string db = await server.CreateDatabaseAsync();
        var listed = await server.SendAsync("GET", db + "/admin/connection-strings?connectionStringName=a&type=Raven");
        Assert.Equal("{}", listed.Json.GetProperty("RavenConnectionStrings").GetRawText());
        Assert.Equal("{}", listed.Json.GetProperty("SqlConnectionStrings").GetRawText());
        (await server.SendAsync("PUT", db + "/admin/connection-strings", "{}")).IsRefusal(501, "connection strings");
    }

    [Fact]
    public async Task The_record_has_the_configurations_and_accepts_only_the_same_ones()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        string url = $"/admin/databases?name={name}";
        var first = (await server.SendAsync("GET", url)).Json;
        await server.SendAsync("POST", $"{db}/admin/refresh/config", """{"Disabled":false}""");
        await server.SendAsync("PUT", $"{db}/admin/configuration/settings", """{"DataDir":"x"}""");
        var answer = await server.SendAsync("GET", url);
        var record = answer.Json;
        Assert.False(record.GetProperty("Refresh").GetProperty("Disabled").GetBoolean());
        Assert.Equal("x", record.GetProperty("Settings").GetProperty("DataDir").GetString());
        Assert.True(record.GetProperty("Etag").GetInt64() > first.GetProperty("Etag").GetInt64());
        Assert.Equal(record.GetRawText(), (await server.SendAsync("GET", $"{db}/admin/record")).Json.GetRawText());

        string etag = record.GetProperty("Etag").GetRawText();
        (await server.SendAsync("PUT", url, answer.Body, ("ETag", first.GetProperty("Etag").GetRawText()))).IsRefusal(
            409,
            etag
        );
        Assert.Equal(201, (await server.SendAsync("PUT", url, answer.Body, ("ETag", etag))).Status);
        string changed = answer.Body.Replace("\"Disabled\":false,\"RefreshF", "\"Disabled\":true,\"RefreshF", Ordinal);
        Assert.NotEqual(answer.Body, changed);
        (await server.SendAsync("PUT", url, changed, ("ETag", etag))).IsRefusal(501, "'Refresh'");
        (await server.SendAsync("PUT", url, first.GetRawText(), ("ETag", etag))).IsRefusal(501, "'Refresh'");
    }

    [Theory]
    [InlineData("""{"Raven/Unknown":"1"}""", "Raven/Unknown")]
    [InlineData("""{"Indexing.Static.ArchivedDataProcessingBehavior":"ArchivedOnly"}""", "ArchivedOnly")]
    public async Task An_unknown_setting_is_refused_by_name(string body, string text)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("PUT", $"{db}/admin/configuration/settings", body)).IsRefusal(501, text);
        Assert.Equal(
            "{}",
            (await server.SendAsync("GET", $"{db}/admin/configuration/settings"))
                .Json.GetProperty("Settings")
                .GetRawText()
        );
    }

    [Fact]
    public async Task A_client_that_knows_an_older_configuration_is_told_to_read_the_newest()
    {
        string db = await server.CreateDatabaseAsync();
        string before = (await server.SendAsync("GET", $"{db}/configuration/client"))
            .Json.GetProperty("Etag")
            .GetRawText();
        Assert.False(await IsToldAsync(db, before));
        Assert.Equal(
            204,
            (
                await server.SendAsync(
                    "PUT",
                    $"{db}/admin/configuration/client",
                    """{"MaxNumberOfRequestsPerSession":7,"ReadBalanceBehavior":"RoundRobin","Etag":99}"""
                )
            ).Status
        );
        Assert.True(await IsToldAsync(db, before));
        Assert.True(await IsToldAsync(db, $"\"{before}\""));
        var answer = await server.SendAsync(
            "GET",
            $"{db}/configuration/client",
            (string?)null,
            ("Client-Configuration-Etag", "0")
        );
        Assert.False(answer.Headers.Contains("Refresh-Client-Configuration"));
        Assert.Equal(
            7,
            answer.Json.GetProperty("Configuration").GetProperty("MaxNumberOfRequestsPerSession").GetInt32()
        );
        string etag = answer.Json.GetProperty("Etag").GetRawText();
        Assert.False(await IsToldAsync(db, etag));
        Assert.Equal(
            answer.Json.GetProperty("Etag").GetInt64(),
            answer.Json.GetProperty("Configuration").GetProperty("Etag").GetInt64()
        );
        Assert.False((await server.SendAsync("GET", $"{db}/stats")).Headers.Contains("Refresh-Client-Configuration"));
    }

    [Fact]
    public async Task Clients_of_a_database_without_a_configuration_get_that_of_the_server()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(404, (await server.SendAsync("GET", "/configuration/client")).Status);
        await server.SendAsync("PUT", "/admin/configuration/client", """{"LoadBalancerContextSeed":-3}""");
        try
        {
            Assert.Equal(
                -3,
                (await server.SendAsync("GET", "/configuration/client"))
                    .Json.GetProperty("LoadBalancerContextSeed")
                    .GetInt32()
            );
            Assert.True(await IsToldAsync(db, "0"));
            Assert.Contains("LoadBalancerContextSeed", await ReadAsync(), Ordinal);
            await server.SendAsync(
                "PUT",
                $"{db}/admin/configuration/client",
                """{"MaxNumberOfRequestsPerSession":8}"""
            );
            Assert.DoesNotContain("LoadBalancerContextSeed", await ReadAsync(), Ordinal);
            await server.SendAsync("PUT", $"{db}/admin/configuration/client", """{"Disabled":true}""");
            Assert.Contains("LoadBalancerContextSeed", await ReadAsync(), Ordinal);
        }
        finally
        {
            await server.SendAsync("PUT", "/admin/configuration/client", "null");
        }

        async Task<string> ReadAsync() => (await server.SendAsync("GET", $"{db}/configuration/client")).Body;
    }

    [Theory]
    [InlineData("""{"MaxNumberOfRequestsPerSession":0}""", 400, "MaxNumberOfRequestsPerSession")]
    [InlineData("""{"ReadBalanceBehavior":"Fastest"}""", 400, "FastestNode")]
    [InlineData("""{"IdentityPartsSeparator":"-"}""", 501, "IdentityPartsSeparator")]
    [InlineData("""{"PrefetchedDocuments":4}""", 501, "PrefetchedDocuments")]
    [InlineData("""{"PrefetchedDocuments":null}""", 501, "PrefetchedDocuments")]
    [InlineData("3", 400, "object")]
    public async Task An_invalid_client_configuration_is_refused_by_name(string body, int status, string text)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("PUT", $"{db}/admin/configuration/client", body)).IsRefusal(status, text);
        Assert.DoesNotContain("Client", (await server.SendAsync("GET", $"{db}/admin/record")).Body, Ordinal);
    }

    [Fact]
    public async Task A_configuration_that_is_too_large_is_refused()
    {
        string db = await server.CreateDatabaseAsync();
        string body = $$"""{"ReadBalanceBehavior":"{{new string('x', 40_000)}}"}""";
        (await server.SendAsync("PUT", $"{db}/admin/configuration/client", body)).IsRefusal(413, "KiB");
    }

    [Fact]
    public async Task A_disabled_database_refuses_requests_until_it_is_enabled()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        await server.SendAsync("PUT", $"{db}/docs?id=a", "{\"n\":1}");
        await server.SendAsync("PUT", $"{db}/docs?id=b", "{\"n\":2}");
        Assert.Equal(1, (await QueryAsync()).GetProperty("TotalResults").GetInt32());

        var status = (await ToggleAsync("disable", name)).GetProperty("Status")[0];
        Assert.True(status.GetProperty("Success").GetBoolean());
        Assert.True(status.GetProperty("Disabled").GetBoolean());
        foreach (
            var (method, path, body) in ((string, string, string?)[])
                [
                    ("GET", "/docs?id=a", null),
                    ("PUT", "/docs?id=a", "{}"),
                    ("POST", "/queries", "{\"Query\":\"from @all_docs\"}"),
                    ("GET", "/stats", null),
                    ("GET", "/export", null),
                    ("GET", "/changes/stream", null),
                    ("POST", "/bulk_docs", "{\"Commands\":[]}"),
                    ("POST", "/admin/refresh/config", "{}"),
                ]
        )
        {
            var refused = await server.SendAsync(method, db + path, body);
            refused.IsRefusal(503, "is disabled");
            Assert.EndsWith(".DatabaseDisabledException", refused.Json.GetProperty("Type").GetString()!, Ordinal);
        }

        Assert.Equal(200, (await server.SendAsync("GET", $"/topology?name={name}")).Status);
        Assert.True((await server.SendAsync("GET", $"{db}/admin/record")).Json.GetProperty("Disabled").GetBoolean());
        var listed = (await server.SendAsync("GET", $"/databases?name={name}")).Json.GetProperty("Databases")[0];
        Assert.True(listed.GetProperty("Disabled").GetBoolean());

        await ToggleAsync("enable", name);
        Assert.Equal(200, (await server.SendAsync("GET", $"{db}/docs?id=a")).Status);
        Assert.Equal(1, (await QueryAsync()).GetProperty("TotalResults").GetInt32());

        async Task<JsonElement> QueryAsync() =>
            (
                await server.SendAsync(
                    "POST",
                    $"{db}/queries",
                    """{"Query":"from @all_docs where n = 2","WaitForNonStaleResults":true}"""
                )
            ).Json;
    }

    [Fact]
    public async Task Disabling_ends_the_indexes_and_enabling_opens_them_again()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        await server.SendAsync("PUT", $"{db}/docs?id=a", """{"n":1,"@metadata":{"@collection":"Users"} }""");
        await server.SendAsync(
            "PUT",
            $"{db}/admin/indexes",
            """{"Indexes":[{"Name":"ByN","Maps":["from u in docs.Users select new { u.n }"]}]}"""
        );
        Assert.Equal(1, await CountAsync());
        await ToggleAsync("disable", name);
        Assert.True(server.Node.Databases.TryGet(name, out var database));
        await WaitAsync(() => !server.Context.Indexes.TryGetCatalog(database, out _));
        await ToggleAsync("enable", name);
        Assert.Equal(1, await CountAsync());

        async Task<int> CountAsync() =>
            (
                await server.SendAsync(
                    "POST",
                    $"{db}/queries",
                    """{"Query":"from index 'ByN' where n = 1","WaitForNonStaleResults":true}"""
                )
            )
                .Json.GetProperty("TotalResults")
                .GetInt32();
    }

    [Fact]
    public async Task Toggling_names_the_databases_that_do_not_exist()
    {
        var status = (await ToggleAsync("disable", "no-such")).GetProperty("Status")[0];
        Assert.Equal("no-such", status.GetProperty("Name").GetString());
        Assert.False(status.GetProperty("Success").GetBoolean());
        (await server.SendAsync("POST", "/admin/databases/disable", "{}")).IsRefusal(400, "DatabaseNames");
        (await server.SendAsync("POST", "/admin/databases/enable", """{"DatabaseNames":["a"],"Mode":"x"}""")).IsRefusal(
            501,
            "Mode"
        );
    }

    [Fact]
    public async Task A_lock_mode_is_obeyed_by_deletions()
    {
        string db = await server.CreateDatabaseAsync();
        string name = db["/databases/".Length..];
        string delete = $$"""{"DatabaseNames":["{{name}}"],"HardDelete":true}""";
        Assert.Equal(204, await LockAsync("PreventDeletesError"));
        (await server.SendAsync("DELETE", "/admin/databases", delete)).IsRefusal(
            400,
            "cannot be deleted because of the set lock mode ('PreventDeletesError')"
        );
        Assert.Equal(204, await LockAsync("PreventDeletesIgnore"));
        var ignored = (await server.SendAsync("DELETE", "/admin/databases", delete)).Json;
        Assert.Equal(-1, ignored.GetProperty("RaftCommandIndex").GetInt64());
        var record = (await server.SendAsync("GET", $"/admin/databases?name={name}")).Json;
        Assert.Equal("PreventDeletesIgnore", record.GetProperty("LockMode").GetString());

        Assert.Equal(400, await LockAsync("Locked"));
        Assert.Equal(204, await LockAsync("Unlock"));
        Assert.True(
            (await server.SendAsync("DELETE", "/admin/databases", delete))
                .Json.GetProperty("RaftCommandIndex")
                .GetInt64() > 0
        );
        Assert.Equal(503, await LockAsync("Unlock"));

        async Task<int> LockAsync(string mode) =>
            (
                await server.SendAsync(
                    "POST",
                    "/admin/databases/set-lock",
                    $$"""{"DatabaseNames":["{{name}}"],"Mode":"{{mode}}"}"""
                )
            ).Status;
    }

    [Fact]
    public async Task Archived_documents_are_left_out_of_indexes_and_of_queries_with_conditions()
    {
        string db = await server.CreateDatabaseAsync();
        const string Metadata = "\"@collection\":\"Orders\"";
        await server.SendAsync("PUT", $"{db}/docs?id=o/1", $$"""{"n":1,"@metadata":{{{Metadata}}} }""");
        await server.SendAsync(
            "PUT",
            $"{db}/docs?id=o/2",
            $$"""{"n":2,"@metadata":{{{Metadata}},"@archive-at":"{{Past}}"} }"""
        );
        await server.SendAsync(
            "PUT",
            $"{db}/admin/indexes",
            """
            {"Indexes":[{"Name":"ByN","Maps":["from o in docs.Orders select new { o.n }"],
            "ArchivedDataProcessingBehavior":"ExcludeArchived"}]}
            """
        );
        // The configuration begins a round, and the time of the document is in the past.
        await server.SendAsync("POST", $"{db}/admin/data-archival/config", """{"Disabled":false}""");
        await WaitAsync(async () =>
            (await server.SendAsync("GET", $"{db}/docs?id=o/2")).Body.Contains("@archived", Ordinal)
        );
        var archived = (await server.SendAsync("GET", $"{db}/docs?id=o/2")).Json.GetProperty("Results")[0];
        Assert.True(archived.GetProperty("@metadata").GetProperty("@archived").GetBoolean());
        Assert.False(archived.GetProperty("@metadata").TryGetProperty("@archive-at", out _));

        foreach (
            var (query, count) in ((string, int)[])
                [
                    ("from Orders", 2),
                    ("from Orders where id() = 'o/2'", 1),
                    ("from Orders select n", 2),
                    ("from Orders where n > 0", 1),
                    ("from Orders order by n", 1),
                    ("from Orders where n = 2", 0),
                    ("from Orders group by n select count(), n", 1),
                    ("from index 'ByN'", 1),
                    ("from index 'ByN' where n > 0", 1),
                ]
        )
        {
            var answer = await server.SendAsync(
                "POST",
                $"{db}/queries",
                $$"""{"Query":"{{query}}","WaitForNonStaleResults":true}"""
            );
            Assert.Equal((query, count), (query, answer.Json.GetProperty("TotalResults").GetInt32()));
            Assert.Equal((query, count), (query, answer.Json.GetProperty("Results").GetArrayLength()));
        }
    }

    private const StringComparison Ordinal = StringComparison.Ordinal;

    private async Task<bool> IsToldAsync(string db, string knownEtag)
    {
        // Once by the full pipeline, once by the fast path.
        var full = await server.SendAsync(
            "GET",
            $"{db}/stats",
            (string?)null,
            ("Client-Configuration-Etag", knownEtag)
        );
        var fast = await server.SendAsync("PUT", $"{db}/docs?id=told", "{}", ("Client-Configuration-Etag", knownEtag));
        Assert.Equal(201, fast.Status);
        bool isTold = full.Headers.Contains("Refresh-Client-Configuration");
        Assert.Equal(isTold, fast.Headers.Contains("Refresh-Client-Configuration"));
        return isTold;
    }

    private async Task<JsonElement> ToggleAsync(string action, string name)
    {
        var answer = await server.SendAsync(
            "POST",
            $"/admin/databases/{action}",
            $$"""{"DatabaseNames":["{{name}}"]}"""
        );
        Assert.Equal(200, answer.Status);
        return answer.Json;
    }

    private static Task WaitAsync(Func<bool> holds) => WaitAsync(() => Task.FromResult(holds()));

    private static async Task WaitAsync(Func<Task<bool>> holds)
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        while (!await holds())
        {
            await Task.Delay(20, patience.Token);
        }
    }
}
