namespace Rookery.Server.Tests.Raven;

/// <summary>bulk_docs: one transaction, one result per command.</summary>
public sealed class BatchRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Every_command_has_its_result_in_order()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/2", "{}");
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """
            {"Commands":[
              {"Id":"users/1","ChangeVector":null,"OriginalChangeVector":"A:3-x","Document":{"name":"a","@metadata":{"@collection":"Users"}},"Type":"PUT"},
              {"Id":"users/2","ChangeVector":null,"Type":"DELETE"},
              {"Id":"users/none","ChangeVector":null,"Type":"DELETE"},
              {"Id":"users/1","ChangeVector":null,"Type":"PATCH","Patch":{"Script":"this.name = args.val_0;","Values":{"val_0":"b"}}},
              {"Id":"events/","Document":{},"Type":"PUT"}]}
            """
        );
        Assert.Equal(201, answer.Status);
        var results = answer.Json.GetProperty("Results");
        Assert.Equal(5, results.GetArrayLength());
        Assert.Equal("PUT", results[0].GetProperty("Type").GetString());
        Assert.Equal("users/1", results[0].GetProperty("@id").GetString());
        Assert.Equal("Users", results[0].GetProperty("@collection").GetString());
        Assert.Matches(@"^A:\d+-\S{22}$", results[0].GetProperty("@change-vector").GetString());
        Assert.EndsWith("Z", results[0].GetProperty("@last-modified").GetString(), StringComparison.Ordinal);
        Assert.True(results[1].GetProperty("Deleted").GetBoolean());
        Assert.False(results[2].GetProperty("Deleted").GetBoolean());
        Assert.Equal("Patched", results[3].GetProperty("PatchStatus").GetString());
        Assert.Matches(@"^events/\d{19}-A$", results[4].GetProperty("@id").GetString());
        Assert.Equal("@empty", results[4].GetProperty("@collection").GetString());
    }

    [Fact]
    public async Task An_empty_batch_is_answered_without_a_log_entry()
    {
        string db = await server.CreateDatabaseAsync();
        long before = server.Node.ReadStatistics()!.JournalLastIndex;
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """{"Commands":[]}""",
            ("Idempotency-Key", "none")
        );
        Assert.Equal((201, """{"Results":[]}"""), (answer.Status, answer.Body));
        Assert.Equal(before, server.Node.ReadStatistics()!.JournalLastIndex);
    }

    [Fact]
    public async Task The_first_conflict_fails_the_whole_batch()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """{"Commands":[{"Id":"b","Document":{},"Type":"PUT"},{"Id":"a","ChangeVector":"","Document":{},"Type":"PUT"}]}"""
        );
        answer.IsRefusal(409, "a");
        Assert.EndsWith("ConcurrencyException", answer.Json.GetProperty("Type").GetString(), StringComparison.Ordinal);
        Assert.Equal(1, await server.CountAsync(db));
    }

    [Theory]
    [InlineData(
        "?&waitForReplicasTimeout=00:00:05&throwOnTimeoutInWaitForReplicas=true&numberOfReplicasToWaitFor=majority",
        201
    )]
    [InlineData("?waitForReplicasTimeout=5000&throwOnTimeoutInWaitForReplicas=false&numberOfReplicasToWaitFor=1", 201)]
    [InlineData("?waitForReplicasTimeout=5000", 400)]
    [InlineData("?numberOfReplicasToWaitFor=many", 400)]
    [InlineData("?waitForIndexesTimeout=00:00:03&waitForIndexThrow=true", 201)]
    [InlineData(
        "?waitForReplicasTimeout=00:00:05&throwOnTimeoutInWaitForReplicas=true&numberOfReplicasToWaitFor=2",
        400
    )]
    [InlineData("?waitForIndexesTimeout=soon", 400)]
    [InlineData("?waitForIndexesTimeout=3000&waitForSpecificIndex=A", 404)]
    public async Task Waits_for_replicas_are_satisfied_at_once_or_refused_before_storing(string query, int status)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs" + query,
            """{"Commands":[{"Id":"a","Document":{},"Type":"PUT"}]}"""
        );
        Assert.Equal(status, answer.Status);
        Assert.Equal(status == 201 ? 1 : 0, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("TimeSeries")]
    [InlineData("CompareExchangePUT")]
    public async Task Commands_of_unsupported_features_are_refused_by_name(string type)
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync(
                "POST",
                db + "/bulk_docs",
                $$"""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},{"Id":"a","Type":"{{type}}"}]}"""
            )
        ).IsRefusal(501, type);
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_put_forces_a_revision_by_a_known_strategy_only()
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync(
                "POST",
                db + "/bulk_docs",
                """{"Commands":[{"Id":"a","Document":{},"ForceRevisionCreationStrategy":"After","Type":"PUT"}]}"""
            )
        ).IsRefusal(501, "ForceRevisionCreationStrategy");
        Assert.Equal(
            201,
            (
                await server.SendAsync(
                    "POST",
                    db + "/bulk_docs",
                    """{"Commands":[{"Id":"a","Document":{},"ForceRevisionCreationStrategy":"None","Type":"PUT"}]}"""
                )
            ).Status
        );
    }

    [Fact]
    public async Task Lazy_reads_are_limited_in_number_but_not_in_length()
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync(
                "POST",
                db + "/multi_get",
                $$"""{"Requests":[{{string.Join(',', Enumerable.Repeat("{}", 1025))}}]}"""
            )
        ).IsRefusal(400, "1024");
        string document = $$"""{"t":"{{new string('x', 6 << 20)}}"}""";
        foreach (string id in (string[])["a", "b", "c"])
        {
            await server.SendAsync("PUT", $"{db}/docs?id={id}", document);
        }

        var answer = await server.SendAsync(
            "POST",
            db + "/multi_get",
            $$$"""
            {"Requests":[
              {"Url":"{{{db}}}/queries","Method":"POST","Content":"{\"Query\":\"from @all_docs\"}"},
              {"Url":"{{{db}}}/docs","Query":"?id=a","Method":"GET"}]}
            """
        );
        var results = answer.Json.GetProperty("Results");
        Assert.Equal(200, results[0].GetProperty("StatusCode").GetInt32());
        Assert.Equal(3, results[0].GetProperty("Result").GetProperty("Results").GetArrayLength());
        Assert.Equal(200, results[1].GetProperty("StatusCode").GetInt32());
    }

    /// <summary>A tag would let the next request be answered with 304 after a part of its body was sent.</summary>
    [Theory]
    [InlineData("GET")]
    [InlineData("POST")]
    public async Task A_lazy_load_that_is_sent_in_parts_has_no_ETag_and_is_complete(string method)
    {
        string db = await server.CreateDatabaseAsync();
        const int Documents = 120;
        string text = new('x', 50_000);
        string[] ids = [.. Enumerable.Range(0, Documents).Select(static number => $"users/{number}")];
        var commands = ids.Select(id => $$"""{"Id":"{{id}}","Document":{"t":"{{text}}"},"Type":"PUT"}""");
        var stored = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            $$"""{"Commands":[{{string.Join(',', commands)}}]}"""
        );
        Assert.Equal(201, stored.Status);
        string load = method is "GET"
            ? $$""" "Query":"?id={{string.Join("&id=", ids)}}" """
            : $$""" "Content":{"Ids":["{{string.Join("\",\"", ids)}}"]} """;
        var answer = await server.SendAsync(
            "POST",
            db + "/multi_get",
            $$"""{"Requests":[{"Url":"{{db}}/docs","Method":"{{method}}","Headers":{"If-None-Match":"*"},{{load}} }]}"""
        );
        var result = answer.Json.GetProperty("Results")[0];
        Assert.Equal(200, result.GetProperty("StatusCode").GetInt32());
        Assert.Empty(result.GetProperty("Headers").EnumerateObject());
        Assert.Equal(Documents, result.GetProperty("Result").GetProperty("Results").GetArrayLength());
    }

    [Fact]
    public async Task A_lazy_query_of_a_missing_index_has_no_result()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/multi_get",
            $$$"""
            {"Requests":[
              {"Url":"{{{db}}}/queries","Query":"?queryHash=1","Method":"POST","Content":{"Query":"from index 'None'"}},
              {"Url":"{{{db}}}/docs","Query":"?&id=b","Method":"GET"}]}
            """
        );
        Assert.Equal(
            """{"Results":[{"Result":null,"StatusCode":404,"Headers":{}},{"Result":{"Results":[null],"Includes":{}},"StatusCode":404,"Headers":{}}]}""",
            answer.Body
        );
    }

    [Fact]
    public async Task Lazy_reads_come_in_one_answer()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", """{"x":1}""");
        var answer = await server.SendAsync(
            "POST",
            db + "/multi_get",
            $$$"""
            {"Requests":[
              {"Url":"{{{db}}}/docs","Query":"?&id=a","Method":"GET","Headers":{}},
              {"Url":"{{{db}}}/docs","Query":"?&id=b","Method":null,"Headers":{}},
              {"Url":"{{{db}}}/queries","Query":"?queryHash=1","Method":"POST","Headers":{},"Content":"{\"Query\":\"from @all_docs\"}"},
              {"Url":"{{{db}}}/queries","Query":"","Method":"POST","Content":"{\"Query\":\"from @all_docs where x = 1\"}"},
              {"Url":"{{{db}}}/attachments","Query":"?id=a","Method":"GET"},
              {"Url":"{{{db}}}/queries","Query":"?query=from+A","Method":"GET"},
              {"Url":"{{{db}}}/queries","Method":"POST","Content":{"Query":"from @all_docs","QueryParameters":{"p":[1,{"x":null}] } }},
              {"Url":"{{{db}}}/docs","Method":"POST","Content":{"Ids":["a"]}}]}
            """
        );
        Assert.Equal(200, answer.Status);
        var results = answer.Json.GetProperty("Results").EnumerateArray().ToArray();
        Assert.Equal(
            [200, 404, 200, 200, 501, 501, 200, 200],
            results.Select(result => result.GetProperty("StatusCode").GetInt32())
        );
        Assert.Equal(1, results[0].GetProperty("Result").GetProperty("Results")[0].GetProperty("x").GetInt32());
        Assert.StartsWith(
            "\"A:",
            results[0].GetProperty("Headers").GetProperty("ETag").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(
            System.Text.Json.JsonValueKind.Null,
            results[1].GetProperty("Result").GetProperty("Results")[0].ValueKind
        );
        Assert.Equal(1, results[2].GetProperty("Result").GetProperty("TotalResults").GetInt32());
        Assert.Equal(1, results[3].GetProperty("Result").GetProperty("TotalResults").GetInt32());
        Assert.Contains(
            "POST of its queries",
            results[5].GetProperty("Result").GetProperty("Message").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(1, results[6].GetProperty("Result").GetProperty("TotalResults").GetInt32());
        Assert.Equal(1, results[7].GetProperty("Result").GetProperty("Results")[0].GetProperty("x").GetInt32());
        string tag = results[0].GetProperty("Headers").GetProperty("ETag").GetString()!;
        var again = await server.SendAsync(
            "POST",
            db + "/multi_get",
            $$$"""{"Requests":[{"Url":"{{{db}}}/docs","Query":"?id=a","Method":"GET","Headers":{"If-None-Match":{{{System.Text.Json.JsonSerializer.Serialize(tag)}}}}}]}"""
        );
        Assert.Equal(304, again.Json.GetProperty("Results")[0].GetProperty("StatusCode").GetInt32());
    }
}
