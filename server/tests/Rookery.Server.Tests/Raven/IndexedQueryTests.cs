using System.Text.Json;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Tests.Raven;

/// <summary>Queries of collections that are large enough for an index.</summary>
public sealed class IndexedQueryTests : IndexedDatabase
{
    [Fact]
    public async Task A_query_defines_its_index_and_is_answered_by_it()
    {
        var first = await AskAsync("from Users where age = 7 order by name");
        Assert.Equal("Auto/Users/ByageAndname", first.GetProperty("IndexName").GetString());
        Assert.False(first.GetProperty("IsStale").GetBoolean());
        Assert.Equal(["User 107", "User 157", "User 207", "User 257", "User 57", "User 7"], NamesOf(first));
        Assert.Equal(6, first.GetProperty("TotalResults").GetInt32());
        Assert.Equal(
            "Auto/Users/ByageAndname",
            (await GetAsync("/indexes?namesOnly=true")).GetProperty("Results")[0].GetString()
        );

        await WaitAsync();
        var reused = await AskAsync("from Users where age = 8 limit 2");
        Assert.Equal("Auto/Users/ByageAndname", reused.GetProperty("IndexName").GetString());
        Assert.Equal(["User 8", "User 58"], NamesOf(reused));
        Assert.Equal(6, reused.GetProperty("TotalResults").GetInt32());
    }

    [Fact]
    public async Task An_answer_sees_all_writes_before_the_query()
    {
        await AskAsync("from Users where age = 7");
        for (int i = 0; i < 20; i++)
        {
            await PutAsync(1000 + i, "\"age\":7");
            var answer = await AskAsync("from Users where age = 7");
            Assert.False(answer.GetProperty("IsStale").GetBoolean());
            Assert.Equal(7 + i, answer.GetProperty("TotalResults").GetInt32());
        }
    }

    [Fact]
    public async Task A_query_of_few_documents_defines_its_index_before_the_answer()
    {
        Assert.Equal(
            201,
            (
                await Server.SendAsync(
                    "PUT",
                    Database + "/docs?id=pets/1",
                    """{"name":"rex","@metadata":{"@collection":"Pets"}}"""
                )
            ).Status
        );
        var answer = await AskAsync("from Pets where name = 'rex'");
        Assert.Equal("Auto/Pets/Byname", answer.GetProperty("IndexName").GetString());
        Assert.Equal(1, answer.GetProperty("TotalResults").GetInt32());
        var defined = Assert.Single((await GetAsync("/indexes")).GetProperty("Results").EnumerateArray());
        Assert.Equal("Auto/Pets/Byname", defined.GetProperty("Name").GetString());
        Assert.False((await AskAsync("from Pets where name = 'rex'")).GetProperty("IsStale").GetBoolean());
    }

    [Fact]
    public async Task A_stale_index_answers_as_stale_unless_the_query_waits()
    {
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        await Server.SendAsync("POST", Database + "/admin/indexes/stop");
        await PutAsync(1000, "\"age\":7");
        const string Query = """{"Query":"from Users where age = 7"}""";
        var stale = await Server.SendAsync("POST", Database + "/queries", Query);
        Assert.True(stale.Json.GetProperty("IsStale").GetBoolean());
        Assert.Equal(6, stale.Json.GetProperty("TotalResults").GetInt32());
        Assert.Null(stale.Tag);
        var waited = await Server.SendAsync(
            "POST",
            Database + "/queries",
            """{"Query":"from Users where age = 7","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:00:00.010"}"""
        );
        waited.IsRefusal(500, "is paused on this node");
        Assert.Equal("System.TimeoutException", waited.Json.GetProperty("Type").GetString());

        await Server.SendAsync("POST", Database + "/admin/indexes/start");
        var fresh = await Server.SendAsync(
            "POST",
            Database + "/queries",
            """{"Query":"from Users where age = 7","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":15000}"""
        );
        Assert.False(fresh.Json.GetProperty("IsStale").GetBoolean());
        Assert.Equal(7, fresh.Json.GetProperty("TotalResults").GetInt32());
        var again = await Server.SendAsync("POST", Database + "/queries", Query);
        Assert.Equal(
            304,
            (await Server.SendAsync("POST", Database + "/queries", Query, ("If-None-Match", again.Tag!))).Status
        );
    }

