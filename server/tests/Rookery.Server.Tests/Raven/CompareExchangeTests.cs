using System.Text;
using System.Text.Json;
using Rookery.Queries.Answering;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Tests.Raven;

/// <summary>cmpxchg, cluster-wide transactions, and the reads that include compare-exchange values.</summary>
public sealed class CompareExchangeTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_put_compares_the_index_and_answers_with_the_stored_value()
    {
        string db = await server.CreateDatabaseAsync();
        var created = await PutAsync(db, "Ann@b.c", 0, """{"Object":{"id":"users/1"},"@metadata":{"note":"x"}}""");
        Assert.True(created.GetProperty("Successful").GetBoolean());
        long index = created.GetProperty("Index").GetInt64();
        Assert.Equal(
            """{"Object":{"id":"users/1"},"@metadata":{"note":"x"}}""",
            created.GetProperty("Value").GetRawText()
        );

        var refused = await PutAsync(db, "ann@B.c", 0, """{"Object":2}""");
        Assert.False(refused.GetProperty("Successful").GetBoolean());
        Assert.Equal(index, refused.GetProperty("Index").GetInt64());
        Assert.Equal("users/1", refused.GetProperty("Value").GetProperty("Object").GetProperty("id").GetString());

        var changed = await PutAsync(db, "ann@B.c", index, """{"Object":null}""");
        Assert.True(changed.GetProperty("Successful").GetBoolean());
        Assert.True(changed.GetProperty("Index").GetInt64() > index);

        var missing = await PutAsync(db, "none", 5, """{"Object":1}""");
        Assert.False(missing.GetProperty("Successful").GetBoolean());
        Assert.Equal(JsonValueKind.Null, missing.GetProperty("Value").ValueKind);
        Assert.True(missing.GetProperty("Index").GetInt64() > 0);
    }

    [Fact]
    public async Task A_delete_compares_the_index_and_answers_with_the_deleted_value()
    {
        string db = await server.CreateDatabaseAsync();
        long index = (await PutAsync(db, "a", 0, """{"Object":"v"}""")).GetProperty("Index").GetInt64();
        var mismatch = (await server.SendAsync("DELETE", $"{db}/cmpxchg?key=a&index={index + 7}")).Json;
        Assert.False(mismatch.GetProperty("Successful").GetBoolean());
        Assert.Equal(index, mismatch.GetProperty("Index").GetInt64());
        var deleted = (await server.SendAsync("DELETE", $"{db}/cmpxchg?key=A&index={index}")).Json;
        Assert.True(deleted.GetProperty("Successful").GetBoolean());
        Assert.Equal("v", deleted.GetProperty("Value").GetProperty("Object").GetString());
        var again = (await server.SendAsync("DELETE", $"{db}/cmpxchg?key=a&index={index}")).Json;
        Assert.True(again.GetProperty("Successful").GetBoolean());
        Assert.Equal(JsonValueKind.Null, again.GetProperty("Value").ValueKind);
        Assert.Empty(await ListKeysAsync(db, "?key=a"));
    }

    [Fact]
    public async Task Values_are_listed_by_keys_by_prefix_and_by_pages()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string key in (string[])["Emails/c", "emails/a", "Emails/B", "other"])
        {
            await PutAsync(db, key, 0, """{"Object":1}""");
        }

        Assert.Equal(["emails/a", "none", "Emails/c"], await ListKeysAsync(db, "?&key=EMAILS/A&key=none&key=emails/c"));
        var missing = (await server.SendAsync("GET", $"{db}/cmpxchg?key=emails/a&key=none")).Json.GetProperty(
            "Results"
        );
        Assert.Equal("""{"Key":"none","Value":null,"Index":-1,"ChangeVector":null}""", missing[1].GetRawText());
        Assert.Equal(["emails/a", "Emails/B", "Emails/c"], await ListKeysAsync(db, "?&startsWith=eMails%2F"));
        Assert.Equal(["Emails/B"], await ListKeysAsync(db, "?&startsWith=emails/&start=1&pageSize=1"));
        Assert.Equal(4, (await ListKeysAsync(db, "?&start=0&pageSize=0")).Length);
        Assert.Empty(await ListKeysAsync(db, "?startsWith=zz"));
        foreach (string parameter in (string[])["startsWith", "start", "pageSize"])
        {
            (await server.SendAsync("GET", $"{db}/cmpxchg?key=a&{parameter}=1")).IsRefusal(
                400,
                $"'{parameter}' of GET cmpxchg has no meaning together with 'key'"
            );
        }

        Assert.Equal(
            4,
            (await server.SendAsync("GET", $"{db}/stats/detailed"))
                .Json.GetProperty("CountOfCompareExchange")
                .GetInt32()
        );
    }

    [Theory]
    [InlineData("PUT", "key=a&index=0", """{"Value":1}""", 400, "member Object")]
    [InlineData("PUT", "key=a&index=0", """{"Object":1,"b":2}""", 400, "member Object")]
    [InlineData("PUT", "key=a&index=0", "[1]", 400, "member Object")]
    [InlineData("PUT", "key=a&index=-1", """{"Object":1}""", 400, "index")]
    [InlineData("PUT", "key=a", """{"Object":1}""", 400, "index")]
    [InlineData("PUT", "index=0", """{"Object":1}""", 400, "key")]
    [InlineData("PUT", "key=rvn-atomic/a&index=0", """{"Object":1}""", 400, "atomic guards")]
    [InlineData("PUT", "key=a&index=0", """{"Object":1,"@metadata":{"@expires":"soon"}}""", 400, "@expires")]
    [InlineData(
        "PUT",
        "key=a&index=0",
        """{"Object":1,"@metadata":{"@expires":"2020-01-01T00:00:00Z"}}""",
        400,
        "the cluster's time is"
    )]
    [InlineData("PUT", "key=a%01&index=0", """{"Object":1}""", 400, "control character")]
    [InlineData("DELETE", "key=a&key=b&index=0", null, 400, "twice")]
    [InlineData("GET", "keys=a", null, 501, "keys")]
    public async Task An_invalid_request_is_refused_with_its_flaw(
        string method,
        string query,
        string? body,
        int status,
        string text
    )
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync(method, $"{db}/cmpxchg?{query}", body)).IsRefusal(status, text);
    }

    [Fact]
    public async Task A_key_has_at_most_512_bytes_and_a_value_a_mebibyte()
    {
        string db = await server.CreateDatabaseAsync();
        string longest = new('k', 512);
        Assert.True((await PutAsync(db, longest, 0, """{"Object":1}""")).GetProperty("Successful").GetBoolean());
        (await server.SendAsync("PUT", $"{db}/cmpxchg?key=k{longest}&index=0", """{"Object":1}""")).IsRefusal(
            400,
            "512"
        );
        string transaction = $$"""
            {"TransactionMode":"ClusterWide","Commands":[
              {"Type":"CompareExchangePUT","Id":"k{{longest}}","Index":0,"Document":{"Object":1} }]}
            """;
        Assert.Equal(
            "Raven.Client.Exceptions.CompareExchangeKeyTooBigException",
            (await server.SendAsync("POST", $"{db}/bulk_docs", transaction)).Json.GetProperty("Type").GetString()
        );
        (
            await server.SendAsync(
                "PUT",
                $"{db}/cmpxchg?key=a&index=0",
                $$"""{"Object":"{{new string('x', 1 << 20)}}"}"""
            )
        ).IsRefusal(413, "at most");
        (
            await server.SendAsync(
                "PUT",
                $"{db}/cmpxchg?key=a&index=0",
                $$"""{"Object":"{{new string('x', 9 << 20)}}"}"""
            )
        ).IsRefusal(413, "The compare-exchange value is larger than 1.0 MiB");
        string large = new('x', 200_000);
        var stored = await PutAsync(db, "a", 0, $$"""{"Object":"{{large}}"}""");
        Assert.Equal(large, stored.GetProperty("Value").GetProperty("Object").GetString());
        var refused = await PutAsync(db, "a", 0, """{"Object":1}""");
        Assert.Equal(large, refused.GetProperty("Value").GetProperty("Object").GetString());
        Assert.Equal(stored.GetProperty("Index").GetInt64(), refused.GetProperty("Index").GetInt64());
    }

    [Fact]
    public async Task A_request_that_is_repeated_under_its_id_is_applied_once()
    {
        string db = await server.CreateDatabaseAsync();
        const string Query = "/cmpxchg?key=a&index=0&raft-request-id=6b1f";
        var first = (await server.SendAsync("PUT", db + Query, """{"Object":1}""")).Json;
        var again = (await server.SendAsync("PUT", db + Query, """{"Object":1}""")).Json;
        Assert.True(again.GetProperty("Successful").GetBoolean());
        Assert.Equal(first.GetRawText(), again.GetRawText());
    }

    [Fact]
    public async Task A_transaction_answers_with_a_row_for_each_command_and_its_index()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await TransactAsync(
            db,
            """
            {"Id":"users/1","ChangeVector":null,"Document":{"n":1,"@metadata":{"@collection":"Users"}},"Type":"PUT"},
            {"Id":"events/","Document":{},"Type":"PUT"},
            {"Id":"none","ChangeVector":null,"Type":"DELETE"},
            {"Id":"Key","Document":{"Object":"users/1"},"Index":0,"Type":"CompareExchangePUT"},
            {"Id":"other","Index":0,"Type":"CompareExchangeDELETE"}
            """
        );
        Assert.Equal(201, answer.Status);
        Assert.True(answer.Json.GetProperty("TransactionIndex").GetInt64() > 0);
        var results = answer.Json.GetProperty("Results");
        Assert.Equal(
            ["PUT", "PUT", "DELETE", "CompareExchangePUT", "CompareExchangeDELETE"],
            results.EnumerateArray().Select(static result => result.GetProperty("Type").GetString()!)
        );
        Assert.Matches(@"^events/\d{19}-A$", results[1].GetProperty("@id").GetString());
        Assert.Equal("Key", results[3].GetProperty("Key").GetString());
        var read = (await server.SendAsync("GET", $"{db}/cmpxchg?key=key")).Json.GetProperty("Results")[0];
        Assert.Equal(results[3].GetProperty("Index").GetInt64(), read.GetProperty("Index").GetInt64());
    }

    [Fact]
    public async Task A_conflict_is_409_with_its_own_type_and_all_violations_and_stores_nothing()
    {
        string db = await server.CreateDatabaseAsync();
        await TransactAsync(db, """{"Id":"users/1","Document":{"n":1},"Type":"PUT"}""");
        var answer = await TransactAsync(
            db,
            """
            {"Id":"new","Document":{},"Type":"PUT"},
            {"Id":"USERS/1","Document":{"n":2},"Type":"PUT"},
            {"Id":"key","Document":{"Object":1},"Index":7,"Type":"CompareExchangePUT"}
            """
        );
        answer.IsRefusal(409, "users/1");
        Assert.Equal(
            "Raven.Client.Exceptions.ClusterTransactionConcurrencyException",
            answer.Json.GetProperty("Type").GetString()
        );
        Assert.Equal(
            ["Document USERS/1", "CompareExchange key"],
            answer
                .Json.GetProperty("ConcurrencyViolations")
                .EnumerateArray()
                .Select(static violation => $"{violation.GetProperty("Type")} {violation.GetProperty("Id")}")
        );
        Assert.Equal(1, await server.CountAsync(db));
        Assert.Empty(await ListKeysAsync(db, "?key=key"));
    }

    [Fact]
    public async Task A_transaction_without_atomic_writes_makes_no_guards()
    {
        string db = await server.CreateDatabaseAsync();
        for (int i = 0; i < 2; i++)
        {
            var answer = await TransactAsync(
                db,
                """{"Id":"users/1","Document":{},"Type":"PUT"}""",
                "?&disableAtomicDocumentWrites=true"
            );
            Assert.Equal(201, answer.Status);
        }

        Assert.Empty(await ListKeysAsync(db, ""));
    }

    [Fact]
    public async Task An_empty_transaction_is_answered_with_an_index()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await TransactAsync(db, "");
        Assert.Equal(201, answer.Status);
        Assert.True(answer.Json.GetProperty("TransactionIndex").GetInt64() > 0);
    }

    [Fact]
    public async Task Loaded_documents_include_the_values_whose_keys_they_hold()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", $"{db}/docs?id=a", """{"mail":"x@y","tags":["t1","none"]}""");
        await PutAsync(db, "X@y", 0, """{"Object":1}""");
        await PutAsync(db, "t1", 0, """{"Object":2}""");
        var answer = await server.SendAsync("GET", $"{db}/docs?&id=a&txMode=ClusterWide&cmpxchg=mail&cmpxchg=tags");
        var included = answer.Json.GetProperty("CompareExchangeValueIncludes");
        Assert.Equal(3, included.EnumerateObject().Count());
        Assert.Equal(1, included.GetProperty("x@y").GetProperty("Value").GetProperty("Object").GetInt32());
        Assert.Equal(2, included.GetProperty("t1").GetProperty("Value").GetProperty("Object").GetInt32());
        Assert.Equal(-1, included.GetProperty("none").GetProperty("Index").GetInt32());

        var posted = await server.SendAsync("POST", $"{db}/docs?&cmpxchg=mail", """{"Ids":["a"]}""");
        Assert.True(posted.Json.GetProperty("CompareExchangeValueIncludes").TryGetProperty("x@y", out _));

        // A value that changes also changes the tag of the response.
        long index = included.GetProperty("t1").GetProperty("Index").GetInt64();
        await PutAsync(db, "t1", index, """{"Object":3}""");
        var changed = await server.SendAsync("GET", $"{db}/docs?&id=a&cmpxchg=mail&cmpxchg=tags");
        Assert.NotEqual(answer.Tag, changed.Tag);
        foreach (string documents in (string[])["id=a", "startsWith=a", ""])
        {
            (await server.SendAsync("GET", $"{db}/docs?{documents}&txMode=Other")).IsRefusal(400, "txMode");
        }
    }

    // The only user whom the query finds; null for none.
    [Theory]
    [InlineData("from Users where mail = cmpxchg('blocked')", "users/1")]
    [InlineData("from Users where mail == cmpxchg($key)", "users/1")]
    [InlineData("from Users where id() = cmpxchg('ID')", "users/2")]
    [InlineData("from Users where age > cmpxchg('limit')", "users/2")]
    [InlineData("from Users where mail != cmpxchg('blocked')", "users/2")]
    [InlineData("from Users where mail = cmpxchg('none')", null)]
    public async Task Queries_compare_fields_with_values(string query, string? id)
    {
        string db = await server.CreateDatabaseAsync();
        await StoreUsersAsync(db);
        await PutAsync(db, "blocked", 0, """{"Object":"a@b"}""");
        await PutAsync(db, "id", 0, """{"Object":"users/2"}""");
        await PutAsync(db, "limit", 0, """{"Object":30}""");
        Assert.Equal(id is null ? [] : [id], await QueryIdsAsync(db, query));
    }

    [Fact]
    public async Task A_query_sees_a_value_that_changed_since_its_last_answer()
    {
        string db = await server.CreateDatabaseAsync();
        await StoreUsersAsync(db);
        long index = (await PutAsync(db, "k", 0, """{"Object":"a@b"}""")).GetProperty("Index").GetInt64();
        const string Query = "from Users where mail = cmpxchg('k') include cmpxchg(mail)";
        Assert.Equal(["users/1"], await QueryIdsAsync(db, Query));
        string? tag = (await QueryAsync(db, Query)).Tag;
        Assert.NotNull(tag);
        await PutAsync(db, "k", index, """{"Object":"c@d"}""");
        Assert.Equal(["users/2"], await QueryIdsAsync(db, Query));
        Assert.NotEqual(tag, (await QueryAsync(db, Query)).Tag);
    }

    /// <summary>
    /// A plan may contain a value that changes before the answer's snapshot. A tag of that snapshot would belong to the
    /// answer with the new value.
    /// </summary>
    [Theory]
    [InlineData("from Users where mail = cmpxchg('k')", false)]
    [InlineData("from Users where id() = cmpxchg('none')", false)]
    [InlineData("from Users include cmpxchg(mail)", true)]
    public async Task An_answer_that_is_newer_than_the_values_in_its_plan_has_no_tag(string query, bool hasTag)
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "k", 0, """{"Object":"a@b"}""");
        Assert.True(server.Node.Databases.TryGet(db["/databases/".Length..], out var database));
        var plan = server.Context.Queries.Plan(
            database,
            new QueryRequest(query, "{}"u8.ToArray(), Start: 0, long.MaxValue, Wait: null)
        );
        var tags = new QueryTags(database, Encoding.UTF8.GetBytes(query), query);
        using var planned = new PlannedQuery(plan, tags, database.LastEtag, tag: null, lease: null);
        await StoreUsersAsync(db);
        using var snapshot = database.OpenReader();
        Assert.Equal(hasTag, planned.TagIn(snapshot) is not null);
    }

    [Theory]
    [InlineData("mail", """[1]""")]
    [InlineData("mail", """{"a":1}""")]
    [InlineData("id()", """["users/1","users/2"]""")]
    [InlineData("id()", """{"a":1}""")]
    public async Task A_value_that_is_a_list_or_an_object_is_refused_where_it_is_compared(string field, string value)
    {
        string db = await server.CreateDatabaseAsync();
        await StoreUsersAsync(db);
        await PutAsync(db, "k", 0, $$"""{"Object":{{value}}}""");
        (await QueryAsync(db, $"from Users where {field} = cmpxchg('k')")).IsRefusal(400, "compared with");
    }

    [Fact]
    public async Task All_values_of_one_query_are_of_one_state()
    {
        const int Keys = 12;
        string db = await server.CreateDatabaseAsync();
        foreach (int number in (int[])[0, 1])
        {
            await server.SendAsync(
                "PUT",
                $"{db}/docs?id=n/{number}",
                $$$"""{"n":{{{number}}},"@metadata":{"@collection":"Numbers"}}"""
            );
        }

        // Each transaction gives the same number, 0 or 1, to all keys, so exactly one document has the number of all of
        // them. A query that read keys of different states would find none.
        long[] indexes = await SetAllAsync(new long[Keys], 0);
        string query =
            "from Numbers where "
            + string.Join(" and ", Enumerable.Range(0, Keys).Select(static key => $"n = cmpxchg('k{key}')"));
        Assert.Single(await QueryIdsAsync(db, query));
        using var isRead = new CancellationTokenSource();
        var writing = Task.Run(async () =>
        {
            for (int number = 1; !isRead.IsCancellationRequested; number++)
            {
                indexes = await SetAllAsync(indexes, number % 2);
            }
        });
        try
        {
            for (int i = 0; i < 300; i++)
            {
                Assert.Single(await QueryIdsAsync(db, query));
            }
        }
        finally
        {
            await isRead.CancelAsync();
            await writing;
        }

        async Task<long[]> SetAllAsync(long[] read, int number)
        {
            var answer = await TransactAsync(
                db,
                string.Join(
                    ',',
                    read.Select(
                        (index, key) =>
                            $$$"""{"Id":"k{{{key}}}","Document":{"Object":{{{number}}}},"Index":{{{index}}},"""
                            + "\"Type\":\"CompareExchangePUT\"}"
                    )
                )
            );
            Assert.True(answer.Status == 201, answer.Body);
            return
            [
                .. answer
                    .Json.GetProperty("Results")
                    .EnumerateArray()
                    .Select(static result => result.GetProperty("Index").GetInt64()),
            ];
        }
    }

    [Theory]
    [InlineData("from Users include cmpxchg(mail)")]
    [InlineData("from Users include cmpxchg('mail')")]
    [InlineData("from Users as u where u.age > 0 include cmpxchg(u.mail), cmpxchg('u.tag')")]
    public async Task Queries_include_the_values_whose_keys_their_results_hold(string query)
    {
        string db = await server.CreateDatabaseAsync();
        await StoreUsersAsync(db);
        await PutAsync(db, "A@b", 0, """{"Object":7}""");
        var answer = await QueryAsync(db, query);
        Assert.Equal(200, answer.Status);
        var included = answer.Json.GetProperty("CompareExchangeValueIncludes");
        Assert.Equal(7, included.GetProperty("a@b").GetProperty("Value").GetProperty("Object").GetInt32());
        Assert.Equal(-1, included.GetProperty("c@d").GetProperty("Index").GetInt32());
    }

    [Fact]
    public async Task Lazy_reads_of_values_are_parts_of_a_multi_get()
    {
        string db = await server.CreateDatabaseAsync();
        await PutAsync(db, "a", 0, """{"Object":1}""");
        var answer = await server.SendAsync(
            "POST",
            $"{db}/multi_get",
            $$$"""
            {"Requests":[
              {"Url":"{{{db}}}/cmpxchg","Query":"?&key=a","Method":"GET","Headers":{}},
              {"Url":"{{{db}}}/cmpxchg","Query":"?&key=none","Method":"GET","Headers":{}},
              {"Url":"{{{db}}}/cmpxchg","Query":"?&startsWith=a&start=0&pageSize=0","Method":"GET","Headers":{}}]}
            """
        );
        var results = answer.Json.GetProperty("Results");
        Assert.Equal(
            [200, 200, 200],
            results.EnumerateArray().Select(part => part.GetProperty("StatusCode").GetInt32())
        );
        Assert.Equal("a", results[2].GetProperty("Result").GetProperty("Results")[0].GetProperty("Key").GetString());
    }

    private async Task StoreUsersAsync(string db)
    {
        await server.SendAsync(
            "PUT",
            $"{db}/docs?id=users/1",
            """{"mail":"a@b","age":20,"@metadata":{"@collection":"Users"}}"""
        );
        await server.SendAsync(
            "PUT",
            $"{db}/docs?id=users/2",
            """{"mail":"c@d","age":40,"@metadata":{"@collection":"Users"}}"""
        );
    }

    private Task<Answer> QueryAsync(string db, string query) =>
        server.SendAsync(
            "POST",
            $"{db}/queries",
            JsonSerializer.Serialize(
                new
                {
                    Query = query,
                    QueryParameters = new { key = "blocked" },
                    WaitForNonStaleResults = true,
                }
            )
        );

    private async Task<string[]> QueryIdsAsync(string db, string query)
    {
        var answer = await QueryAsync(db, query);
        Assert.True(answer.Status == 200, answer.Body);
        return
        [
            .. answer
                .Json.GetProperty("Results")
                .EnumerateArray()
                .Select(static result => result.GetProperty("@metadata").GetProperty("@id").GetString()!),
        ];
    }

    private async Task<JsonElement> PutAsync(string db, string key, long index, string body)
    {
        var answer = await server.SendAsync("PUT", $"{db}/cmpxchg?key={Uri.EscapeDataString(key)}&index={index}", body);
        Assert.True(answer.Status == 200, answer.Body);
        return answer.Json;
    }

    private Task<Answer> TransactAsync(string db, string commands, string query = "") =>
        server.SendAsync(
            "POST",
            $"{db}/bulk_docs{query}",
            $$"""{"Commands":[{{commands}}],"TransactionMode":"ClusterWide"}"""
        );

    private async Task<string[]> ListKeysAsync(string db, string query)
    {
        var answer = await server.SendAsync("GET", $"{db}/cmpxchg{query}");
        Assert.True(answer.Status == 200, answer.Body);
        return
        [
            .. answer
                .Json.GetProperty("Results")
                .EnumerateArray()
                .Select(static item => item.GetProperty("Key").GetString()!),
        ];
    }
}
