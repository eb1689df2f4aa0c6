using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Indexing.Automatic;

namespace Rookery.Server.Tests.Raven;

/// <summary>The routes of indexes, as docs/reference/http.md describes them.</summary>
public sealed class IndexRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string ByAge = "Auto/Users/Byage";

    [Fact]
    public async Task An_index_is_listed_with_its_definition()
    {
        string database = await DefineAsync("age", "name");
        var listed = (await GetAsync(database + "/indexes")).GetProperty("Results").EnumerateArray().Single();
        Assert.Equal("Auto/Users/ByageAndname", listed.GetProperty("Name").GetString());
        Assert.Equal("AutoMap", listed.GetProperty("Type").GetString());
        Assert.Equal("Users:[<Name:age>;<Name:name>]", listed.GetProperty("Maps")[0].GetString());
        Assert.Equal(
            ["age", "name"],
            listed.GetProperty("Fields").EnumerateObject().Select(static field => field.Name)
        );
        Assert.Equal(
            "Auto/Users/ByageAndname",
            (await GetAsync(database + "/indexes?start=0&pageSize=10&namesOnly=true"))
                .GetProperty("Results")[0]
                .GetString()
        );
        Assert.Equal(
            0,
            (await GetAsync(database + "/indexes?start=1&namesOnly=true")).GetProperty("Results").GetArrayLength()
        );
        (await server.SendAsync("GET", database + "/indexes?name=None")).IsRefusal(404, "There is no index 'None'");
        (await server.SendAsync("DELETE", database + "/indexes/errors?name=None")).IsRefusal(400, "no index 'None'");
        var afterTheLast = await GetAsync(database + "/indexes?name=Auto/Users/ByageAndname&start=1");
        Assert.Equal(0, afterTheLast.GetProperty("Results").GetArrayLength());
    }

    [Fact]
    public async Task A_database_record_contains_its_index_definitions()
    {
        string database = await DefineAsync("age");
        const string map = "from u in docs.Users select new { u.name }";
        const string defined = $$"""{"Indexes":[{"Name":"ByName","Maps":["{{map}}"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", database + "/admin/indexes", defined)).Status);
        var record = await GetAsync("/admin/databases?name=" + Path.GetFileName(database));
        Assert.Equal("Normal", record.GetProperty("DatabaseState").GetString());
        Assert.Equal(["ByName"], record.GetProperty("Indexes").EnumerateObject().Select(static index => index.Name));
        Assert.Equal([ByAge], record.GetProperty("AutoIndexes").EnumerateObject().Select(static index => index.Name));
        var automatic = record.GetProperty("AutoIndexes").GetProperty(ByAge);
        Assert.Equal("AutoMap", automatic.GetProperty("Type").GetString());
        Assert.Equal("Users", automatic.GetProperty("Collection").GetString());
        Assert.Equal(
            """{"Storage":"No","Indexing":"Default","Aggregation":"None","Spatial":null,"""
                + "\"GroupByArrayBehavior\":\"NotApplicable\",\"Suggestions\":false,\"IsNameQuoted\":false}",
            automatic.GetProperty("MapFields").GetProperty("age").GetRawText()
        );
        Assert.Equal("{}", automatic.GetProperty("GroupByFields").GetRawText());
    }

    [Fact]
    public async Task A_record_that_changes_an_index_is_refused_by_name()
    {
        string db = await DefineAsync("age");
        const string Index = """{"Indexes":[{"Name":"A","Maps":["from u in docs.Us select new { u.n }"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", Index)).Status);
        string url = "/admin/databases?name=" + db["/databases/".Length..];
        var record = await server.SendAsync("GET", url);
        (string, string) etag = ("ETag", $"\"{record.Json.GetProperty("Etag").GetInt64()}\"");
        Assert.Equal(201, (await server.SendAsync("PUT", url, record.Body, etag)).Status);
        var (indexes, automatic) = (record.Json.GetProperty("Indexes"), record.Json.GetProperty("AutoIndexes"));
        Assert.Equal((1, 1), (indexes.EnumerateObject().Count(), automatic.EnumerateObject().Count()));
        foreach (
            var (original, replacement, named) in (IEnumerable<(string, string, string)>)
                [
                    ("select new { u.n }", "select new { u.m }", "index 'A'"),
                    ("\"LockMode\":\"Unlock\",\"Priority\"", "\"LockMode\":\"LockedError\",\"Priority\"", "index 'A'"),
                    ("\"Priority\":\"Normal\"", "\"Priority\":\"Low\"", "index 'A'"),
                    ("\"State\":\"Normal\"", "\"State\":\"Disabled\"", "index 'A'"),
                    ("\"Configuration\":{}", "\"Configuration\":{},\"OutputReduceToCollection\":\"X\"", "index 'A'"),
                    (indexes.GetRawText(), "{}", "index 'A'"),
                    (indexes.GetRawText(), "null", "index 'A'"),
                    ($"\"Indexes\":{indexes.GetRawText()},", "", "index 'A'"),
                    (automatic.GetRawText(), "{}", "index 'Auto/Users/"),
                    (automatic.GetRawText(), indexes.GetRawText(), "index 'A'"),
                ]
        )
        {
            int at = record.Body.IndexOf(original, StringComparison.Ordinal);
            Assert.True(at >= 0, $"{original} is in {record.Body}");
            string changed = record.Body[..at] + replacement + record.Body[(at + original.Length)..];
            (await server.SendAsync("PUT", url, changed, etag)).IsRefusal(501, named);
        }

        // The classes of clients add members without a value, and leave out members that follow from others.
        string fromClient = record
            .Body.Replace(
                "\"Configuration\":{}",
                "\"Configuration\":{},\"CompoundFields\":[]",
                StringComparison.Ordinal
            )
            .Replace("\"SourceType\":\"Documents\",", "", StringComparison.Ordinal);
        Assert.Equal(201, (await server.SendAsync("PUT", url, fromClient, etag)).Status);
        Assert.Equal(record.Body, (await server.SendAsync("GET", url)).Body);
    }

    /// <summary>Clients reset an index and query it at once.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_query_directly_after_a_reset_waits_for_the_index(bool waits)
    {
        string database = await server.CreateDatabaseAsync();
        await PutAsync(database, "users/1", """{"name":"ann","@metadata":{"@collection":"Users"}}""");
        const string Index =
            """{"Indexes":[{"Name":"ByName","Maps":["from u in docs.Users select new { u.name }"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", database + "/admin/indexes", Index)).Status);
        await AwaitNonStaleAsync(database);
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(204, (await server.SendAsync("RESET", database + "/indexes?name=ByName")).Status);
            await GetAsync(database + "/indexes/terms?name=ByName&field=name");
            Assert.Equal(204, (await server.SendAsync("RESET", database + "/indexes?name=ByName")).Status);
            var answer = await server.SendAsync(
                "POST",
                database + "/queries",
                $$"""{"Query":"from index 'ByName'","WaitForNonStaleResults":{{(waits ? "true" : "false")}} }"""
            );
            Assert.Equal(200, answer.Status);
            Assert.Equal(
                (1, false),
                (answer.Json.GetProperty("TotalResults").GetInt32(), answer.Json.GetProperty("IsStale").GetBoolean())
            );
        }
    }

    [Fact]
    public async Task Statistics_report_when_an_index_has_caught_up()
    {
        string database = await DefineAsync("age");
        await PutAsync(database, "users/1", """{"age":7,"@metadata":{"@collection":"Users"}}""");
        await PutAsync(database, "users/2", """{"name":"no age","@metadata":{"@collection":"Users"}}""");
        await AwaitNonStaleAsync(database);
        var stats = (await GetAsync(database + "/indexes/stats?name=auto/users/byage")).GetProperty("Results")[0];
        Assert.Equal(ByAge, stats.GetProperty("Name").GetString());
        Assert.Equal(2, stats.GetProperty("EntriesCount").GetInt32());
        Assert.Equal("Running", stats.GetProperty("Status").GetString());
        Assert.Equal(0, stats.GetProperty("Collections").GetProperty("Users").GetProperty("DocumentLag").GetInt32());
        Assert.False(
            (await GetAsync(database + "/indexes/staleness?name=" + ByAge)).GetProperty("IsStale").GetBoolean()
        );
        var progress = (await GetAsync(database + "/indexes/progress")).GetProperty("Results")[0];
        Assert.Equal(
            0,
            progress.GetProperty("Collections").GetProperty("Users").GetProperty("NumberOfItemsToProcess").GetInt32()
        );
        var summary = (await GetAsync(database + "/stats"));
        Assert.Equal(1, summary.GetProperty("CountOfIndexes").GetInt32());
        Assert.Equal(ByAge, summary.GetProperty("Indexes")[0].GetProperty("Name").GetString());
        Assert.NotNull(summary.GetProperty("LastIndexingTime").GetString());
        var listed = (await GetAsync("/databases"))
            .GetProperty("Databases")
            .EnumerateArray()
            .Single(entry => database.EndsWith("/" + entry.GetProperty("Name").GetString(), StringComparison.Ordinal));
        Assert.Equal(1, listed.GetProperty("IndexesCount").GetInt32());
        Assert.Equal(
            0,
            (await GetAsync(database + "/indexes/errors?name=" + ByAge))
                .GetProperty("Results")[0]
                .GetProperty("Errors")
                .GetArrayLength()
        );
    }

    [Theory]
    [InlineData("waitForIndexesTimeout=00:00:15&waitForIndexThrow=true")]
    [InlineData("waitForIndexesTimeout=15000&waitForSpecificIndex=Ages")]
    public async Task A_batch_is_answered_when_its_indexes_have_caught_up(string wait)
    {
        string database = await server.CreateDatabaseAsync();
        const string Definition =
            """{"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.age, count = 1 }"],"Reduce":"from r in results group r by r.age into g select new { age = g.Key, count = g.Sum(x => x.count) }"}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", database + "/admin/indexes", Definition)).Status);
        await AwaitNonStaleAsync(database);
        const string Batch =
            """{"Commands":[{"Id":"users/1","Type":"PUT","Document":{"age":7,"@metadata":{"@collection":"Users"}}}]}""";
        Assert.Equal(201, (await server.SendAsync("POST", $"{database}/bulk_docs?{wait}", Batch)).Status);
        Assert.False((await GetAsync(database + "/indexes/staleness?name=Ages")).GetProperty("IsStale").GetBoolean());
        Assert.Equal(
            1,
            (await GetAsync(database + "/indexes/stats?name=Ages"))
                .GetProperty("Results")[0]
                .GetProperty("EntriesCount")
                .GetInt32()
        );
    }

    [Theory]
    [InlineData("waitForSpecificIndex=Ages")]
    [InlineData("waitForIndexThrow=true")]
    public async Task A_batch_waiting_for_a_paused_index_times_out_with_the_reason(string wait)
    {
        string database = await server.CreateDatabaseAsync();
        const string Definition =
            """{"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.age }"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", database + "/admin/indexes", Definition)).Status);
        await AwaitNonStaleAsync(database);
        await AssertNoContentAsync("POST", database + "/admin/indexes/stop?name=Ages");
        const string Batch =
            """{"Commands":[{"Id":"users/1","Type":"PUT","Document":{"age":7,"@metadata":{"@collection":"Users"}}}]}""";
        var answer = await server.SendAsync(
            "POST",
            $"{database}/bulk_docs?waitForIndexesTimeout=00:00:00.1&{wait}",
            Batch
        );
        answer.IsRefusal(500, "The batch is stored, but the server could not verify that its indexes include it.");
        Assert.Equal("Raven.Client.Exceptions.RavenTimeoutException", answer.Json.GetProperty("Type").GetString());
        Assert.Equal(1, (await GetAsync(database + "/stats")).GetProperty("CountOfDocuments").GetInt32());
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "POST",
                    $"{database}/bulk_docs?waitForIndexesTimeout=100&waitForIndexThrow=false",
                    Batch
                )
            ).Status
        );

        // The wait continues if the index is resumed meanwhile.
        var waiting = server.SendAsync("POST", $"{database}/bulk_docs?waitForIndexesTimeout=00:00:30&{wait}", Batch);
        await AssertNoContentAsync("POST", database + "/admin/indexes/start?name=Ages");
        Assert.Equal(201, (await waiting).Status);
    }

    [Fact]
    public async Task Progress_waits_for_running_indexes_but_not_for_paused_ones()
    {
        string database = await DefineAsync("age");
        await PutAsync(database, "users/1", """{"age":7,"@metadata":{"@collection":"Users"}}""");
        Assert.False(
            (await GetAsync(database + "/indexes/progress?wait=15000"))
                .GetProperty("Results")[0]
                .GetProperty("IsStale")
                .GetBoolean()
        );
        await AssertNoContentAsync("POST", database + "/admin/indexes/stop");
        await PutAsync(database, "users/2", """{"age":7,"@metadata":{"@collection":"Users"}}""");
        Assert.True(
            (await GetAsync(database + "/indexes/progress?wait=15000"))
                .GetProperty("Results")[0]
                .GetProperty("IsStale")
                .GetBoolean()
        );
        (await server.SendAsync("GET", database + "/indexes/progress?wait=long")).IsRefusal(400, "wait");
    }

    [Fact]
    public async Task A_paused_index_lags_and_continues_when_resumed()
    {
        string database = await DefineAsync("age");
        await AwaitNonStaleAsync(database);
        // One index, and then all indexes.
        foreach (string selection in (string[])["?name=" + ByAge, ""])
        {
            await AssertNoContentAsync("POST", database + "/admin/indexes/stop" + selection);
            var status = await GetAsync(database + "/indexes/status");
            Assert.Equal(selection.Length > 0 ? "Running" : "Paused", status.GetProperty("Status").GetString());
            Assert.Equal("Paused", status.GetProperty("Indexes")[0].GetProperty("Status").GetString());
            await PutAsync(database, "users/1", """{"age":7,"@metadata":{"@collection":"Users"}}""");
            Assert.True(
                (await GetAsync(database + "/indexes/staleness?name=" + ByAge)).GetProperty("IsStale").GetBoolean()
            );
            await AssertNoContentAsync("POST", database + "/admin/indexes/start" + selection);
            await AwaitNonStaleAsync(database);
        }
    }

    [Fact]
    public async Task An_index_defined_while_all_are_paused_is_paused_until_it_or_all_are_resumed()
    {
        string database = await DefineAsync("age");
        await AssertNoContentAsync("POST", database + "/admin/indexes/stop");
        const string defined =
            """{"Indexes":[{"Name":"B","Maps":["from u in docs.Us select new { u.n }"]},{"Name":"C","Maps":["from u in docs.Us select new { u.n }"]}]}""";
        Assert.Equal(201, (await server.SendAsync("PUT", database + "/admin/indexes", defined)).Status);
        await AssertNoContentAsync("POST", database + "/admin/indexes/start?name=B");
        Assert.Equal("Paused:Paused Running Paused", await ReadPausesAsync());
        await AssertNoContentAsync("POST", database + "/admin/indexes/start");
        Assert.Equal("Running:Running Running Running", await ReadPausesAsync());

        async Task<string> ReadPausesAsync()
        {
            var status = await GetAsync(database + "/indexes/status");
            var indexes = status.GetProperty("Indexes").EnumerateArray();
            return status.GetProperty("Status").GetString()
                + ":"
                + string.Join(' ', indexes.Select(static index => index.GetProperty("Status").GetString()));
        }
    }

    [Fact]
    public async Task An_index_is_disabled_and_enabled_again()
    {
        string database = await DefineAsync("age");
        await AssertNoContentAsync("POST", database + "/admin/indexes/disable?name=" + ByAge + "&clusterWide=true");
        Assert.Equal(
            "Disabled",
            (await GetAsync(database + "/indexes/stats")).GetProperty("Results")[0].GetProperty("State").GetString()
        );
        await AssertNoContentAsync("POST", database + "/admin/indexes/enable?name=" + ByAge);
        Assert.Equal(
            "Normal",
            (await GetAsync(database + "/indexes/stats")).GetProperty("Results")[0].GetProperty("State").GetString()
        );
    }

    [Fact]
    public async Task Lock_mode_and_priority_are_stored_with_the_definition()
    {
        string database = await DefineAsync("age");
        await AssertNoContentAsync(
            "POST",
            database + "/indexes/set-lock",
            $$"""{"IndexNames":["{{ByAge}}"],"Mode":"LockedIgnore"}"""
        );
        await AssertNoContentAsync(
            "POST",
            database + "/indexes/set-priority",
            $$"""{"IndexNames":["{{ByAge}}"],"Priority":"High"}"""
        );
        var listed = (await GetAsync(database + "/indexes?name=" + ByAge)).GetProperty("Results")[0];
        Assert.Equal("LockedIgnore", listed.GetProperty("LockMode").GetString());
        Assert.Equal("High", listed.GetProperty("Priority").GetString());
        (
            await server.SendAsync(
                "POST",
                database + "/indexes/set-priority",
                $$"""{"IndexNames":["{{ByAge}}"],"Priority":"Highest"}"""
            )
        ).IsRefusal(400, "Normal, Low, High");
        (
            await server.SendAsync(
                "POST",
                database + "/indexes/set-priority",
                """{"IndexNames":[],"Priority":"High"}"""
            )
        ).IsRefusal(400, "IndexNames");
    }

    [Fact]
    public async Task An_index_is_reset_and_deleted()
    {
        string database = await DefineAsync("age");
        await PutAsync(database, "users/1", """{"age":7,"@metadata":{"@collection":"Users"}}""");
        await AwaitNonStaleAsync(database);
        await AssertNoContentAsync("RESET", database + "/indexes?name=" + ByAge);
        await AwaitNonStaleAsync(database);
        await AssertNoContentAsync("DELETE", database + "/indexes?name=" + ByAge);
        Assert.Equal(0, (await GetAsync(database + "/indexes")).GetProperty("Results").GetArrayLength());
        (await server.SendAsync("DELETE", database + "/indexes?name=" + ByAge)).IsRefusal(404, ByAge);
    }

    [Theory]
    [InlineData("RESET", "/indexes?name=None", null)]
    [InlineData("GET", "/indexes/stats?name=None", null)]
    [InlineData("GET", "/indexes/staleness?name=None", null)]
    [InlineData("POST", "/admin/indexes/stop?name=None", null)]
    [InlineData("POST", "/admin/indexes/disable?name=None", null)]
    [InlineData("POST", "/indexes/set-lock", """{"IndexNames":["None"],"Mode":"Unlock"}""")]
    public async Task Requests_for_a_missing_index_are_refused_by_name(string method, string path, string? body) =>
        (await server.SendAsync(method, await server.CreateDatabaseAsync() + path, body)).IsRefusal(
            404,
            "There is no index 'None'"
        );

    [Theory]
    [InlineData("GET", "/indexes/history")]
    [InlineData("GET", "/indexes/performance")]
    public async Task Unsupported_index_features_are_refused_by_name(string method, string path) =>
        (await server.SendAsync(method, await server.CreateDatabaseAsync() + path, "{}")).IsRefusal(
            501,
            "not supported"
        );

    [Theory]
    [InlineData("/indexes")]
    [InlineData("/admin/indexes")]
    public async Task An_index_is_defined_and_compared_with_a_changed_definition(string path)
    {
        string database = await server.CreateDatabaseAsync();
        await PutAsync(database, "users/1", """{"first":"ann","age":7,"@metadata":{"@collection":"Users"}}""");
        const string Definition =
            """{"Name":"Users/ByFirst","IndexType":"JavaScriptMap","Maps":["map('Users', u => ({ first: u.first }))"],"Fields":{},"Configuration":{}}""";
        Assert.True(
            (await server.SendAsync("POST", database + "/indexes/has-changed", Definition))
                .Json.GetProperty("Changed")
                .GetBoolean()
        );
        var put = await server.SendAsync("PUT", database + path, $$"""{"Indexes":[{{Definition}}]}""");
        Assert.Equal(201, put.Status);
        Assert.Equal("Users/ByFirst", put.Json.GetProperty("Results")[0].GetProperty("Index").GetString());
        Assert.False(
            (await server.SendAsync("POST", database + "/indexes/has-changed", Definition))
                .Json.GetProperty("Changed")
                .GetBoolean()
        );
        // A changed map; a map and options that no index can have; a member that the Node client adds.
        foreach (
            var (text, replacement, isChange) in new[]
            {
                ("first: u.first", "first: u.age", true),
                ("u => ({ first: u.first })", "u => ", true),
                ("\"Fields\":{}", "\"Fields\":{\"First\":{\"Indexing\":\"Search\"}}", true),
                ("\"Fields\":{}", "\"Fields\":{},\"_indexSourceType\":\"Documents\"", false),
            }
        )
        {
            string definition = Definition.Replace(text, replacement, StringComparison.Ordinal);
            Assert.Equal(
                isChange,
                (await server.SendAsync("POST", database + "/indexes/has-changed", definition))
                    .Json.GetProperty("Changed")
                    .GetBoolean()
            );
        }

        foreach (
            var (setting, isChange) in new[] { ("\"Priority\":\"Low\"", true), ("\"Priority\":\"Normal\"", false) }
        )
        {
            Assert.Equal(
                isChange,
                (
                    await server.SendAsync(
                        "POST",
                        database + "/indexes/has-changed",
                        Definition.Replace("\"Fields\"", setting + ",\"Fields\"", StringComparison.Ordinal)
                    )
                )
                    .Json.GetProperty("Changed")
                    .GetBoolean()
            );
        }

        await AwaitNonStaleAsync(database);
        var listed = (await GetAsync(database + "/indexes?name=users/byfirst")).GetProperty("Results")[0];
        Assert.Equal("JavaScriptMap", listed.GetProperty("Type").GetString());
        Assert.Equal("map('Users', u => ({ first: u.first }))", listed.GetProperty("Maps")[0].GetString());
        var stats = (await GetAsync(database + "/indexes/stats")).GetProperty("Results")[0];
        Assert.Equal(1, stats.GetProperty("EntriesCount").GetInt32());
        Assert.True(stats.GetProperty("Collections").TryGetProperty("Users", out _));
        Assert.Equal(
            "ann",
            (await GetAsync(database + "/indexes/terms?name=Users/ByFirst&field=first"))
                .GetProperty("Terms")[0]
                .GetString()
        );
    }

    [Theory]
    [InlineData("{}", 400, "The body must be")]
    [InlineData(
        """{"Indexes":[{"Name":"A","Maps":["map('Users', u => ({ a: ) }))"]}]}""",
        400,
        "'A' was not defined: The map, line 1"
    )]
    [InlineData(
        """{"Indexes":[{"Name":"A","Maps":["map('Users', u => ({ a: u.a }))"],"OutputReduceToCollection":"B"}]}""",
        501,
        "OutputReduceToCollection"
    )]
    [InlineData("""{"Indexes":[{"Name":"Auto/A","Maps":["map('Users', u => ({ a: u.a }))"]}]}""", 400, "automatic")]
    [InlineData(
        """{"Indexes":[{"Name":"A","Maps":["map('Users', u => ({ a: u.a, c: 1 }))"],"Reduce":"// from results\ngroupBy(r => r.a).aggregate(g => ({ a: g.key, c: g.values.length }))"}]}""",
        400,
        "'A' was not defined: The member 'c' of the reduce depends on how often its rows are reduced"
    )]
    [InlineData(
        """{"Indexes":[{"Name":"Twice","Maps":["map('A', a => ({ b: a.b }))"],"Priority":"Low","Priority":"High"}]}""",
        400,
        "Priority"
    )]
    [InlineData("""{"Indexes":[{"Na\ud800me":"A"}]}""", 400, "surrogate")]
    [InlineData("""{"Indexes":[{"Name":"\ud800","LockMode":"x"}]}""", 400, "UTF-8")]
    [InlineData("""{"Indexes":[{"LockMode":"x","Name":"\ud800"}]}""", 400, "LockMode")]
    public async Task A_definition_that_is_refused_stores_nothing(string body, int status, string reason)
    {
        string database = await server.CreateDatabaseAsync();
        (await server.SendAsync("PUT", database + "/admin/indexes", body)).IsRefusal(status, reason);
        Assert.Equal(0, (await GetAsync(database + "/indexes")).GetProperty("Results").GetArrayLength());
    }

    [Fact]
    public async Task Metrics_and_readyz_summarise_all_indexes()
    {
        await AwaitNonStaleAsync(await DefineAsync("age"));
        string metrics = (await server.SendAsync("GET", "/metrics")).Body;
        Assert.Matches("(?m)^rookery_indexes{state=\"normal\"} [1-9]", metrics);
        Assert.Contains("rookery_indexing_share_ratio 1", metrics, StringComparison.Ordinal);
        Assert.True((await GetAsync("/readyz?verbose")).GetProperty("Indexes").GetInt32() > 0);
    }

    /// <summary>Creates a database with an automatic index of users, and returns the database's path.</summary>
    private async Task<string> DefineAsync(params string[] fields)
    {
        string path = await server.CreateDatabaseAsync();
        Assert.True(server.Node.Databases.TryGet(Path.GetFileName(path), out var database));
        var definition = new AutoIndexDefinition(
            "Users",
            fields.Select(static field => new AutoIndexField([field], AutoIndexFieldUses.None))
        );
        using var writer = new IndexWriter(database.Number, key: default);
        writer.Put(definition.Name, definition.ToJson(), default);
        Assert.Null((await server.Node.Consensus.ProposeAsync(writer.Complete(), CancellationToken.None)).Rejection);
        return path;
    }

    private async Task PutAsync(string database, string id, string document) =>
        Assert.Equal(201, (await server.SendAsync("PUT", $"{database}/docs?id={id}", document)).Status);

    private async Task<JsonElement> GetAsync(string path)
    {
        var answer = await server.SendAsync("GET", path);
        Assert.True(answer.Status == 200, $"{answer.Status}: {answer.Body}");
        return answer.Json;
    }

    /// <summary>Sends a request, which must be answered by 204.</summary>
    private async Task AssertNoContentAsync(string method, string path, string? body = null)
    {
        var answer = await server.SendAsync(method, path, body);
        Assert.True(answer.Status == 204, $"{answer.Status}: {answer.Body}");
    }

    // As RavenDB's test helpers do.
    private async Task AwaitNonStaleAsync(string database)
    {
        while (
            (await GetAsync(database + "/stats"))
                .GetProperty("Indexes")
                .EnumerateArray()
                .Any(static index => index.GetProperty("IsStale").GetBoolean())
        )
        {
            await Task.Delay(20);
        }
    }
}