    [Theory]
    [InlineData("admin/indexes/disable", "is disabled", "`rookery index enable`")]
    [InlineData("admin/indexes/stop", "is paused on this node", "`rookery index resume`")]
    public async Task A_paused_index_answers_from_what_it_has_indexed_and_is_not_waited_for(
        string route,
        string state,
        string remedy
    )
    {
        const string Query = "from index 'Ages' where age = 7";
        await Server.SendAsync(
            "PUT",
            Database + "/admin/indexes",
            """{"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.age }"]}]}"""
        );
        await WaitAsync();
        Assert.Equal(204, (await Server.SendAsync("POST", $"{Database}/{route}?name=Ages")).Status);
        await PutAsync(1000, "\"age\":7");
        var stale = await AskAsync(Query);
        Assert.True(stale.GetProperty("IsStale").GetBoolean());
        Assert.Equal(6, stale.GetProperty("TotalResults").GetInt32());

        // A query that waited in vain would last an hour.
        var refused = await Server.SendAsync(
            "POST",
            Database + "/queries",
            $$"""{"Query":"{{Query}}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"01:00:00"}"""
        );
        refused.IsRefusal(500, state);
        refused.IsRefusal(500, remedy);
        Assert.Equal("System.TimeoutException", refused.Json.GetProperty("Type").GetString());
    }

    [Fact]
    public async Task An_index_with_more_fields_replaces_one_with_fewer()
    {
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        await AskAsync("from Users where name = 'User 3'");
        await WaitAsync();
        Assert.Equal(
            "Auto/Users/ByageAndname",
            (await AskAsync("from Users where name = 'User 3'")).GetProperty("IndexName").GetString()
        );
        Assert.Equal(["Auto/Users/Byage", "Auto/Users/ByageAndname"], await NamesAsync());
        Time.Advance(TimeSpan.FromMinutes(2));
        // The index with fewer fields is deleted soon after no query needs it.
        await Server.Context.RetireIndexesAsync();
        Assert.Equal(["Auto/Users/ByageAndname"], await NamesAsync());
        Assert.Equal(6, (await AskAsync("from Users where age = 7")).GetProperty("TotalResults").GetInt32());
    }

    [Fact]
    public async Task An_index_that_no_query_uses_is_deleted_after_three_days()
    {
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        await Server.Context.RetireIndexesAsync();
        Time.Advance(TimeSpan.FromHours(71));
        await Server.Context.RetireIndexesAsync();
        Assert.Single(await NamesAsync());
        await AskAsync("from Users where age = 8");
        Time.Advance(TimeSpan.FromHours(71));
        await Server.Context.RetireIndexesAsync();
        Assert.Single(await NamesAsync());
        Time.Advance(TimeSpan.FromHours(2));
        await Server.Context.RetireIndexesAsync();
        Assert.Empty(await NamesAsync());
    }

    [Fact]
    public async Task A_query_whose_index_was_just_deleted_is_still_answered()
    {
        for (int i = 0; i < 6; i++)
        {
            var built = await AskAsync("from Users where age = 7");
            Assert.Equal("Auto/Users/Byage", built.GetProperty("IndexName").GetString());
            await WaitAsync();
            Assert.Equal(204, (await Server.SendAsync("DELETE", Database + "/indexes?name=Auto/Users/Byage")).Status);
            var answer = await Server.SendAsync(
                "POST",
                Database + "/queries",
                """{"Query":"from Users where age = 7","WaitForNonStaleResults":true}"""
            );
            Assert.True(answer.Status == 200, answer.Body);
            Assert.Equal(6, answer.Json.GetProperty("TotalResults").GetInt32());
        }
    }

    [Fact]
    public async Task A_query_may_name_its_index()
    {
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        var answer = await AskAsync("from index 'Auto/Users/Byage' where age = 7");
        Assert.Equal(6, answer.GetProperty("TotalResults").GetInt32());
        Assert.Equal("Auto/Users/Byage", answer.GetProperty("IndexName").GetString());
        (
            await Server.SendAsync(
                "POST",
                Database + "/queries",
                """{"Query":"from index 'Auto/Users/Byage' where name = 'ann'"}"""
            )
        ).IsRefusal(400, "does not hold name");
        (
            await Server.SendAsync(
                "POST",
                Database + "/queries",
                """{"Query":"from index 'None' where name = 'ann'"}"""
            )
        ).IsRefusal(404, "There is no index 'None'");
    }

