namespace Rookery.Server.Tests.Raven;

/// <summary>counters, Counters commands of bulk_docs, and loads that include counters.</summary>
public sealed class CounterTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_batch_answers_a_detail_for_each_increment_and_get_in_order()
    {
        string db = await StartAsync();
        var answer = await PostAsync(
            db,
            """
            {"Documents":[
              {"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"Likes","Delta":5},
                {"Type":"Delete","CounterName":"none"},{"Type":"Get","CounterName":"none"}]},
              {"DocumentId":"USERS/2","Operations":[{"Type":"Increment","CounterName":"likes","Delta":-1}]}]}
            """
        );
        Assert.Equal(200, answer.Status);
        const string Likes = """{"DocumentId":"users/1","CounterName":"Likes","TotalValue":5}""";
        Assert.Equal(
            $$"""[{{Likes}},null,{"DocumentId":"USERS/2","CounterName":"likes","TotalValue":-1}]""",
            answer.Json.GetProperty("Counters").GetRawText()
        );
        Assert.Equal(
            """[{"DocumentId":"users/1","CounterName":"Likes","TotalValue":5}]""",
            await CountersAsync(db, "docId=users/1")
        );
        Assert.Equal(
            """[null,{"DocumentId":"users/1","CounterName":"LIKES","TotalValue":5}]""",
            await CountersAsync(db, "docId=users/1&counter=x&counter=LIKES")
        );
        Assert.Equal("[]", await CountersAsync(db, "docId=users/9"));
        string full = await CountersAsync(db, "docId=users/1&full=true");
        Assert.Contains("\"CounterValues\":{\"A:", full, StringComparison.Ordinal);
        Assert.Equal(
            2,
            (await server.SendAsync("GET", db + "/stats")).Json.GetProperty("CountOfCounterEntries").GetInt32()
        );
    }

    [Fact]
    public async Task A_batch_that_only_reads_takes_no_entry_of_the_log()
    {
        string db = await StartAsync();
        await IncrementAsync(db, "users/1", "a", 1);
        long Index() => server.Node.Consensus.AppliedIndex;
        long before = Index();
        var answer = await PostAsync(
            db,
            """{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Get","CounterName":"a"}]}]}"""
        );
        Assert.Equal(1, answer.Json.GetProperty("Counters")[0].GetProperty("TotalValue").GetInt64());
        Assert.Equal(before, Index());
    }

    [Fact]
    public async Task Commands_of_one_batch_store_documents_and_counters_together()
    {
        string db = await StartAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """
            {"Commands":[{"Id":"new","Type":"PUT","Document":{}},
              {"Id":"new","Type":"Counters","Counters":{"DocumentId":"new","Operations":[
                {"Type":"Increment","CounterName":"b","Delta":2},{"Type":"Delete","CounterName":"c"},
                {"Type":"Increment","CounterName":"a","Delta":1}]}},
              {"Id":"users/1","Type":"Counters","Counters":{"Operations":[{"Type":"Delete","CounterName":"c"}]}},
              {"Id":"users/2","Type":"DELETE"}]}
            """
        );
        Assert.Equal(201, answer.Status);
        var results = answer.Json.GetProperty("Results");
        Assert.Equal(4, results.GetArrayLength());
        var counters = results[1];
        Assert.Equal("Counters", counters.GetProperty("Type").GetString());
        Assert.Equal("new", counters.GetProperty("Id").GetString());
        Assert.Equal(
            ["b", "a"],
            counters
                .GetProperty("CountersDetail")
                .GetProperty("Counters")
                .EnumerateArray()
                .Select(detail => detail.GetProperty("CounterName").GetString())
        );
        var document = (await server.SendAsync("GET", db + "/docs?id=new")).Json.GetProperty("Results")[0];
        var metadata = document.GetProperty("@metadata");
        Assert.Equal("""["a","b"]""", metadata.GetProperty("@counters").GetRawText());
        Assert.Equal(
            metadata.GetProperty("@change-vector").GetString(),
            counters.GetProperty("DocumentChangeVector").GetString()
        );
        Assert.Equal(0, results[2].GetProperty("CountersDetail").GetProperty("Counters").GetArrayLength());
        Assert.True(results[3].GetProperty("Deleted").GetBoolean());
    }

    [Fact]
    public async Task A_session_that_counts_overwrites_no_version_that_it_has_not_seen()
    {
        string db = await StartAsync();
        await IncrementAsync(db, "users/1", "a", 1);
        string loaded = await ChangeVectorAsync(db, "users/1");
        await server.SendAsync("PUT", db + "/docs?id=users/1", """{"by":"another session"}""");

        const string Increment =
            """{"Commands":[{"Id":"users/1","Type":"Counters","Counters":{"Operations":[OPERATION]}}]}""";
        async Task<string?> CountAsync(string operation, string key) =>
            (
                await server.SendAsync(
                    "POST",
                    $"{db}/bulk_docs?raft-request-id={key}",
                    Increment.Replace("OPERATION", operation, StringComparison.Ordinal)
                )
            )
                .Json.GetProperty("Results")[0]
                .GetProperty("DocumentChangeVector")
                .GetString();
        const string Existing = """{"Type":"Increment","CounterName":"a","Delta":1}""";
        const string Missing = """{"Type":"Increment","CounterName":"b","Delta":1}""";
        string? answered = await CountAsync(Existing, "6f9619ff-8b86-d011-b42d-00c04fc964f1");
        Assert.Null(answered);
        Assert.Null(await CountAsync(Existing, "6f9619ff-8b86-d011-b42d-00c04fc964f1"));

        // A client saves with the change vector of the answer, or with the one that it loaded if the answer has none.
        var saved = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            $$"""
            {"Commands":[{"Id":"users/1","Type":"PUT","ChangeVector":"{{answered ?? loaded}}","Document":{"by":"me"} }]}
            """
        );
        Assert.Equal(409, saved.Status);

        string? changed = await CountAsync(Missing, "6f9619ff-8b86-d011-b42d-00c04fc964f2");
        Assert.Equal(await ChangeVectorAsync(db, "users/1"), changed);
        Assert.Equal(changed, await CountAsync(Missing, "6f9619ff-8b86-d011-b42d-00c04fc964f2"));
    }

    [Fact]
    public async Task A_missing_document_and_an_overflow_have_their_own_errors_and_nothing_is_stored()
    {
        string db = await StartAsync();
        const string Increment = """{"Type":"Increment","CounterName":"a","Delta":9223372036854775807}""";
        string both = $$"""
            {"Documents":[{"DocumentId":"users/1","Operations":[{{Increment}}]},
            {"DocumentId":"no","Operations":[{{Increment}}]}]}
            """;
        (await PostAsync(db, both)).IsRefusal(404, "no");
        (
            await server.SendAsync(
                "POST",
                db + "/bulk_docs",
                $$"""
                {"Commands":[{"Id":"x","Type":"PUT","Document":{} },
                {"Id":"no","Type":"Counters","Counters":{"Operations":[{{Increment}}]} }]}
                """
            )
        ).IsRefusal(400, "no document no");
        Assert.Equal("[]", await CountersAsync(db, "docId=users/1"));
        await IncrementAsync(db, "users/1", "a", 1);
        var overflow = await PostAsync(
            db,
            $$"""{"Documents":[{"DocumentId":"users/1","Operations":[{{Increment}}]}]}"""
        );
        overflow.IsRefusal(400, "64 bits");
        Assert.EndsWith(
            ".CounterOverflowException",
            overflow.Json.GetProperty("Type").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(2, await server.CountAsync(db));
    }

    [Fact]
    public async Task Loads_include_counters_and_their_tag_changes_with_the_values()
    {
        string db = await StartAsync();
        await IncrementAsync(db, "users/1", "Likes", 3);
        string url = db + "/docs?id=USERS/1&id=users/2&id=none&counter=likes&counter=x";
        var first = await server.SendAsync("GET", url);
        const string Likes = """{"DocumentId":"users/1","CounterName":"likes","TotalValue":3}""";
        Assert.Equal(
            $$"""{"users/1":[{{Likes}},null],"users/2":[null,null]}""",
            first.Json.GetProperty("CounterIncludes").GetRawText()
        );
        await IncrementAsync(db, "users/1", "likes", 1);
        var second = await server.SendAsync("GET", url);
        Assert.NotEqual(first.Tag, second.Tag);
        var all = await server.SendAsync("GET", db + "/docs?id=users/1&counter=@all_counters");
        Assert.Equal(
            """{"users/1":[{"DocumentId":"users/1","CounterName":"Likes","TotalValue":4}]}""",
            all.Json.GetProperty("CounterIncludes").GetRawText()
        );
    }

    [Fact]
    public async Task A_repeated_request_id_increments_once()
    {
        string db = await StartAsync();
        for (int i = 0; i < 3; i++)
        {
            var answer = await server.SendAsync(
                "POST",
                $"{db}/counters?raft-request-id=6f9619ff-8b86-d011-b42d-00c04fc964ff",
                """
                {"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Increment","CounterName":"a","Delta":1}]}]}
                """
            );
            Assert.Equal(1, answer.Json.GetProperty("Counters")[0].GetProperty("TotalValue").GetInt64());
        }
    }

    [Theory]
    [InlineData("""{"Id":"a","Type":"Counters"}""", 400, "Counters")]
    [InlineData("""{"Id":"a","Type":"Counters","Counters":{"DocumentId":"b","Operations":[GET]}}""", 400, "differs")]
    [InlineData("""{"Id":"a","Type":"Counters","FromEtl":true,"Counters":{"Operations":[GET]}}""", 501, "FromEtl")]
    [InlineData("""{"Id":"a","Type":"PUT","Document":{},"Counters":{"Operations":[GET]}}""", 501, "Counters")]
    public async Task Invalid_counter_commands_are_refused(string command, int status, string text)
    {
        string db = await StartAsync();
        command = command.Replace("GET", """{"Type":"Get","CounterName":"a"}""", StringComparison.Ordinal);
        (await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{command}}]}""")).IsRefusal(status, text);
    }

    [Fact]
    public async Task A_bulk_insert_stores_documents_and_their_counters()
    {
        string db = await StartAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_insert",
            """
            [{"Id":"a","Type":"PUT","Document":{}},
             {"Id":"a","Type":"Counters","Counters":{"DocumentId":"a","Operations":[
               {"Type":"Increment","CounterName":"x","Delta":3},{"Type":"Increment","CounterName":"y","Delta":1}]}},
             {"Type":"HeartBeat"},{"Id":"b","Type":"PUT","Document":{}},
             {"Id":"A","Type":"Counters","Counters":{"Operations":[
               {"Type":"Increment","CounterName":"X","Delta":4}]}}]
            """
        );
        Assert.Equal(201, answer.Status);
        Assert.Equal(
            """
            [{"DocumentId":"a","CounterName":"x","TotalValue":7},{"DocumentId":"a","CounterName":"y","TotalValue":1}]
            """,
            await CountersAsync(db, "docId=a")
        );
        Assert.Equal(4, await server.CountAsync(db));
    }

    [Fact]
    public async Task An_export_says_how_many_counters_it_leaves_out_and_an_import_how_many_lines_list_some_or_attachments()
    {
        string db = await StartAsync();
        await IncrementAsync(db, "users/1", "a", 1);
        var export = await server.SendAsync("GET", db + "/export");
        Assert.Equal("1", export.Headers.GetValues("Rookery-Left-Out-Counters").Single());
        string other = await server.CreateDatabaseAsync();
        var report = await server.SendAsync(
            "POST",
            other + "/import",
            export.Body + "{\"@metadata\":{\"@attachments\":[{}]}}\n"
        );
        Assert.Contains(
            "\"Stored\":3,\"Bad\":0,\"WithoutCounters\":1,\"WithoutAttachments\":1}",
            report.Body,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Queries_and_scripts_see_the_names_of_counters()
    {
        string db = await StartAsync();
        await IncrementAsync(db, "users/1", "Likes", 1);
        await IncrementAsync(db, "users/1", "Views", 1);
        foreach (
            string query in new[]
            {
                "from Users as u select { names: getMetadata(u)['@counters'], flags: getMetadata(u)['@flags'] }",
                "from Users where @metadata.@counters = 'Likes' select @metadata.@counters as names, "
                    + "@metadata.@flags as flags",
            }
        )
        {
            var answer = await server.SendAsync("POST", db + "/queries", $$"""{"Query":"{{query}}"}""");
            var row = answer.Json.GetProperty("Results")[0];
            Assert.Equal(
                ("[\"Likes\",\"Views\"]", "HasCounters"),
                (row.GetProperty("names").GetRawText(), row.GetProperty("flags").GetString())
            );
        }
    }

    [Fact]
    public async Task Counters_without_a_name_are_null_however_they_are_read()
    {
        string db = await StartAsync();
        Assert.Equal("[null]", await CountersAsync(db, "docId=users/1&counter="));
        var answer = await PostAsync(
            db,
            """{"Documents":[{"DocumentId":"users/1","Operations":[{"Type":"Get","CounterName":null}]}]}"""
        );
        Assert.Equal("[null]", answer.Json.GetProperty("Counters").GetRawText());
    }

    private async Task<string> StartAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/1", """{"@metadata":{"@collection":"Users"}}""");
        await server.SendAsync("PUT", db + "/docs?id=users/2", "{}");
        return db;
    }

    private Task<Answer> PostAsync(string db, string body) => server.SendAsync("POST", db + "/counters", body);

    private async Task IncrementAsync(string db, string id, string name, long delta) =>
        Assert.Equal(
            200,
            (
                await PostAsync(
                    db,
                    $$"""
                    {"Documents":[{"DocumentId":"{{id}}","Operations":[
                    {"Type":"Increment","CounterName":"{{name}}","Delta":{{delta}}}]}]}
                    """
                )
            ).Status
        );

    private async Task<string> CountersAsync(string db, string query) =>
        (await server.SendAsync("GET", $"{db}/counters?{query}")).Json.GetProperty("Counters").GetRawText();

    private async Task<string> ChangeVectorAsync(string db, string id) =>
        (await server.SendAsync("GET", $"{db}/docs?id={id}"))
            .Json.GetProperty("Results")[0]
            .GetProperty("@metadata")
            .GetProperty("@change-vector")
            .GetString()!;
}
