using System.Text;

namespace Rookery.Server.Tests.Raven;

/// <summary>Bad input gets a clear 4xx and stores nothing.</summary>
public sealed class BadInputTests(RunningServer server) : IClassFixture<RunningServer>
{
    /// <summary>What is wrong, the JSON, the status, and text in the message.</summary>
    public static TheoryData<string, string, int, string> BadDocuments() =>
        new()
        {
            { "no JSON", "name: ann", 400, "" },
            { "nothing", "", 400, "" },
            { "cut off", """{"a":[1,2""", 400, "" },
            { "two values", "{}{}", 400, "" },
            { "no object", "[1]", 400, "object" },
            { "a trailing comma", """{"a":1,}""", 400, "" },
            { "a comment", """{"a":1/*x*/}""", 400, "" },
            { "a number with a zero before it", """{"a":01}""", 400, "number" },
            { "NaN", """{"a":NaN}""", 400, "" },
            { "a duplicate key", """{"a":1,"a":2}""", 400, "a" },
            { "a duplicate key by escape", """{"a":1,"\u0061":2}""", 400, "a" },
            { "a duplicate key inside", """{"x":[{"b":1,"b":1}]}""", 400, "b" },
            {
                "too many levels",
                string.Concat(Enumerable.Repeat("""{"a":""", 200)) + "1" + new string('}', 200),
                400,
                "128"
            },
            { "a lone surrogate", """{"a":"\ud800"}""", 400, "surrogate" },
            { "a raw control character", "{\"a\":\"\u0001\"}", 400, "control" },
            { "metadata that is no object", """{"@metadata":7}""", 400, "@metadata" },
            { "a collection that is no text", """{"@metadata":{"@collection":7}}""", 400, "@collection" },
            { "an expiry that is no date", """{"@metadata":{"@expires":"soon"}}""", 400, "@expires" },
            { "more than 8 MiB", $$"""{"a":"{{new string('x', 8 << 20)}}"}""", 413, "8.0 MiB" },
        };