    [Theory]
    [InlineData("from Users where id() in ('users/30', 'USERS/12', 'users/2')")]
    [InlineData("from Users where id() in ('users/30', 'users/12', 'users/2') and age >= 0")]
    [InlineData("from index 'Auto/Users/Byage' where id() in ('users/30', 'users/12', 'users/2') and age >= 0")]
    [InlineData("from index 'Ages' where id() in ('users/30', 'users/12', 'users/2')")]
    [InlineData("from index 'Ages' where id() in ('users/30', 'users/12', 'users/2') and age >= 0 select name, age")]
    [InlineData("from index 'Ages' where startsWith(id(), 'users/') limit 3 offset 9", "User 106,User 107,User 108")]
    public async Task Conditions_on_ids_give_the_same_order_by_index_and_scan(
        string query,
        string names = "User 12,User 2,User 30"
    )
    {
        await AskAsync("from Users where age = 7");
        await Server.SendAsync(
            "PUT",
            Database + "/admin/indexes",
            """{"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.name, u.age }"],"Fields":{"age":{"Storage":"Yes"}}}]}"""
        );
        foreach (int i in (int[])[12, 30, 2])
        {
            await PutAsync(i, $"\"age\":1,\"name\":\"User {i}\"");
        }

        var answer = (
            await Server.SendAsync(
                "POST",
                Database + "/queries",
                JsonSerializer.Serialize(
                    new Dictionary<string, object>(StringComparer.Ordinal)
                    {
                        ["Query"] = query,
                        ["WaitForNonStaleResults"] = true,
                    }
                )
            )
        ).Json;
        Assert.Equal(names, string.Join(',', NamesOf(answer)));
    }

    [Theory]
    [InlineData("lucene(name, 'user AND 7')", "Auto/Users/BySearch(name)", "User 7")]
    [InlineData(
        "exact(lucene(name, 'User\\ 29? NOT *9'))",
        "Auto/Users/ByExact(name)",
        "User 290,User 291,User 292,User 293,User 294,User 295,User 296,User 297,User 298"
    )]
    public async Task A_Lucene_clause_is_answered_by_an_index_of_words_or_of_exact_values(
        string condition,
        string index,
        string names
    )
    {
        await AskAsync($"from Users where {condition}");
        await WaitAsync();
        var answer = await AskAsync($"from Users where {condition}");
        Assert.Equal(index, answer.GetProperty("IndexName").GetString());
        Assert.Equal(names, string.Join(',', NamesOf(answer)));
        Assert.True(
            (await Server.SendAsync("POST", Database + "/queries?debug=explain", Body($"from Users where {condition}")))
                .Json.GetProperty("Results")[0]
                .GetProperty("IsChosen")
                .GetBoolean()
        );
    }

