using System.IO.Compression;
using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Rookery.Server.Tests.Raven;

/// <summary>Dumps with revisions, subscriptions and the configurations of a database.</summary>
public sealed class SmugglerOfEverythingTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_database_with_everything_is_read_back_equal()
    {
        string from = await FillAsync();
        byte[] dump = await ExportAsync(from);
        string whole = Normalize(dump);
        foreach (
            string part in (string[])
                [
                    "\"RevisionDocuments\":[{",
                    "DeleteRevision",
                    "ForceCreated",
                    "@counters-snapshot",
                    "\"Subscriptions\":[{\"SubscriptionName\":\"births\"",
                    "\"Expiration\":{",
                    "\"Refresh\":{",
                    "\"DataArchival\":{",
                    "\"Client\":{",
                    "\"Revisions\":{",
                    "\"LockMode\":\"PreventDeletesError\"",
                    "\"Settings\":[{\"Indexing.Auto.SearchEngineType\":\"Corax\"}]",
                ]
        )
        {
            Assert.Contains(part, whole, StringComparison.Ordinal);
        }

        string to = await server.CreateDatabaseAsync();
        for (int i = 0; i < 2; i++) // a second import changes nothing
        {
            var result = await ImportAsync(to, dump);
            Assert.Equal("[]", result.GetProperty("Messages").GetRawText());
            Assert.Equal(1, Read(result, "DatabaseRecord"));
            Assert.Equal(2, Read(result, "Subscriptions"));
            Assert.Equal(whole, Normalize(await ExportAsync(to)));
        }

        foreach (string id in (string[])["users/1", "users/2", "gone/1"])
        {
            Assert.Equal(await ReadRevisionsAsync(from, id), await ReadRevisionsAsync(to, id));
        }

        var bin = (await server.SendAsync("GET", to + "/revisions/bin")).Json.GetProperty("Results");
        Assert.Equal("gone/1", bin[0].GetProperty("@metadata").GetProperty("@id").GetString());
        Assert.Equal(1, bin.GetArrayLength());
        var expiration = await server.SendAsync("GET", to + "/expiration/config");
        Assert.Equal(77, expiration.Json.GetProperty("DeleteFrequencyInSec").GetInt64());
    }

    [Fact]
    public async Task Revisions_that_follow_their_documents_keep_their_order_and_can_be_reverted_to()
    {
        string from = await FillAsync();
        byte[] dump = await ExportAsync(from, """{"OperateOnTypes":"Documents,RevisionDocuments"}""");
        string to = await server.CreateDatabaseAsync();
        await server.SendAsync("POST", to + "/admin/revisions/config", """{"Default":{"Disabled":false}}""");
        for (int i = 0; i < 3; i++)
        {
            // Revisions of its own, whose rows are differences from newer ones.
            string body = JsonSerializer.Serialize(new { own = i, text = new string('x', 400) });
            await server.SendAsync("PUT", to + "/docs?id=users/1", body);
        }

        await ImportAsync(to, dump);
        var revisions = (await server.SendAsync("GET", to + "/revisions?id=users/1&pageSize=99")).Json.GetProperty(
            "Results"
        );
        Assert.Equal(2, revisions[0].GetProperty("n").GetInt64());
        string all = revisions.GetRawText();
        for (int i = 0; i < 3; i++)
        {
            Assert.Contains($"\"own\":{i},\"text\":\"xxx", all, StringComparison.Ordinal);
        }

        string oldest = revisions[revisions.GetArrayLength() - 1]
            .GetProperty("@metadata")
            .GetProperty("@change-vector")
            .GetString()!;
        var reverted = await server.SendAsync(
            "POST",
            to + "/revisions/revert/docs",
            $$$"""{"IdToChangeVector":{"users/1":"{{{oldest}}}"}}"""
        );
        Assert.True(reverted.Status < 300, reverted.Body);
        var document = (await server.SendAsync("GET", to + "/docs?id=users/1")).Json.GetProperty("Results")[0];
        Assert.Equal(0, document.GetProperty("own").GetInt64());
    }

    [Fact]
    public async Task Revisions_of_one_entry_of_the_log_are_read_back_equal()
    {
        string from = await server.CreateDatabaseAsync();
        await SendAsync(from, "POST", "admin/revisions/config", """{"Default":{"Disabled":false}}""");
        const string Batch = """
            {"Commands":[{"Type":"PUT","Id":"a/1","Document":{"n":1}},{"Type":"PUT","Id":"a/1","Document":{"n":2}},
            {"Type":"PUT","Id":"a/1","Document":{"n":3}}]}
            """;
        await SendAsync(from, "POST", "bulk_docs", Batch);
        byte[] dump = await ExportAsync(from);
        string to = await server.CreateDatabaseAsync();
        for (int i = 0; i < 2; i++)
        {
            var counts = (await ImportAsync(to, dump)).GetProperty("RevisionDocuments");
            Assert.Equal(3, counts.GetProperty("ReadCount").GetInt64());
            Assert.Equal(3 * i, counts.GetProperty("SkippedCount").GetInt64());
            Assert.Equal(Normalize(dump), Normalize(await ExportAsync(to)));
        }
    }

    [Fact]
    public async Task Ids_that_some_casing_rules_hold_equal_keep_their_revisions_apart()
    {
        // The micro sign and the letter mu have the same upper case, and their own lower case.
        string db = await server.CreateDatabaseAsync();
        const string Dump = """
            {"Docs":[{"n":2,"@metadata":{"@id":"\u00B5","@last-modified":"2020-01-02T00:00:00.0000000Z"}},
            {"n":4,"@metadata":{"@id":"\u03BC","@last-modified":"2020-01-02T00:00:00.0000000Z"}}],"RevisionDocuments":[
            {"n":1,"@metadata":{"@id":"\u00B5","@last-modified":"2020-01-01T00:00:00.0000000Z"}},
            {"n":3,"@metadata":{"@id":"\u03BC","@last-modified":"2020-01-01T00:00:00.0000000Z"}}]}
            """;
        using var body = new ByteArrayContent(Encoding.UTF8.GetBytes(Dump));
        Assert.Equal(2, Read(await SendAsync(db, body), "RevisionDocuments"));
        foreach (string id in (string[])["%C2%B5", "%CE%BC"])
        {
            var document = (await server.SendAsync("GET", $"{db}/docs?id={id}")).Json.GetProperty("Results")[0];
            Assert.Contains("HasRevisions", document.GetRawText(), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("""{"CounterGroups":[{"DocId":null,"Values":{"@vals":{}}}]}""")]
    [InlineData("""{"CompareExchange":[{"Key":null,"Value":{}}]}""")]
    [InlineData("""{"Identities":[{"Key":null,"Value":"1"}]}""")]
    [InlineData("""{"Identities":[{"Key":"a|","Value":"99999999999999999999"}]}""")]
    [InlineData("""{"Subscriptions":[7]}""")]
    [InlineData("""{"Indexes":[7]}""")]
    public async Task An_element_of_an_unexpected_form_ends_the_import_with_its_name(string dump)
    {
        string db = await server.CreateDatabaseAsync();
        var refused = await server.SendAsync("POST", db + "/smuggler/import", dump);
        refused.IsRefusal(400, "has an unexpected form");
    }

    [Fact]
    public async Task Configurations_of_a_record_are_stored_as_the_options_say_and_others_are_named()
    {
        string db = await server.CreateDatabaseAsync();
        const string Dump = """
            {"DatabaseRecord":{"DatabaseName":"x","Expiration":{"Disabled":false,"DeleteFrequencyInSec":5},
            "Refresh":{"Disabled":false,"RefreshFrequencyInSec":6},"Settings":[{"Storage.Max":"1"}],
            "RavenConnectionStrings":{"a":{"Name":"a"}},"SqlEtls":[],"Integrations":null}}
            """;
        using var multipart = new MultipartFormDataContent();
        multipart.Add(
            new StringContent("""{"OperateOnDatabaseRecordType":"Expiration,Settings,RavenConnectionStrings"}"""),
            "importOptions"
        );
        multipart.Add(new ByteArrayContent(Encoding.UTF8.GetBytes(Dump)), "name", "dump");
        var result = await SendAsync(db, multipart);
        Assert.Equal(1, result.GetProperty("LeftOut").GetProperty("DatabaseRecord.RavenConnectionStrings").GetInt64());
        Assert.Contains("Storage.Max", result.GetProperty("Messages").GetRawText(), StringComparison.Ordinal);
        Assert.Equal(1, result.GetProperty("DatabaseRecord").GetProperty("ErroredCount").GetInt64());
        Assert.Equal(200, (await server.SendAsync("GET", db + "/expiration/config")).Status);
        Assert.Equal(404, (await server.SendAsync("GET", db + "/refresh/config")).Status);
    }

    [Fact]
    public async Task An_import_of_some_collections_stores_the_counters_of_their_documents_only()
    {
        string db = await server.CreateDatabaseAsync();
        const string Thing = """{"@metadata":{"@collection":"Things"}}""";
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=t/1", Thing)).Status);
        const string Dump = """
            {"BuildVersion":62000,"Docs":[{"@metadata":{"@id":"p/1","@collection":"People"}},
            {"@metadata":{"@id":"t/1","@collection":"Things"}},{"@metadata":{"@id":"t/2","@collection":"Things"}}],
            "CounterGroups":[{"DocId":"p/1","Values":{"@vals":{"likes":[1,7]}}},
            {"DocId":"t/1","Values":{"@vals":{"likes":[2,8]}}},{"DocId":"t/2","Values":{"@vals":{"likes":[3,9]}}}]}
            """;
        using var multipart = new MultipartFormDataContent();
        multipart.Add(new StringContent("""{"Collections":["people"]}"""), "importOptions");
        multipart.Add(new ByteArrayContent(Encoding.UTF8.GetBytes(Dump)), "name", "dump");
        var counters = (await SendAsync(db, multipart)).GetProperty("Counters");
        Assert.Equal(
            (1L, 0L),
            (counters.GetProperty("ReadCount").GetInt64(), counters.GetProperty("ErroredCount").GetInt64())
        );
        foreach (var (id, count) in ((string, int)[])[("p/1", 1), ("t/1", 0)])
        {
            var found = (await server.SendAsync("GET", $"{db}/counters?docId={id}")).Json.GetProperty("Counters");
            Assert.Equal(count, found.GetArrayLength());
        }
    }

    [Fact]
    public async Task What_arrived_before_the_connection_broke_is_stored_and_its_number_is_told()
    {
        string db = await server.CreateDatabaseAsync();
        long id = (await server.SendAsync("GET", db + "/operations/next-operation-id"))
            .Json.GetProperty("Id")
            .GetInt64();
        using var broken = new BrokenContent(
            """{"Docs":[{"a":1,"@metadata":{"@id":"users/1"}},{"a":2,"@metadata":{"@id":"users/2"}},{"a":"""
        );
        await Assert.ThrowsAnyAsync<HttpRequestException>(() =>
            server.Http.PostAsync(new Uri(server.Address, $"{db}/smuggler/import?operationId={id}"), broken)
        );
        JsonElement state;
        do
        {
            state = (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json;
        } while (state.GetProperty("Status").GetString() is "InProgress");

        Assert.Equal("Faulted", state.GetProperty("Status").GetString());
        string message = state.GetProperty("Result").GetProperty("Message").GetString()!;
        Assert.Contains("2 documents are done", message, StringComparison.Ordinal);
        Assert.Equal(200, (await server.SendAsync("GET", db + "/docs?id=users/2")).Status);
    }

    [Fact]
    public async Task The_counts_of_a_result_include_what_could_not_be_stored()
    {
        string db = await server.CreateDatabaseAsync();
        const string Dump = """
            {"Docs":[{"@metadata":{"@id":"users/1","@attachments":[
            {"Name":"n","Hash":"EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=","ContentType":"","Size":3}]}}]}
            """;
        using var body = new ByteArrayContent(Encoding.UTF8.GetBytes(Dump));
        var attachments = (await SendAsync(db, body)).GetProperty("Documents").GetProperty("Attachments");
        Assert.Equal(1, attachments.GetProperty("ReadCount").GetInt64());
        Assert.Equal(1, attachments.GetProperty("ErroredCount").GetInt64());
    }

    private static long Read(JsonElement result, string type) =>
        result.GetProperty(type).GetProperty("ReadCount").GetInt64();

    // Without what differs between two databases: the name, change vectors and etags. Times stay.
    private static string Normalize(byte[] dump) =>
        Regex.Replace(
            Text(dump),
            """("DatabaseName":"[^"]*")|("@change-vector":"[^"]*")|("@dbIds":\["[^"]*"\])|((?<=\[-?\d+),\d+\])""",
            "",
            RegexOptions.ExplicitCapture,
            TimeSpan.FromSeconds(10)
        );

    private static string Text(byte[] dump)
    {
        using var gzip = new GZipStream(new MemoryStream(dump), CompressionMode.Decompress);
        using var reader = new StreamReader(gzip, Encoding.Latin1);
        return reader.ReadToEnd();
    }

    private async Task<string> ReadRevisionsAsync(string db, string id)
    {
        string body = (await server.SendAsync("GET", $"{db}/revisions?id={id}&pageSize=99")).Body;
        return Regex.Replace(body, "\"@change-vector\":\"[^\"]*\"", "", RegexOptions.None, TimeSpan.FromSeconds(10));
    }

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        await SendAsync(db, "PUT", "docs?id=plain/1", """{"@metadata":{"@collection":"Plain"}}""");
        await SendAsync(db, "POST", "admin/revisions/config", """{"Collections":{"Users":{"Disabled":false}}}""");
        for (int i = 0; i < 3; i++)
        {
            await SendAsync(
                db,
                "PUT",
                "docs?id=users/1",
                $$$"""{"n":{{{i}}},"text":"{{{new string('t', 300)}}}","@metadata":{"@collection":"Users"}}"""
            );
        }

        await SendAsync(db, "PUT", "docs?id=users/2", """{"a":1,"@metadata":{"@collection":"Users"}}""");
        await SendAsync(db, "PUT", "attachments?id=users/2&name=b&contentType=text/plain", "xyz");
        await SendAsync(db, "DELETE", "attachments?id=users/2&name=b", "");
        await SendAsync(db, "PUT", "attachments?id=users/2&name=c", "other");
        await SendAsync(
            db,
            "POST",
            "bulk_docs",
            """
            {"Commands":[{"Id":"users/2","Type":"Counters","Counters":{"DocumentId":"users/2","Operations":[
            {"Type":"Increment","CounterName":"Likes","Delta":7},{"Type":"Increment","CounterName":"x","Delta":-2}]}}]}
            """
        );
        await SendAsync(db, "PUT", "docs?id=users/2", """{"a":2,"@metadata":{"@collection":"Users"}}""");
        await SendAsync(db, "PUT", "docs?id=gone/1", """{"a":2,"@metadata":{"@collection":"Users"}}""");
        await SendAsync(db, "DELETE", "docs?id=gone/1", "");
        await SendAsync(db, "POST", "bulk_docs", """{"Commands":[{"Id":"plain/1","Type":"ForceRevisionCreation"}]}""");
        await SendAsync(db, "PUT", "cmpxchg?key=k&index=0", """{"Object":{"a":[1]}}""");
        await SendAsync(db, "POST", "identity/next?name=users", "");
        await SendAsync(
            db,
            "PUT",
            "admin/indexes",
            """{"Indexes":[{"Name":"ByName","Maps":["from u in docs.Users select new { u.name }"]}]}"""
        );
        await SendAsync(db, "PUT", "subscriptions", """{"Name":"births","Query":"from Users"}""");
        await SendAsync(db, "PUT", "subscriptions", """{"Name":"off","Query":"from Users","Disabled":true}""");
        await SendAsync(db, "POST", "admin/expiration/config", """{"Disabled":false,"DeleteFrequencyInSec":77}""");
        await SendAsync(db, "POST", "admin/refresh/config", """{"Disabled":true}""");
        await SendAsync(db, "POST", "admin/data-archival/config", """{"Disabled":true}""");
        await SendAsync(db, "PUT", "admin/configuration/client", """{"MaxNumberOfRequestsPerSession":9}""");
        await SendAsync(db, "PUT", "admin/configuration/settings", """{"Indexing.Auto.SearchEngineType":"Corax"}""");
        string name = db[(db.LastIndexOf('/') + 1)..];
        var mode = await server.SendAsync(
            "POST",
            "/admin/databases/set-lock",
            $$"""{"DatabaseNames":["{{name}}"],"Mode":"PreventDeletesError"}"""
        );
        Assert.True(mode.Status < 300, mode.Body);
        return db;
    }

    private async Task SendAsync(string db, string method, string path, string body)
    {
        var answer = await server.SendAsync(method, $"{db}/{path}", body);
        Assert.True(answer.Status < 300, path + ": " + answer.Body);
    }

    private async Task<byte[]> ExportAsync(string db, string options = "{}")
    {
        using var answer = await server.Http.PostAsync(
            new Uri(server.Address, db + "/smuggler/export"),
            new StringContent(options)
        );
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync();
    }

    private async Task<JsonElement> ImportAsync(string db, byte[] dump)
    {
        using var body = new ByteArrayContent(dump);
        return await SendAsync(db, body);
    }

    private async Task<JsonElement> SendAsync(string db, HttpContent content)
    {
        using var answer = await server.Http.PostAsync(new Uri(server.Address, db + "/smuggler/import"), content);
        string body = await answer.Content.ReadAsStringAsync();
        Assert.True(answer.StatusCode == HttpStatusCode.OK, body);
        using var json = JsonDocument.Parse(body);
        return json.RootElement.Clone();
    }

    // Sends some bytes of a longer body, and breaks the connection.
    private sealed class BrokenContent(string start) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(Encoding.UTF8.GetBytes(start));
            await stream.FlushAsync();
            throw new IOException("The test breaks the connection.");
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