    [Theory]
    [MemberData(nameof(BadDocuments))]
    public async Task A_bad_document_is_refused(string flaw, string json, int status, string named)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("PUT", db + "/docs?id=a", json)).IsRefusal(status, named);
        if (status == 400 && json.Length > 0)
        {
            (
                await server.SendAsync(
                    "POST",
                    db + "/bulk_docs",
                    $$"""{"Commands":[{"Id":"good","Type":"PUT","Document":{} },{"Id":"a","Type":"PUT","Document":{{json}}}]}"""
                )
            ).IsRefusal(400, "");
        }

        Assert.True(await server.CountAsync(db) == 0, $"a document with {flaw} is not stored");
    }

    [Fact]
    public async Task Bytes_that_are_not_UTF8_are_refused()
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync("PUT", db + "/docs?id=a", (byte[])[.. "{\"a\":\""u8, 0xC3, 0x28, .. "\"}"u8])
        ).IsRefusal(400, "UTF-8");
        (await server.SendAsync("PUT", db + "/docs?id=%C3%28", "{}"u8.ToArray())).IsRefusal(400, "UTF-8");
        (await server.SendAsync("GET", db + "/docs?id=%FF")).IsRefusal(400, "UTF-8");
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("GET", "{db}/docs?id=a")]
    [InlineData("GET", "{db}/docs?startsWith=a")]
    [InlineData("POST", "{db}/queries")]
    [InlineData("GET", "{db}/streams/docs?startsWith=")]
    [InlineData("GET", "{db}/stats")]
    [InlineData("GET", "{db}/export")]
    [InlineData("GET", "{db}/changes/stream")]
    [InlineData("POST", "{db}/multi_get")]
    [InlineData("GET", "/databases")]
    public async Task An_unknown_consistency_is_refused_by_every_read(string method, string route)
    {
        string path = route.Replace("{db}", await server.CreateDatabaseAsync(), StringComparison.Ordinal);
        path += (path.Contains('?', StringComparison.Ordinal) ? "&" : "?") + "consistency=";
        foreach (string wrong in (string[])["lokal", "locally", "true"])
        {
            (await server.SendAsync(method, path + wrong, method is "POST" ? "{}" : null)).IsRefusal(
                400,
                $"The parameter 'consistency' must be local, or be left out, not '{wrong}'."
            );
        }
    }

    [Theory]
    // The limit is 512 bytes.
    [InlineData("PUT", "/docs?id=", 600, 400, "512")]
    [InlineData("GET", "/docs?id=", 600, 400, "512")]
    [InlineData("DELETE", "/docs?id=", 600, 400, "512")]
    [InlineData("HEAD", "/docs?id=", 600, 400, "")]
    [InlineData("GET", "/docs?startsWith=", 600, 400, "512")]
    public async Task Ids_that_are_too_long_are_refused(string method, string url, int length, int status, string named)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(method, db + url + new string('i', length), method is "PUT" ? "{}" : null);
        Assert.Equal(status, answer.Status);
        if (method is not "HEAD")
        {
            answer.IsRefusal(status, named);
        }
    }

    [Theory]
    [InlineData("DELETE", "/docs", "id")]
    [InlineData("PATCH", "/docs", "id")]
    [InlineData("PUT", "/docs?id=a%0Ab", "control")]
    [InlineData("GET", "/docs?startsWith=a&start=x", "start")]
    [InlineData("GET", "/streams/docs?startsWith=a&pageSize=-1", "pageSize")]
    [InlineData("POST", "/docs", "")]
    [InlineData("GET", "/docs?id=a&metadataOnly=maybe", "metadataOnly")]
    [InlineData("GET", "/docs?id=a&include=", "include")]
    [InlineData("GET", "/docs?startsWith=a&metadataOnly=maybe", "metadataOnly")]
    [InlineData("PATCH", "/docs?id=a&skipPatchIfChangeVectorMismatch=maybe", "skipPatchIfChangeVectorMismatch")]
    public async Task Invalid_parameters_are_named(string method, string url, string named) =>
        (
            await server.SendAsync(
                method,
                await server.CreateDatabaseAsync() + url,
                method is "GET" or "DELETE" ? null : "{\"Ids\":7}"
            )
        ).IsRefusal(400, named);

    [Theory]
    [InlineData("/docs", """{"Ids":["a",}""")]
    [InlineData("/docs", "")]
    [InlineData("/docs", """{"Ids":["\ud800"]}""")]
    [InlineData("/docs", """{"Ids":["a"]} x""")]
    [InlineData("/docs", """{"name":"a document, by mistake"}""")]
    [InlineData("/queries", "")]
    [InlineData("/queries", "{\"Query\":\"from A\"")]
    [InlineData("/queries", """{"Query":"\ud800"}""")]
    [InlineData("/multi_get", "[[")]
    [InlineData("/multi_get", """{"Requests":[{"Content":7}]}""")]
    public async Task A_malformed_body_around_documents_is_refused_with_a_message_of_Rookery(string url, string body)
    {
        var answer = await server.SendAsync("POST", await server.CreateDatabaseAsync() + url, body);
        answer.IsRefusal(400, "");

        // In the published program the framework's messages are only resource keys.
        Assert.DoesNotContain("LineNumber", answer.Body, StringComparison.Ordinal);
        Assert.DoesNotContain("Cannot", answer.Body, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/multi_get", "[1]", "The body must be a JSON object.")]
    [InlineData("/multi_get", """{"Requests":[1]}""", "Each of 'Requests' must be a JSON object.")]
    [InlineData("/multi_get", """{"Requests":[[]]}""", "Each of 'Requests' must be a JSON object.")]
    public async Task A_refusal_names_what_must_be_an_object(string url, string body, string named) =>
        (await server.SendAsync("POST", await server.CreateDatabaseAsync() + url, body)).IsRefusal(400, named);

    [Fact]
    public async Task A_header_of_an_inner_request_that_comes_twice_is_refused()
    {
        const string Body =
            """{"Requests":[{"Url":"/docs","Headers":{"If-None-Match":"\"a\"","if-none-match":"b"}}]}""";
        (await server.SendAsync("POST", await server.CreateDatabaseAsync() + "/multi_get", Body)).IsRefusal(
            400,
            "the header 'if-none-match' twice"
        );
    }

    [Theory]
    [InlineData("POST", "/queries", """{"query":"from Users"}""", "Did you mean 'Query'?")]
    [InlineData("POST", "/queries", """{"Query":"from Users","PagesSize":1}""", "Did you mean 'PageSize'?")]
    [InlineData("PUT", "/admin/indexes", """{"indexes":[]}""", "Did you mean 'Indexes'?")]
    [InlineData("PUT", "/admin/indexes", """{"Indexes":[{"Name":"i","Map":"from d in docs select d"}]}""", "'Maps'?")]
    [InlineData("PATCH", "/docs?id=a", """{"patch":{"Script":"this.x = 1"}}""", "Send 'Patch'")]
    [InlineData("PATCH", "/docs?id=a", """{"Patch":{"script":"this.x = 1"}}""", "Send 'Script'")]
    [InlineData("POST", "/bulk_docs", """{"commands":[]}""", "Send 'Commands'")]
    [InlineData("POST", "/bulk_docs", """{"Commands":[{"ID":"a","Type":"DELETE"}]}""", "Send 'Id'")]
    public async Task The_refusal_of_a_misspelt_member_suggests_the_right_name(
        string method,
        string route,
        string body,
        string named
    ) => (await server.SendAsync(method, await server.CreateDatabaseAsync() + route, body)).IsRefusal(501, named);

    [Fact]
    public async Task A_script_outside_of_Patch_is_refused_with_an_example() =>
        (
            await server.SendAsync(
                "PATCH",
                await server.CreateDatabaseAsync() + "/docs?id=a",
                """{"Script":"this.x = 1"}"""
            )
        ).IsRefusal(400, """'Script' belongs into 'Patch' ($.Script, line 1, byte 10). Send {"Patch":{"Script":""");

    [Fact]
    public async Task An_import_of_lines_without_line_breaks_is_refused_with_the_option_of_curl()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync("POST", db + "/import", """{"a":1}{"a":2}""");
        Assert.Contains("--data-binary", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_unknown_content_encoding_is_refused_by_name()
    {
        string db = await server.CreateDatabaseAsync();
        foreach (string encoding in (string[])["gzip", "br", "zstd"])
        {
            (await server.SendAsync("PUT", db + "/docs?id=a", "{}", ("Content-Encoding", encoding))).IsRefusal(
                415,
                encoding
            );
        }

        Assert.Equal(0, await server.CountAsync(db));
        Assert.Contains(
            "zstd",
            (await server.SendAsync("POST", db + "/bulk_insert", "[]", ("Content-Encoding", "zstd"))).Body,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("x\"y")]
    [InlineData("\"a\",\"b\"")]
    public async Task An_invalid_change_vector_is_refused(string ifMatch)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("PUT", db + "/docs?id=a", "{}", ("If-Match", ifMatch))).IsRefusal(400, "If-Match");
        (await server.SendAsync("PUT", db + "/docs?id=a", "{}", ("If-Match", new string('v', 300)))).IsRefusal(
            400,
            "If-Match"
        );
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("", 400)]
    [InlineData("[]", 400)]
    [InlineData("""{"Commands":7}""", 400)]
    [InlineData("""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},7]}""", 400)]
    [InlineData("""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},{"Id":"b","Type":"PUT"}]}""", 400)]
    [InlineData("""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},{"Id":"b","Document":{}}]}""", 400)]
    [InlineData("""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},{"Id":7,"Document":{},"Type":"PUT"}]}""", 400)]
    [InlineData(
        """{"Commands":[{"Id":"a","Document":{},"Type":"PUT"},{"Id":"b","ChangeVector":7,"Document":{},"Type":"PUT"}]}""",
        400
    )]
    [InlineData("""{"Commands":[{"Id":"a","Document":{},"Type":"PUT"}]} x""", 400)]
    public async Task A_bad_batch_stores_nothing(string body, int status)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", db + "/bulk_docs", body)).IsRefusal(status, "");
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_batch_over_the_limit_is_refused_with_the_limit()
    {
        string db = await server.CreateDatabaseAsync();
        // Five documents, each within the limit of one: 40 MB together.
        string text = new('x', 8_000_000);
        string commands = string.Join(
            ',',
            Enumerable.Range(0, 5).Select(i => $$"""{"Id":"a{{i}}","Type":"PUT","Document":{"t":"{{text}}"} }""")
        );
        (
            await server.SendAsync(
                "POST",
                db + "/bulk_docs",
                Encoding.UTF8.GetBytes($$"""{"Commands":[{{commands}}]}"""),
                ("Expect", "100-continue")
            )
        ).IsRefusal(413, "bulk insert");
        Assert.Equal(0, await server.CountAsync(db));
    }
}