    [Fact]
    public async Task Explain_names_the_index_and_the_postings_read()
    {
        const string Body = """{"Query":"from Users where age = 7"}""";
        var before = (await Server.SendAsync("POST", Database + "/queries?debug=explain", Body)).Json;
        Assert.Contains(
            "Will be created for the query",
            before.GetProperty("Results")[0].GetProperty("Reason").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(0, (await GetAsync("/indexes")).GetProperty("Results").GetArrayLength());
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        var after = (await Server.SendAsync("POST", Database + "/queries?debug=explain", Body)).Json;
        Assert.Equal("Auto/Users/Byage", after.GetProperty("IndexName").GetString());
        Assert.Contains(
            "Has all fields that the query needs",
            after.GetProperty("Results")[0].GetProperty("Reason").GetString(),
            StringComparison.Ordinal
        );
        // At least the six results, and at most one for each user.
        Assert.InRange(after.GetProperty("PostingsRead").GetInt64(), 6, Users);
    }

    [Fact]
    public async Task Explain_lists_each_index_with_its_reason_and_marks_the_chosen_one()
    {
        // Two queries create automatic indexes. Neither of these has the field of the third query.
        await AskAsync("from Users where name = 'User 1'");
        await AskAsync("from Users where age = 7");
        await WaitAsync();
        var rows = (
            await Server.SendAsync(
                "POST",
                Database + "/queries?debug=explain",
                """{"Query":"from Users where city = 'Ulm'"}"""
            )
        )
            .Json.GetProperty("Results")
            .EnumerateArray()
            .ToArray();
        string[] names = [.. rows.Select(static row => row.GetProperty("Index").GetString()!)];
        Assert.Equal(names.Length, names.Distinct(StringComparer.Ordinal).Count());
        Assert.All(
            rows[..^1],
            static row =>
                Assert.StartsWith("Lacks city", row.GetProperty("Reason").GetString(), StringComparison.Ordinal)
        );
        Assert.All(
            rows,
            static row =>
                Assert.DoesNotContain(
                    row.GetProperty("Index").GetString()!,
                    row.GetProperty("Reason").GetString(),
                    StringComparison.Ordinal
                )
        );
        Assert.Equal(
            [.. Enumerable.Repeat(false, rows.Length - 1), true],
            rows.Select(static row => row.GetProperty("IsChosen").GetBoolean())
        );

        var scanned = Assert.Single(
            (
                await Server.SendAsync(
                    "POST",
                    Database + "/queries?debug=explain",
                    """{"Query":"from Users filter city = 'Ulm'"}"""
                )
            )
                .Json.GetProperty("Results")
                .EnumerateArray()
        );
        Assert.Equal(System.Text.Json.JsonValueKind.Null, scanned.GetProperty("Index").ValueKind);
        Assert.True(scanned.GetProperty("IsChosen").GetBoolean());

        var read = Assert.Single(
            (await Server.SendAsync("POST", Database + "/queries?debug=explain", """{"Query":"from Users"}"""))
                .Json.GetProperty("Results")
                .EnumerateArray()
        );
        Assert.Equal("collection/Users", read.GetProperty("Index").GetString());
    }

    /// <summary>Clients take 0 for a time that was not measured.</summary>
    [Theory]
    [InlineData(0, 0)]
    [InlineData(1, 1)]
    [InlineData(TimeSpan.TicksPerMillisecond, 1)]
    [InlineData(TimeSpan.TicksPerMillisecond + 1, 2)]
    public void Times_are_rounded_up(long ticks, long milliseconds) =>
        Assert.Equal(milliseconds, QueryTimings.RoundUp(TimeSpan.FromTicks(ticks)));

    [Fact]
    public async Task Timings_are_sent_on_request()
    {
        var timings = (await AskAsync("from Users where age = 7 include timings()")).GetProperty("Timings");
        Assert.Equal(
            ["Parser", "Index", "Query", "Results"],
            timings.GetProperty("Timings").EnumerateObject().Select(static part => part.Name)
        );
        Assert.False((await AskAsync("from Users where age = 7")).TryGetProperty("Timings", out _));
    }

    [Fact]
    public async Task Timings_requested_outside_the_text_do_not_shift_error_positions()
    {
        var answer = await Server.SendAsync(
            "POST",
            Database + "/queries",
            """{"Query":"from Users where age = 7 limit 1","IncludeTimings":true}"""
        );
        Assert.Equal(
            ["Parser", "Index", "Query", "Results"],
            answer.Json.GetProperty("Timings").GetProperty("Timings").EnumerateObject().Select(static part => part.Name)
        );
        (
            await Server.SendAsync(
                "POST",
                Database + "/queries",
                """{"Query":"from Users where","IncludeTimings":true}"""
            )
        ).IsRefusal(400, "Line 1, column 17");
    }

    [Theory]
    [InlineData("from Users where age >= 0")]
    [InlineData("from Users where search(name, 'user') include highlight(name, 20, 1)")]
    public async Task Timings_exclude_the_time_of_a_slow_client(string query)
    {
        await AskAsync(query + " limit 1");
        await WaitAsync();
        await Server.SendAsync("POST", Database + "/admin/indexes/stop");

        // The documents become too large for the connection's buffers. Because they changed, the query evaluates its
        // conditions again.
        string filler = new('x', 50_000);
        for (int i = 0; i < Users; i++)
        {
            await PutAsync(i, $"\"age\":1,\"name\":\"User {i}\",\"filler\":\"{filler}\"");
        }

        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Server.Address, Database + "/queries"));
        request.Content = new StringContent(
            JsonSerializer.Serialize(new Dictionary<string, string>(StringComparer.Ordinal) { ["Query"] = query })
        );
        using var response = await Server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)response.StatusCode);

        // The query may count two of the three steps of 50 s as its own: at one of them, but not yet at the first, the
        // server waits for the client.
        for (int i = 0; i < 3; i++)
        {
            await Task.Delay(500);
            Time.Advance(TimeSpan.FromSeconds(50));
        }

        using var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        Assert.Equal(Users, answer.RootElement.GetProperty("Results").GetArrayLength());
        Assert.InRange(answer.RootElement.GetProperty("DurationInMs").GetInt64(), 0, 140_000);
    }

    [Fact]
    public async Task A_stream_is_read_from_an_index()
    {
        await AskAsync("from Users where age < 10");
        await WaitAsync();
        var answer = await Server.SendAsync(
            "POST",
            Database + "/streams/queries?format=jsonl",
            """{"Query":"from Users where age < 10 order by age as long"}"""
        );
        string[] lines = answer.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        using var statistics = JsonDocument.Parse(lines[0]);
        Assert.Equal(
            "Auto/Users/Byage",
            statistics.RootElement.GetProperty("Stats").GetProperty("IndexName").GetString()
        );
        Assert.Equal(60, statistics.RootElement.GetProperty("Stats").GetProperty("TotalResults").GetInt32());
        Assert.Equal(61, lines.Length);
    }

    [Fact]
    public async Task Terms_of_a_field_are_listed_in_order_page_by_page()
    {
        await AskAsync("from Users where age = 7 or name = 'x'");
        await WaitAsync();
        Assert.Equal(["0", "1", "2"], await TermsAsync("field=age&pageSize=3"));
        Assert.Equal(["48", "49"], await TermsAsync("field=age&fromValue=47"));
        Assert.Equal(["user 98", "user 99"], await TermsAsync("field=name&fromValue=User%2097"));
        Assert.Empty(await TermsAsync("field=city"));

        async Task<string[]> TermsAsync(string parameters) =>
            [
                .. (await GetAsync("/indexes/terms?name=Auto/Users/ByageAndname&" + parameters))
                    .GetProperty("Terms")
                    .EnumerateArray()
                    .Select(static term => term.GetString()!),
            ];
    }

    [Fact]
    public async Task A_replaced_definition_changes_the_answers()
    {
        const string Query =
            """{"Query":"from index 'Ages' where age = 7 order by name","WaitForNonStaleResults":true}""";
        await DefineAsync("u.age");
        var before = await Server.SendAsync("POST", Database + "/queries", Query);
        Assert.Equal(["User 107", "User 157", "User 207", "User 257", "User 57", "User 7"], NamesOf(before.Json));
        Assert.Equal(
            304,
            (await Server.SendAsync("POST", Database + "/queries", Query, ("If-None-Match", before.Tag!))).Status
        );

        await DefineAsync("u.age + 1");
        while (NamesOf((await Server.SendAsync("POST", Database + "/queries", Query)).Json) is ["User 107", ..])
        {
            await Task.Delay(20);
        }

        var after = await Server.SendAsync("POST", Database + "/queries", Query, ("If-None-Match", before.Tag!));
        Assert.Equal(200, after.Status);
        Assert.Equal(["User 106", "User 156", "User 206", "User 256", "User 56", "User 6"], NamesOf(after.Json));

        async Task DefineAsync(string age) =>
            Assert.Equal(
                201,
                (
                    await Server.SendAsync(
                        "PUT",
                        Database + "/admin/indexes",
                        $$"""{"Indexes":[{"Name":"Ages","Maps":["from u in docs.Users select new { u.name, age = {{age}} }"]}]}"""
                    )
                ).Status
            );
    }

    [Fact]
    public async Task A_search_defines_an_index_of_words()
    {
        await PutAsync(1000, "\"bio\":\"A quiet gardener of roses\"");
        var answer = await AskAsync("from Users where search(bio, 'roses')");
        Assert.Equal("Auto/Users/BySearch(bio)", answer.GetProperty("IndexName").GetString());
        Assert.Equal(1, answer.GetProperty("TotalResults").GetInt32());
    }

    protected override string MembersOf(int number) =>
        FormattableString.Invariant($"\"age\":{number % 50},\"name\":\"User {number}\"");

    private static string[] NamesOf(JsonElement answer) =>
        [
            .. answer
                .GetProperty("Results")
                .EnumerateArray()
                .Select(static result => result.GetProperty("name").GetString()!),
        ];
}
