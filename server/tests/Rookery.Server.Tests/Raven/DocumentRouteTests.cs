using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>The routes docs, hilo and identity, as docs/reference/http.md describes them.</summary>
public sealed class DocumentRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Ann =
        """{"name":"Ann Øst","n":1.50,"@metadata":{"@collection":"Users","Raven-Node-Type":"User"}}""";

    [Fact]
    public async Task Ids_that_end_in_a_slash_count_in_their_database()
    {
        string other = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", other + "/docs?id=users/1", "{}");
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/0000000000000000002-A", "{}");
        Assert.Equal("users/0000000000000000001-A", await PutAsync("users/"));
        Assert.Equal("users/0000000000000000003-A", await PutAsync("users/"));
        Assert.Equal("Orders/0000000000000000004-A", await PutAsync("Orders/"));
        const string Batch =
            """{"Commands":[{"Type":"PUT","Id":"users/","Document":{}},{"Type":"PUT","Id":"users/","Document":{}}]}""";
        var results = (await server.SendAsync("POST", db + "/bulk_docs", Batch)).Json.GetProperty("Results");
        Assert.Equal("users/0000000000000000006-A", results[1].GetProperty("@id").GetString());

        async Task<string?> PutAsync(string prefix) =>
            (await server.SendAsync("PUT", $"{db}/docs?id={prefix}", "{}")).Json.GetProperty("Id").GetString();
    }

    [Fact]
    public async Task Documents_of_ranges_keep_the_metadata_that_clients_gave_them()
    {
        string db = await server.CreateDatabaseAsync();
        const string Body = """{"Max":64,"@metadata":{"@collection":"HiloDocs","Raven-Node-Type":"HiloDoc"}}""";
        await server.SendAsync("PUT", db + "/docs?id=Raven/Hilo/users", Body);
        await server.SendAsync("GET", db + "/hilo/next?tag=users");
        Assert.Equal(96, await ReadMaxAsync());
        await server.SendAsync("PUT", db + "/hilo/return?tag=users&end=96&last=70");
        Assert.Equal(70, await ReadMaxAsync());

        async Task<int> ReadMaxAsync()
        {
            var answer = await server.SendAsync("GET", db + "/docs?id=Raven/Hilo/users");
            var document = answer.Json.GetProperty("Results")[0];
            Assert.Equal("HiloDoc", document.GetProperty("@metadata").GetProperty("Raven-Node-Type").GetString());
            return document.GetProperty("Max").GetInt32();
        }
    }

    [Fact]
    public async Task A_stored_document_is_returned_byte_for_byte_with_its_metadata()
    {
        string db = await server.CreateDatabaseAsync();
        var put = await server.SendAsync("PUT", db + "/docs?id=users/Ann", Ann);
        Assert.Equal(201, put.Status);
        Assert.Equal("users/Ann", put.Json.GetProperty("Id").GetString());
        string vector = put.Json.GetProperty("ChangeVector").GetString()!;
        Assert.Matches(@"^A:\d+-\S{22}$", vector);

        var read = await server.SendAsync("GET", db + "/docs?&id=USERS%2Fann");
        Assert.Equal(200, read.Status);
        Assert.Equal($"\"{vector}\"", read.Tag);
        Assert.Equal("7.2.0.0", Assert.Single(read.Headers.GetValues("Raven-Server-Version")));
        Assert.Equal(read.Body.Length + 1, read.ContentLength); // Ø takes two bytes
        Assert.StartsWith(
            "{\"Results\":[{\"name\":\"Ann Øst\",\"n\":1.50,\"@metadata\":{",
            read.Body,
            StringComparison.Ordinal
        );
        Assert.EndsWith("}}],\"Includes\":{}}", read.Body, StringComparison.Ordinal);
        var metadata = read.Json.GetProperty("Results")[0].GetProperty("@metadata");
        Assert.Equal("users/Ann", metadata.GetProperty("@id").GetString());
        Assert.Equal("Users", metadata.GetProperty("@collection").GetString());
        Assert.Equal("User", metadata.GetProperty("Raven-Node-Type").GetString());
        Assert.Equal(vector, metadata.GetProperty("@change-vector").GetString());
        Assert.Matches(@"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$", metadata.GetProperty("@last-modified").GetString());
    }

    [Theory]
    [InlineData("TAG", 304)]
    [InlineData("*", 304)]
    [InlineData("\"A:1-other\", TAG", 304)]
    [InlineData("W/TAG", 304)]
    [InlineData("\"A:1-other\"", 200)]
    [InlineData("no tag", 200)]
    public async Task A_document_whose_tag_the_client_sends_is_not_sent_again(string known, int status)
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        string tag = (await server.SendAsync("GET", db + "/docs?id=a")).Tag!;
        var again = await server.SendAsync(
            "GET",
            db + "/docs?id=a",
            (string?)null,
            ("If-None-Match", known.Replace("TAG", tag, StringComparison.Ordinal))
        );
        Assert.Equal(status, again.Status);
        Assert.Equal(
            404,
            (await server.SendAsync("GET", db + "/docs?id=b", (string?)null, ("If-None-Match", "*"))).Status
        );
    }

    [Fact]
    public async Task A_write_that_asks_for_a_receipt_gets_one()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.False((await server.SendAsync("PUT", db + "/docs?id=a", Ann)).Headers.Contains("Rookery-Receipt"));
        foreach (string method in new[] { "PUT", "DELETE" })
        {
            var withReceipt = await server.SendAsync(
                method,
                db + "/docs?id=a",
                method is "PUT" ? Ann : null,
                ("Rookery-Receipt", "1")
            );
            Assert.Matches(
                @"^entry=\d+, bytes=4096, commands=1, synced=\(A;ms=\d+\.\d{1,3}\)$",
                Assert.Single(withReceipt.Headers.GetValues("Rookery-Receipt"))
            );
        }
    }

    [Fact]
    public async Task An_unchanged_document_is_not_sent_again()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        var first = await server.SendAsync("GET", db + "/docs?id=a");
        var again = await server.SendAsync("GET", db + "/docs?id=a", headers: ("If-None-Match", first.Tag!));
        Assert.Equal(304, again.Status);
        Assert.Empty(again.Body);
        await server.SendAsync("PUT", db + "/docs?id=a", """{"b":1}""");
        Assert.Equal(
            200,
            (await server.SendAsync("GET", db + "/docs?id=a", headers: ("If-None-Match", first.Tag!))).Status
        );
    }

    [Fact]
    public async Task A_missing_document_is_404_alone_and_null_among_others()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        var missing = await server.SendAsync("GET", db + "/docs?id=b");
        Assert.Equal(404, missing.Status);
        Assert.Equal(0, missing.ContentLength);
        var both = await server.SendAsync("GET", db + "/docs?id=b&id=a&id=B");
        Assert.Equal(200, both.Status);
        Assert.Equal(
            [JsonValueKind.Null, JsonValueKind.Object, JsonValueKind.Null],
            both.Json.GetProperty("Results").EnumerateArray().Select(item => item.ValueKind)
        );
        Assert.NotNull(both.Tag);
        Assert.Equal(
            304,
            (await server.SendAsync("GET", db + "/docs?id=b&id=a&id=B", headers: ("If-None-Match", both.Tag!))).Status
        );
        var posted = await server.SendAsync("POST", db + "/docs?&loadHash=1", """{"Ids":["a","b"]}""");
        Assert.Equal(2, posted.Json.GetProperty("Results").GetArrayLength());
    }

    /// <summary>Clients ask for the documents of references, of which some are not set.</summary>
    [Fact]
    public async Task Null_and_empty_ids_name_no_document()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        JsonValueKind[] kinds = [JsonValueKind.Object, JsonValueKind.Null, JsonValueKind.Null];
        foreach (
            var answer in (Answer[])
                [
                    await server.SendAsync("GET", db + "/docs?&id=a&id=&id"),
                    await server.SendAsync("POST", db + "/docs", """{"Ids":["a",null,""]}"""),
                ]
        )
        {
            Assert.Equal(200, answer.Status);
            Assert.Equal(
                kinds,
                answer.Json.GetProperty("Results").EnumerateArray().Select(static item => item.ValueKind)
            );
        }

        Assert.Equal(404, (await server.SendAsync("GET", db + "/docs?id=")).Status);
        Assert.Equal(404, (await server.SendAsync("POST", db + "/docs", """{"Ids":[null]}""")).Status);
        (await server.SendAsync("POST", db + "/docs", """{"Ids":[7]}""")).IsRefusal(400, "'Ids' must be a string");
    }

    [Fact]
    public async Task Includes_follow_paths_through_objects_and_arrays_once_each()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/1", Ann);
        await server.SendAsync("PUT", db + "/docs?id=products/1", """{"p":1}""");
        await server.SendAsync("PUT", db + "/docs?id=products/2", """{"p":2}""");
        await server.SendAsync(
            "PUT",
            db + "/docs?id=orders/1",
            """{"buyer":{"id":"users/1"},"lines":[{"product":"products/1"},{"product":"products/2"},{"product":"Products/1"},{"product":null},{"product":"none"}],"self":"orders/1"}"""
        );
        var read = await server.SendAsync(
            "GET",
            db + "/docs?id=orders/1&include=buyer.id&include=lines[].product&include=self&include=nothing.here"
        );
        var includes = read.Json.GetProperty("Includes");
        Assert.Equal(
            ["products/1", "products/2", "users/1"],
            includes.EnumerateObject().Select(member => member.Name).Order(StringComparer.Ordinal)
        );
        Assert.Equal(2, includes.GetProperty("products/2").GetProperty("p").GetInt32());
    }

    [Fact]
    public async Task Large_documents_are_sent_completely_and_release_their_memory()
    {
        string db = await server.CreateDatabaseAsync();
        string text = new('x', 7 << 20);
        await server.SendAsync("PUT", db + "/docs?id=large", $$"""{"t":"{{text}}"}""");
        for (int i = 0; i < 6; i++) // more than fit into memory together
        {
            var read = await server.SendAsync("GET", db + "/docs?id=large");
            Assert.Equal(200, read.Status);
            Assert.Equal(read.Body.Length, read.ContentLength);
            Assert.Equal(text, read.Json.GetProperty("Results")[0].GetProperty("t").GetString());
        }
    }

    [Fact]
    public async Task Metadata_only_can_be_requested()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        var read = await server.SendAsync("GET", db + "/docs?id=a&metadataOnly=true");
        Assert.Equal("@metadata", Assert.Single(read.Json.GetProperty("Results")[0].EnumerateObject().ToArray()).Name);
    }

    [Fact]
    public async Task Documents_with_a_prefix_are_listed_by_id_and_all_documents_newest_first()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string id in (string[])["users/1", "users/10", "users/11", "users/2", "orders/1"])
        {
            await server.SendAsync("PUT", db + "/docs?id=" + id, "{}");
        }

        Assert.Equal("users/1,users/10,users/11,users/2", await ListIdsAsync(db + "/docs?startsWith=Users%2F"));
        Assert.Equal("users/10,users/11", await ListIdsAsync(db + "/docs?startsWith=users/&matches=1%3F"));
        Assert.Equal("users/1,users/2", await ListIdsAsync(db + "/docs?startsWith=users/&matches=1|2"));
        Assert.Equal("users/2", await ListIdsAsync(db + "/docs?startsWith=users/&exclude=1*"));
        Assert.Equal("users/10,users/11", await ListIdsAsync(db + "/docs?&start=1&pageSize=2&startsWith=users/"));
        Assert.Equal("users/11", await ListIdsAsync(db + "/docs?startsWith=users/&matches=1%3F&start=1"));
        Assert.Equal("users/2", await ListIdsAsync(db + "/docs?startsWith=users/&startAfter=users/11"));
        Assert.Equal("", await ListIdsAsync(db + "/docs?startsWith=nobody/"));
        Assert.Equal("orders/1,users/2", await ListIdsAsync(db + "/docs?pageSize=2"));
    }

    [Fact]
    public async Task HEAD_returns_the_change_vector()
    {
        string db = await server.CreateDatabaseAsync();
        var put = await server.SendAsync("PUT", db + "/docs?id=a", Ann);
        var head = await server.SendAsync("HEAD", db + "/docs?id=a");
        Assert.Equal(200, head.Status);
        Assert.Equal($"\"{put.Json.GetProperty("ChangeVector").GetString()}\"", head.Tag);
        Assert.Equal(404, (await server.SendAsync("HEAD", db + "/docs?id=b")).Status);
    }

    [Fact]
    public async Task A_wrong_If_Match_stores_nothing()
    {
        string db = await server.CreateDatabaseAsync();
        string first = (await server.SendAsync("PUT", db + "/docs?id=a", """{"v":1}"""))
            .Json.GetProperty("ChangeVector")
            .GetString()!;
        string second = (await server.SendAsync("PUT", db + "/docs?id=a", """{"v":2}""", ("If-Match", $"\"{first}\"")))
            .Json.GetProperty("ChangeVector")
            .GetString()!;
        (await server.SendAsync("PUT", db + "/docs?id=a", """{"v":3}""", ("If-Match", $"\"{first}\""))).IsRefusal(
            409,
            second
        );
        (await server.SendAsync("PUT", db + "/docs?id=a", """{"v":3}""", ("If-Match", "\"\""))).IsRefusal(409, "");
        (await server.SendAsync("DELETE", db + "/docs?id=a", headers: ("If-Match", $"\"{first}\""))).IsRefusal(409, "");
        Assert.Equal(
            2,
            (await server.SendAsync("GET", db + "/docs?id=a"))
                .Json.GetProperty("Results")[0]
                .GetProperty("v")
                .GetInt32()
        );
        Assert.Equal(204, (await server.SendAsync("DELETE", db + "/docs?id=a", headers: ("If-Match", second))).Status);
        Assert.Equal(204, (await server.SendAsync("DELETE", db + "/docs?id=a")).Status);
        Assert.Equal(
            201,
            (await server.SendAsync("PUT", db + "/docs?id=a", """{"v":4}""", ("If-Match", "\"\""))).Status
        );
    }

    [Fact]
    public async Task The_server_generates_the_ids_that_clients_ask_for()
    {
        // An id that ends in / gets the etag, one that ends in | the next number of an identity, an empty one a GUID.
        string db = await server.CreateDatabaseAsync();
        async Task<string> PutAsync(string query) =>
            (await server.SendAsync("PUT", db + "/docs" + query, "{}")).Json.GetProperty("Id").GetString()!;
        Assert.Matches(@"^users/\d{19}-A$", await PutAsync("?id=users/"));
        Assert.Equal("users/1", await PutAsync("?id=users|"));
        Assert.Equal("users/2", await PutAsync("?id=users|"));
        Assert.True(Guid.TryParse(await PutAsync(""), out _));
        Assert.Equal(4, await server.CountAsync(db));
    }

    [Fact]
    public async Task An_identity_skips_existing_ids()
    {
        string db = await server.CreateDatabaseAsync();
        string commands = string.Join(
            ',',
            Enumerable.Range(1, 300).Select(i => $$"""{"Id":"users/{{i}}","Type":"PUT","Document":{} }""")
        );
        await server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{commands}}]}""");
        Assert.Equal(
            "users/301",
            (await server.SendAsync("PUT", db + "/docs?id=users|", "{}")).Json.GetProperty("Id").GetString()
        );
        Assert.Equal(
            "users/302",
            (await server.SendAsync("PUT", db + "/docs?id=users|", "{}")).Json.GetProperty("Id").GetString()
        );
        Assert.Equal(302, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("PUT", "/docs?id=users%7C", "{}")]
    [InlineData("PUT", "/docs?id=users/", "{}")]
    [InlineData("PUT", "/docs?id=", """{"n":1}""")]
    [InlineData("PUT", "/docs?id=a", "{}")]
    [InlineData("DELETE", "/docs?id=there", null)]
    [InlineData(
        "PATCH",
        "/docs?id=there",
        """{"Patch":{"Script":"this.n = this.n ? this.n + args.a : args.a;","Values":{"a":4}}}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs",
        """{"Commands":[{"Id":"b/","Document":{},"Type":"PUT"},{"Id":null,"Document":{},"Type":"PUT"},{"Id":"there","Type":"DELETE"}]}"""
    )]
    [InlineData("POST", "/identity/next?name=users%7C", null)]
    [InlineData("POST", "/identity/seed?name=users%7C&value=7&force=true", null)]
    [InlineData("GET", "/hilo/next?tag=users", null)]
    [InlineData("PUT", "/hilo/return?tag=returned&end=32&last=3", null)]
    public async Task A_repeated_write_with_the_same_idempotency_key_applies_once(
        string method,
        string route,
        string? body
    )
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=there", """{"n":1}""");
        await server.SendAsync("GET", db + "/hilo/next?tag=returned");
        var first = await server.SendAsync(method, db + route, body, ("Idempotency-Key", "k1"));
        Assert.InRange(first.Status, 200, 299);
        string before = await ReadStatisticsAsync(db);

        var again = await server.SendAsync(method, db + route, body, ("Idempotency-Key", "k1"));
        Assert.Equal(
            (first.Status, WithoutPatchedDocument(first.Body)),
            (again.Status, WithoutPatchedDocument(again.Body))
        );
        Assert.Equal(before, await ReadStatisticsAsync(db));
        Assert.Matches(@"^\d{4}-\d\d-\d\dT", Assert.Single(again.Headers.GetValues("Idempotency-Key-Horizon")));

        (await server.SendAsync("PUT", db + "/docs?id=other", "{}", ("Idempotency-Key", "k1"))).IsRefusal(
            422,
            "another request"
        );
        Assert.Equal(before, await ReadStatisticsAsync(db));
    }

    [Theory]
    [InlineData("PUT", "/docs?id=b", """{"n":1}""")]
    [InlineData("PUT", "/docs?id=a", """{"n":2}""")]
    [InlineData("PUT", "/docs?id=", """{"n":1}""")]
    [InlineData("DELETE", "/docs?id=a", null)]
    [InlineData("PATCH", "/docs?id=a", """{"Patch":{"Script":"this.n = args.a","Values":{"a":1}}}""")]
    [InlineData(
        "POST",
        "/bulk_docs",
        """{"Commands":[{"Id":"b","Document":{},"Type":"PUT"},{"Id":"c","Document":{},"Type":"PUT"}]}"""
    )]
    [InlineData("POST", "/identity/next?name=users%7C", null)]
    [InlineData("POST", "/identity/seed?name=users%7C&value=7", null)]
    [InlineData("GET", "/hilo/next?tag=users", null)]
    [InlineData("PUT", "/hilo/return?tag=users&end=32&last=3", null)]
    public async Task An_idempotency_key_reused_for_another_request_is_refused(
        string method,
        string route,
        string? body
    )
    {
        string db = await server.CreateDatabaseAsync();
        var key = ("Idempotency-Key", "k2");
        await server.SendAsync("PUT", db + "/docs?id=a", """{"n":1}""", key);
        string before = await ReadStatisticsAsync(db);
        (await server.SendAsync(method, db + route, body, key)).IsRefusal(422, "another request");
        Assert.Equal(before, await ReadStatisticsAsync(db));
    }

    [Fact]
    public async Task An_idempotency_key_belongs_to_one_database_and_to_one_If_Match_condition()
    {
        string db = await server.CreateDatabaseAsync();
        string other = await server.CreateDatabaseAsync();
        var key = ("Idempotency-Key", "k3");
        await server.SendAsync("PUT", db + "/docs?id=a", "{}", key);
        Assert.Equal(201, (await server.SendAsync("PUT", other + "/docs?id=b", "{}", key)).Status);
        (await server.SendAsync("PUT", db + "/docs?id=a", "{}", key, ("If-Match", "\"\""))).IsRefusal(
            422,
            "another request"
        );
        (await server.SendAsync("PUT", db + "/docs?id=a", "{}", ("Idempotency-Key", new string('k', 129)))).IsRefusal(
            400,
            "128"
        );
    }

    [Fact]
    public async Task Routes_that_cannot_recognise_repetitions_refuse_an_idempotency_key()
    {
        string db = await server.CreateDatabaseAsync();
        var key = ("Idempotency-Key", "k4");
        (await server.SendAsync("POST", db + "/bulk_insert?id=1", "[]", key)).IsRefusal(400, "bulk_insert");
        (await server.SendAsync("POST", db + "/import", "{}", key)).IsRefusal(400, "import");
        (await server.SendAsync("PUT", "/admin/databases?name=keyed", "{}", key)).IsRefusal(400, "admin/databases");
        (await server.SendAsync("DELETE", "/admin/databases", """{"DatabaseNames":["keyed"]}""", key)).IsRefusal(
            400,
            "admin/databases"
        );
    }

    [Fact]
    public async Task A_patch_is_answered_with_a_status_and_changes_the_document()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", """{"n":1,"tags":["x"]}""");
        const string Increment =
            """{"Patch":{"Script":"this.n = this.n ? this.n + args.val_0 : args.val_0;","Values":{"val_0":4}},"PatchIfMissing":null}""";
        var patched = await server.SendAsync("PATCH", db + "/docs?id=a", Increment);
        Assert.Equal(200, patched.Status);
        Assert.Equal("Patched", patched.Json.GetProperty("Status").GetString());
        Assert.True(patched.Json.TryGetProperty("ChangeVector", out _));
        Assert.Equal(404, (await server.SendAsync("PATCH", db + "/docs?id=b", Increment)).Status);
        (
            await server.SendAsync("PATCH", db + "/docs?id=a", """{"Patch":{"Script":"try {} catch (e) {}"}}""")
        ).IsRefusal(501, "script");

        var merged = await server.SendAsync(
            "PATCH",
            db + "/docs?id=a",
            """{"tags":null,"b":{"c":true}}""",
            ("Content-Type", "application/merge-patch+json")
        );
        Assert.Equal("Patched", merged.Json.GetProperty("Status").GetString());
        Assert.StartsWith(
            """{"Results":[{"n":5,"b":{"c":true},"@metadata":""",
            (await server.SendAsync("GET", db + "/docs?id=a")).Body,
            StringComparison.Ordinal
        );
    }

    // Returns values; at least one of them changes whenever a write of any kind is applied.
    private async Task<string> ReadStatisticsAsync(string db) =>
        (await server.SendAsync("GET", db + "/stats")).Json.GetProperty("LastDocEtag")
        + " "
        + await server.CountAsync(db)
        + (await server.SendAsync("GET", db + "/debug/identities")).Body
        + (await server.SendAsync("GET", db + "/docs?id=Raven/Hilo/users&id=Raven/Hilo/returned&id=there")).Body;

    // Removes the patched document from an answer, because the answer to a repeated patch lacks it.
    private static string WithoutPatchedDocument(string body) => body.Split(",\"ModifiedDocument\"")[0].TrimEnd('}');

    /// <summary>Returns the ids of the documents that a request lists, separated by commas.</summary>
    private async Task<string> ListIdsAsync(string url)
    {
        var answer = await server.SendAsync("GET", url);
        Assert.Equal(200, answer.Status);
        return string.Join(
            ',',
            answer
                .Json.GetProperty("Results")
                .EnumerateArray()
                .Select(item => item.GetProperty("@metadata").GetProperty("@id").GetString())
        );
    }
}
