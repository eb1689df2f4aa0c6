using System.IO.Compression;
using System.Net;
using System.Text;
using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Export and import of dumps.</summary>
public sealed class SmugglerRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    private const string Every = "Documents,Attachments,CounterGroups,CompareExchange,Identities,Indexes";
    private const string HashOfXyz = "4/PnXgILeK1zciPdfG/4DJfg4U8tZlJHV2RTQWLbmt4=";

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_dump_is_read_back_equal(bool isMultipart)
    {
        string from = await FillAsync();
        byte[] dump = await ExportAsync(from);
        string to = await server.CreateDatabaseAsync();
        for (int i = 0; i < 2; i++) // a second import changes nothing
        {
            var result = await ImportAsync(to, dump, isMultipart);
            Assert.Equal(3, Read(result, "Documents"));
            Assert.Equal(
                3,
                result.GetProperty("Documents").GetProperty("Attachments").GetProperty("ReadCount").GetInt64()
            );
            Assert.Equal(2, Read(result, "Counters"));
            Assert.Equal(1, Read(result, "CompareExchange"));
            Assert.Equal(1, Read(result, "Identities"));
            Assert.Equal(1, Read(result, "Indexes"));
            Assert.Equal("[]", result.GetProperty("Messages").GetRawText());
        }

        Assert.Equal(Normalize(dump), Normalize(await ExportAsync(to)));
        var file = await server.SendAsync("GET", to + "/attachments?id=users/2&name=b");
        Assert.Equal("xyz", file.Body);
        var counter = await server.SendAsync("GET", to + "/counters?docId=users/1&counter=Likes");
        Assert.Equal(7, counter.Json.GetProperty("Counters")[0].GetProperty("TotalValue").GetInt64());
        var stats = (await server.SendAsync("GET", to + "/stats")).Json;
        Assert.Equal(1, stats.GetProperty("CountOfUniqueAttachments").GetInt64());
    }

    [Fact]
    public async Task An_export_has_the_types_and_collections_that_are_wanted()
    {
        string db = await FillAsync();
        string all = Text(await ExportAsync(db, """{"OperateOnTypes":"Documents","Collections":["people"]}"""));
        using var dump = JsonDocument.Parse(all);
        Assert.Equal(1, dump.RootElement.GetProperty("Docs").GetArrayLength());
        Assert.Equal(["BuildVersion", "Docs"], dump.RootElement.EnumerateObject().Select(static each => each.Name));
    }

    [Fact]
    public async Task What_an_import_does_not_support_is_named_and_the_rest_is_stored()
    {
        string db = await server.CreateDatabaseAsync();
        const string Dump = """
            {"BuildVersion":60000,"DatabaseRecord":{"DatabaseName":"x"},
            "Docs":[{"a":[1,
            2],"@metadata":{"@id":"users/1","@collection":"Users",
            "@attachments":[{"Name":"n","Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"","Size":3}]}},
            {"b":1,"@metadata":{}},{"Size":99,"@raven-blob-size":9,"@metadata":{"@id":"users/2","@export-type":"Attachment"}}],
            "RevisionDocuments":[{"@metadata":{"@id":"users/1"}}],
            "TimeSeries":[{"@raven-blob-size":5}]}}}},{"@raven-blob-size":0}],
            "Indexes":[{"Type":"AutoMap","IndexDefinition":{}},
            {"Type":"Map","IndexDefinition":{"Name":"Bad","Maps":["what"]}}],
            "CounterGroups":[{"DocId":"none","Values":{"@dbIds":[],"@vals":{"likes":[3,1]}}},
            {"DocId":"users/1","Values":{"@dbIds":["x","y"],"@vals":{"likes":[3,1,4,9],"gone":"A:1-x"},"@names":{"likes":"Likes"}}}],
            "CompareExchange":[{"Key":"rvn-atomic/users/1","Value":"{}"},{"Key":"k","Value":{"Object":[1]}}],
            "Identities":[{"Key":"Users|","Value":12}]}
            """;
        var result = await ImportAsync(db, Encoding.UTF8.GetBytes(Dump), isMultipart: true);
        Assert.Equal(2, Read(result, "Documents"));
        Assert.Equal(
            """
            {"Atomic guards":1,"Docs without an id":1,"Indexes of queries":1,"TimeSeries":2}
            """.Trim(),
            result.GetProperty("LeftOut").GetRawText()
        );
        string messages = string.Join(
            '\n',
            result.GetProperty("Messages").EnumerateArray().Select(static each => each.GetString())
        );
        Assert.Contains("'n' of users/1", messages, StringComparison.Ordinal);
        Assert.Contains("There is no document none", messages, StringComparison.Ordinal);
        Assert.Contains("Bad", messages, StringComparison.Ordinal);
        var counters = (await server.SendAsync("GET", db + "/counters?docId=users/1")).Json.GetProperty("Counters");
        Assert.Equal(7, counters[0].GetProperty("TotalValue").GetInt64());
        Assert.Equal("Likes", counters[0].GetProperty("CounterName").GetString());
        Assert.Equal("{\"users|\":12}", (await server.SendAsync("GET", db + "/debug/identities")).Json.GetRawText());
    }

    [Theory]
    [InlineData("", "ends early")]
    [InlineData("[]", "'{' was expected")]
    [InlineData("""{"Docs":1}""", "not a list")]
    [InlineData("{\"a\\\\\":\"\\\"\",\"Docs\":2}", "Docs is not a list")]
    [InlineData("""{"Docs":[{"a":1,"@metadata":{"@id":"x"}}""", "ends early")]
    [InlineData(
        """{"Docs":[{"@metadata":{"@id":"x"}},{"@metadata":{"@id":"y","@attachments":[{"Hash":"h"}]}}]}""",
        "unexpected form"
    )]
    [InlineData("""{"Docs":[]} {}""", "follows")]
    [InlineData("""{"Identities":[{"Key":"a|"}]}""", "unexpected form")]
    [InlineData("""{"Identities":[{"Key":"a|","Value":"-1"}]}""", "unexpected form")]
    [InlineData("""{"TimeSeries":[{"@raven-blob-size":-5}]}""", "unexpected form")]
    public async Task A_dump_that_is_not_whole_is_400(string dump, string what)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", db + "/smuggler/import", Encoding.UTF8.GetBytes(dump))).IsRefusal(400, what);
        bool isStored = dump.Contains("\"x\"", StringComparison.Ordinal);
        Assert.Equal(isStored ? 200 : 404, (await server.SendAsync("GET", db + "/docs?id=x")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", db + "/docs?id=y")).Status);
    }

    [Theory]
    [InlineData(2000)]
    [InlineData(100_000)]
    public async Task A_name_of_a_section_that_is_too_long_is_refused_before_it_ends(int length)
    {
        string db = await server.CreateDatabaseAsync();
        (
            await server.SendAsync(
                "POST",
                db + "/smuggler/import",
                Encoding.UTF8.GetBytes("{\"" + new string('n', length))
            )
        ).IsRefusal(400, "longer than 1024 bytes");
    }

    [Fact]
    public async Task A_compressed_dump_that_is_cut_off_is_400_and_zstd_is_refused_by_name()
    {
        string db = await FillAsync();
        byte[] dump = await ExportAsync(db);
        Assert.Equal(400, (await server.SendAsync("POST", db + "/smuggler/import", dump[..^9])).Status);
        (await server.SendAsync("POST", db + "/smuggler/import", [0x28, 0xB5, 0x2F, 0xFD, 0])).IsRefusal(415, "zstd");
    }

    [Theory]
    [InlineData(512, 256, true)]
    [InlineData(513, 0, false)]
    [InlineData(1, 257, false)]
    [InlineData(65_535, 0, false)]
    [InlineData(65_536, 0, false)]
    public async Task An_attachment_of_a_dump_has_the_names_that_other_routes_take(int name, int type, bool isStored)
    {
        string db = await server.CreateDatabaseAsync();
        string text = new('n', name);
        string entry = $$"""{"Name":"{{text}}","ContentType":"{{new string('t', type)}}","Hash":"{{HashOfXyz}}"}""";
        var result = await ImportAsync(
            db,
            DumpWithContent($$$"""{"@metadata":{"@id":"a","@attachments":[{{{entry}}}]}}"""),
            isMultipart: false
        );
        Assert.Equal(isStored ? 0 : 1, Failed(result));
        var stored = await server.SendAsync("GET", db + "/docs?id=a");
        Assert.Equal(200, stored.Status);
        Assert.Equal(isStored, stored.Body.Contains($"\"Name\":\"{text}\"", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Each_index_of_a_dump_is_defined_also_if_the_request_has_an_id()
    {
        string db = await server.CreateDatabaseAsync();
        const string Dump = """
            {"Docs":[],"Indexes":[
            {"Type":"Map","IndexDefinition":{"Name":"A","Maps":["from u in docs.Users select new { u.a }"]}},
            {"Type":"Map","IndexDefinition":{"Name":"B","Maps":["from u in docs.Users select new { u.b }"]}}]}
            """;
        string url = $"{db}/smuggler/import?raft-request-id=5e2f7c1e-5d0b-4c53-9f4e-0f4f6b0f5a11";
        var answer = await server.SendAsync("POST", url, Encoding.UTF8.GetBytes(Dump));
        Assert.Equal((200, 2), (answer.Status, Read(answer.Json, "Indexes")));
        var indexes = await server.SendAsync("GET", db + "/indexes?namesOnly=true");
        Assert.Equal("""{"Results":["A","B"]}""", indexes.Body);
    }

    [Fact]
    public async Task A_message_of_an_import_is_short_whatever_the_dump_names()
    {
        string db = await server.CreateDatabaseAsync();
        string dump = $$$"""
            {"Docs":[{"@metadata":{"@id":"{{{new string('d', 20_000)}}}"}},{"@metadata":{"@export-type":"Attachment"},
            "Hash":"{{{new string('h', 20_000)}}}","Size":1}x]}
            """;
        var result = await ImportAsync(db, Encoding.UTF8.GetBytes(dump), isMultipart: false);
        var messages = result.GetProperty("Messages").EnumerateArray().Select(static each => each.GetString()!.Length);
        Assert.InRange(messages.Max(), 1000, 1201);
    }

    [Fact]
    public async Task An_import_with_an_idempotency_key_is_refused_because_it_is_stored_in_parts()
    {
        string db = await server.CreateDatabaseAsync();
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(server.Address, db + "/smuggler/import"));
        request.Content = new StringContent("{}");
        request.Headers.Add("Idempotency-Key", "k");
        using var answer = await server.Http.SendAsync(request);
        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.Contains("smuggler/import", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Options_of_an_import_that_come_after_the_file_are_refused()
    {
        string db = await server.CreateDatabaseAsync();
        using var parts = new MultipartFormDataContent();
        parts.Add(new ByteArrayContent("{}"u8.ToArray()), "name", "dump");
        parts.Add(new StringContent("""{"OperateOnTypes":"Documents"}"""), "importOptions");
        using var answer = await server.Http.PostAsync(new Uri(server.Address, db + "/smuggler/import"), parts);
        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        string body = await answer.Content.ReadAsStringAsync();
        Assert.Contains("before the file", body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_is_beyond_a_limit_is_counted_and_the_rest_of_the_dump_is_stored()
    {
        string db = await server.CreateDatabaseAsync();
        string entries = string.Join(
            ',',
            Enumerable
                .Range(0, 70)
                .Select(static i =>
                    $$"""{"Name":"{{new string('n', 500)}}{{i}}","ContentType":"","Hash":"{{HashOfXyz}}"}"""
                )
        );
        var result = await ImportAsync(
            db,
            DumpWithContent(
                $$$"""{"@metadata":{"@id":"a","@attachments":[{{{entries}}}]}},{"@metadata":{"@id":"b"}}"""
            ),
            isMultipart: false
        );
        var attachments = result.GetProperty("Documents").GetProperty("Attachments");
        long stored = attachments.GetProperty("ReadCount").GetInt64() - Failed(result);
        Assert.Equal(2, Read(result, "Documents"));
        Assert.Equal(70, stored + Failed(result));
        Assert.InRange(stored, 50, 65);
        string dump = $$$$"""
            {"CounterGroups":[{"DocId":"a","Values":{"@vals":{"{{{{new string('c', 2000)}}}}":[1,1]}}},
            {"DocId":"a","Values":{"@vals":{"likes":[1,1]}}}],
            "CompareExchange":[{"Key":"{{{{new string('k', 2000)}}}}","Value":{"Object":1}},{"Key":"k","Value":"{"},
            {"Key":"ok","Value":{"Object":1}}],
            "Identities":[{"Key":"{{{{new string('i', 2000)}}}}|","Value":12},{"Key":"users|","Value":12}]}
            """;
        result = await ImportAsync(db, Encoding.UTF8.GetBytes(dump), isMultipart: false);
        Assert.Equal(1, Read(result, "Counters"));
        Assert.Equal(1, Read(result, "CompareExchange"));
        Assert.Equal(1, Read(result, "Identities"));
        Assert.Equal(4, result.GetProperty("Messages").GetArrayLength());
    }

    [Fact]
    public async Task An_import_never_lowers_the_numbers_that_clients_take()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("GET", db + "/hilo/next?tag=users");
        byte[] dump = await ExportAsync(db);
        await server.SendAsync("GET", db + "/hilo/next?tag=users");
        var result = await ImportAsync(db, dump, isMultipart: false);
        Assert.Contains("up to 64 are in use", result.GetProperty("Messages")[0].GetString(), StringComparison.Ordinal);
        var next = (await server.SendAsync("GET", db + "/hilo/next?tag=users")).Json;
        Assert.Equal(65, next.GetProperty("Low").GetInt64());

        // Within a dump, too, and a higher number is taken over.
        const string Dump = """
            {"Docs":[{"Max":500,"@metadata":{"@id":"raven/hilo/Users"}},
            {"Max":7,"@metadata":{"@id":"Raven/Hilo/users"}}]}
            """;
        await ImportAsync(db, Encoding.UTF8.GetBytes(Dump), isMultipart: false);
        next = (await server.SendAsync("GET", db + "/hilo/next?tag=users")).Json;
        Assert.Equal(501, next.GetProperty("Low").GetInt64());
    }

    [Theory]
    [InlineData("""{"OperateOnTypes":"Documents,Everything"}""", 501, "Everything")]
    [InlineData("""{"OperateOnDatabaseRecordType":"Revisons"}""", 501, "Revisons")]
    [InlineData("""{"TransformScript":"this.a = 1"}""", 501, "TransformScript")]
    [InlineData("""{"EncryptionKey":"x"}""", 501, "EncryptionKey")]
    [InlineData("""{"IncludeExpired":false}""", 501, "IncludeExpired")]
    [InlineData("""{"CompressionAlgorithm":"Zstd"}""", 501, "CompressionAlgorithm")]
    [InlineData("""{"SkipCorruptedData":1}""", 400, "SkipCorruptedData")]
    [InlineData("""[]""", 400, "object")]
    public async Task Options_that_are_not_obeyed_are_refused(string options, int status, string what)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", db + "/smuggler/export", options)).IsRefusal(status, what);
    }

    private static long Read(JsonElement result, string type) =>
        result.GetProperty(type).GetProperty("ReadCount").GetInt64()
        - result.GetProperty(type).GetProperty("ErroredCount").GetInt64();

    private static long Failed(JsonElement result) =>
        result.GetProperty("Documents").GetProperty("Attachments").GetProperty("ErroredCount").GetInt64();

    // A dump of the content "xyz" and a document that names it.
    private static byte[] DumpWithContent(string document) =>
        Encoding.UTF8.GetBytes(
            "{\"Docs\":[{\"@metadata\":{\"@export-type\":\"Attachment\"},\"Hash\":\""
                + $"{HashOfXyz}\",\"Size\":3}}xyz,{document}]}}"
        );

    // Without what differs between two databases: change vectors, times, etags.
    private static string Normalize(byte[] dump) =>
        System.Text.RegularExpressions.Regex.Replace(
            Text(dump),
            """("DatabaseName":"[^"]*")|("@change-vector":"[^"]*")|("@last-modified":"[^"]*")|("@dbIds":\["[^"]*"\])|((?<=\[-?\d+),\d+\])""",
            "",
            System.Text.RegularExpressions.RegexOptions.ExplicitCapture,
            TimeSpan.FromSeconds(10)
        );

    private static string Text(byte[] dump)
    {
        using var gzip = new GZipStream(new MemoryStream(dump), CompressionMode.Decompress);
        using var reader = new StreamReader(gzip, Encoding.Latin1);
        return reader.ReadToEnd();
    }

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "PUT",
            db + "/docs?id=users/1",
            """{"name":"größe","@metadata":{"@collection":"Users"}}"""
        );
        await server.SendAsync("PUT", db + "/docs?id=users/2", """{"@metadata":{"@collection":"Users"}}""");
        await server.SendAsync("PUT", db + "/docs?id=people/1", """{"@metadata":{"@collection":"People"}}""");
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a&contentType=text/plain", "xyz"u8.ToArray());
        await server.SendAsync("PUT", db + "/attachments?id=users/2&name=b", "xyz"u8.ToArray());
        await server.SendAsync("PUT", db + "/attachments?id=users/2&name=c", "xyz"u8.ToArray());
        await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            """
            {"Commands":[{"Id":"users/1","Type":"Counters","Counters":{"DocumentId":"users/1","Operations":[
            {"Type":"Increment","CounterName":"Likes","Delta":7},{"Type":"Increment","CounterName":"x","Delta":-2}]}}]}
            """
        );
        await server.SendAsync("PUT", db + "/cmpxchg?key=k&index=0", """{"Object":{"a":[1,"\u00e4"]}}""");
        await server.SendAsync("POST", db + "/identity/next?name=users");
        var index = await server.SendAsync(
            "PUT",
            db + "/admin/indexes",
            """{"Indexes":[{"Name":"ByName","Maps":["from u in docs.Users select new { u.name }"]}]}"""
        );
        Assert.Equal(201, index.Status);
        return db;
    }

    private async Task<byte[]> ExportAsync(string db, string options = "{}", string query = "")
    {
        using var answer = await server.Http.PostAsync(
            new Uri(server.Address, db + "/smuggler/export" + query),
            new StringContent(options)
        );
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync();
    }

    private async Task<JsonElement> ImportAsync(string db, byte[] dump, bool isMultipart)
    {
        using var multipart = new MultipartFormDataContent();
        multipart.Add(new StringContent($$"""{"OperateOnTypes":"{{Every}}"}"""), "importOptions");
        multipart.Add(new ByteArrayContent(dump), "name", "dump");
        using var plain = new ByteArrayContent(dump);
        using var answer = await server.Http.PostAsync(
            new Uri(server.Address, db + "/smuggler/import"),
            isMultipart ? multipart : plain
        );
        string body = await answer.Content.ReadAsStringAsync();
        Assert.True(answer.StatusCode == HttpStatusCode.OK, body);
        using var json = JsonDocument.Parse(body);
        return json.RootElement.Clone();
    }
}
