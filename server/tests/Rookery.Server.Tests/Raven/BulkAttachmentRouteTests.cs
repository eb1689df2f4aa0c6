using System.Net;
using System.Text;
using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>Attachments in bulk inserts, and several in one answer.</summary>
public sealed class BulkAttachmentRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData(1)]
    [InlineData(37)]
    [InlineData(4096)]
    public async Task A_bulk_insert_stores_attachments_between_its_documents(int pieceBytes)
    {
        string db = await server.CreateDatabaseAsync();
        var random = new Random(7);
        var contents = new List<(string Id, string Name, byte[] Bytes)>();
        var body = new List<byte>("["u8.ToArray());
        for (int i = 0; i < 6; i++)
        {
            body.AddRange(Encoding.UTF8.GetBytes((i == 0 ? "" : ",") + Put($"users/{i}")));
            for (int j = 0; j < 3; j++)
            {
                byte[] bytes = new byte[random.Next(4) == 0 ? 0 : random.Next(700)];
                random.NextBytes(bytes);
                contents.Add(($"users/{i}", $"größe {j}", bytes));
                body.AddRange(
                    Encoding.UTF8.GetBytes($",{Attachment(contents[^1].Id, contents[^1].Name, bytes.Length)}")
                );
                body.AddRange(bytes);
            }
        }

        body.AddRange("]"u8.ToArray());
        using var pieces = new Pieces([.. body], pieceBytes);
        using var stored = await server.Http.PostAsync(new Uri(server.Address, db + "/bulk_insert"), pieces);
        Assert.Equal(HttpStatusCode.Created, stored.StatusCode);
        foreach (var (id, name, bytes) in contents)
        {
            Assert.Equal(bytes, await ReadAsync($"{db}/attachments?id={id}&name={Uri.EscapeDataString(name)}"));
        }

        string list = string.Join(
            ',',
            contents.Select(static each => $$"""{"DocumentId":"{{each.Id}}","Name":"{{each.Name}}"}""")
        );
        byte[] answer = await ReadAsync(
            db + "/attachments/bulk",
            $$"""{"AttachmentType":"Document","Attachments":[{"DocumentId":"none","Name":"x"},{{list}}]}"""
        );
        var json = new Utf8JsonReader(answer);
        using var details = JsonDocument.ParseValue(ref json);
        var metadata = details.RootElement.GetProperty("AttachmentsMetadata");
        Assert.Equal(contents.Count, metadata.GetArrayLength());
        int position = (int)json.BytesConsumed;
        for (int i = 0; i < contents.Count; i++)
        {
            Assert.Equal(contents[i].Id, metadata[i].GetProperty("DocumentId").GetString());
            Assert.Equal(contents[i].Name, metadata[i].GetProperty("Name").GetString());
            Assert.Equal(contents[i].Bytes.Length, metadata[i].GetProperty("Size").GetInt32());
            Assert.Equal(contents[i].Bytes, answer.AsSpan(position, contents[i].Bytes.Length).ToArray());
            position += contents[i].Bytes.Length;
        }

        Assert.Equal(answer.Length, position);
    }

    [Fact]
    public async Task More_attachments_than_a_chunk_holds_are_stored_in_several()
    {
        string db = await server.CreateDatabaseAsync();
        var body = new StringBuilder("[" + Put("users/1"));
        for (int i = 0; i < 300; i++)
        {
            body.Append(',').Append(Attachment("users/1", $"n{i}", 1)).Append('x');
        }

        Assert.Equal(201, (await server.SendAsync("POST", db + "/bulk_insert", body.Append(']').ToString())).Status);
        var counts = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.Equal(300, counts.GetProperty("CountOfAttachments").GetInt64());
        Assert.Equal(1, counts.GetProperty("CountOfUniqueAttachments").GetInt64());
    }

    [Theory]
    [InlineData("""{"Id":"","Type":"AttachmentPUT","Name":"n","ContentLength":1}x""", 400, "id is empty")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT","Name":"","ContentLength":1}x""", 400, "1 to 512")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":-1}x""", 400, "ContentLength")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":1.5}x""", 400, "ContentLength")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":9999999999999}x""", 413, "")]
    [InlineData(
        """{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":1,"RemoteParameters":{}}x""",
        501,
        "Remote"
    )]
    [InlineData("""{"Id":"a","Type":"PUT","Document":{},"Name":"n"}""", 501, "Name")]
    [InlineData(
        """
            {"Id":"a","Type":"Counters","Name":"n","ContentLength":1,
            "Counters":{"DocumentId":"a","Operations":[{"Type":"Increment","CounterName":"c","Delta":1}]}}x
            """,
        501,
        "Name"
    )]
    [InlineData("""{"Id":"none","Type":"AttachmentPUT","Name":"n","ContentLength":1}x""", 400, "does not exist")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":1}xy""", 400, "")]
    public async Task An_attachment_that_is_not_whole_ends_the_bulk_insert(string element, int status, string what)
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        (await server.SendAsync("POST", db + "/bulk_insert", $"[{element}]")).IsRefusal(status, what);
        var counts = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.InRange(
            counts.GetProperty("CountOfAttachments").GetInt64(),
            0,
            element.EndsWith("xy", StringComparison.Ordinal) ? 1 : 0
        );
    }

    [Theory]
    [InlineData("""{"Attachments":[],"AttachmentType":"Revision"}""", 501, "Revision")]
    [InlineData("""{"Attachments":[{"DocumentId":"a","Name":"n","Other":1}]}""", 501, "Other")]
    [InlineData("""{"Attachments":[{"DocumentId":"a"}]}""", 400, "1 to 512")]
    [InlineData("""{"Attachments":[{"Name":"n"}]}""", 400, "id is empty")]
    [InlineData("""{"Attachments":1}""", 400, "list")]
    [InlineData("""[]""", 400, "object")]
    public async Task A_list_of_attachments_that_is_not_understood_is_refused(string body, int status, string what)
    {
        string db = await server.CreateDatabaseAsync();
        (await server.SendAsync("POST", db + "/attachments/bulk", body)).IsRefusal(status, what);
    }

    [Fact]
    public async Task A_long_content_arrives_in_many_reads_after_what_came_before_it_is_stored()
    {
        string db = await server.CreateDatabaseAsync();
        byte[] content = new byte[700_000];
        new Random(3).NextBytes(content);
        using var body = new Paused(
            [
                .. Encoding.UTF8.GetBytes("[" + Put("a") + "," + Attachment("a", "n", content.Length)),
                .. content[..400_000],
            ],
            [.. content[400_000..], .. Encoding.UTF8.GetBytes("," + Put("b") + "]")]
        );
        var answer = server.Http.PostAsync(new Uri(server.Address, db + "/bulk_insert"), body);
        while ((await server.SendAsync("GET", db + "/docs?id=a")).Status != 200)
        {
            await Task.Yield();
        }

        body.Continue();
        using var stored = await answer;
        Assert.Equal(HttpStatusCode.Created, stored.StatusCode);
        Assert.Equal(content, await ReadAsync(db + "/attachments?id=a&name=n"));
        Assert.Equal(200, (await server.SendAsync("GET", db + "/docs?id=b")).Status);
    }

    [Fact]
    public async Task Chunks_of_documents_with_revisions_and_many_counters_are_not_refused_as_too_large()
    {
        string db = await server.CreateDatabaseAsync();
        const string Revisions = """{"Default":{"MinimumRevisionsToKeep":1}}""";
        Assert.Equal(200, (await server.SendAsync("POST", db + "/admin/revisions/config", Revisions)).Status);
        string increments = string.Join(
            ',',
            Enumerable.Range(0, 6000).Select(static i => $$"""{"Type":"Increment","CounterName":"{{i}}","Delta":1}""")
        );
        string counters = $$"""
            {"Id":"a","Type":"Counters","Counters":{"DocumentId":"a","Operations":[{{increments}}]} }
            """;
        await StoreAsync($"[{Put("a")},{counters}]");

        // Each of them costs 3 MB, and a command may cost 256 MiB.
        var attached = Enumerable.Range(0, 90).Select(static i => Attachment("a", $"{i}", 1) + "x");
        await StoreAsync($"[{string.Join(',', attached)}]");
        await StoreAsync($"[{string.Join(',', Enumerable.Repeat(Put("a"), 90))}]");
        var counts = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.Equal(90, counts.GetProperty("CountOfAttachments").GetInt64());

        async Task StoreAsync(string body)
        {
            var stored = await server.SendAsync("POST", db + "/bulk_insert", body);
            Assert.True(stored.Status == 201, stored.Body);
        }
    }

    [Fact]
    public async Task Several_attachments_during_deletions_are_whole_or_left_out()
    {
        string db = await server.CreateDatabaseAsync();
        string url = db + "/attachments?id=a&name=n";
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        using var ended = new CancellationTokenSource();
        var changes = Task.Run(async () =>
        {
            for (int i = 0; i < 60; i++)
            {
                var stored = await server.SendAsync("PUT", url, [(byte)i, 1, 2]);
                Assert.Equal(201, stored.Status);
                Assert.Equal(204, (await server.SendAsync("DELETE", url)).Status);
                string hash = Convert.ToHexStringLower(stored.Json.GetProperty("Hash").GetBytesFromBase64());
                server.Disk.Delete(server.Disk.Files.Single(file => file.EndsWith(hash, StringComparison.Ordinal)));
            }

            await ended.CancelAsync();
        });
        while (!ended.IsCancellationRequested && !changes.IsFaulted)
        {
            await ReadAsync(db + "/attachments/bulk", """{"Attachments":[{"DocumentId":"a","Name":"n"}]}""");
        }

        await changes;
    }

    [Theory]
    [InlineData("""{"DocumentId":"a","Name":"lost"}""")]
    [InlineData("""{"DocumentId":"a","Name":"n"},{"DocumentId":"a","Name":"lost"}""")]
    public async Task A_content_that_is_missing_among_several_is_reported_and_the_answer_is_not_whole(string requested)
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=a", "{}");
        await server.SendAsync("PUT", db + "/attachments?id=a&name=n", [1]);
        byte[] content = Encoding.UTF8.GetBytes(requested + db); // no other test stores it
        var stored = await server.SendAsync("PUT", db + "/attachments?id=a&name=lost", content);
        string hash = Convert.ToHexStringLower(stored.Json.GetProperty("Hash").GetBytesFromBase64());
        server.Disk.Delete(server.Disk.Files.Single(file => file.EndsWith(hash, StringComparison.Ordinal)));
        await Assert.ThrowsAnyAsync<Exception>(() =>
            ReadAsync(db + "/attachments/bulk", $$"""{"Attachments":[{{requested}}]}""")
        );
        Assert.Equal(1, await DamagedPlacesAsync());
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/attachments?id=a&name=lost", content)).Status);
        Assert.Equal(0, await DamagedPlacesAsync());

        async Task<int> DamagedPlacesAsync() =>
            (await server.SendAsync("GET", "/readyz?verbose")).Json.GetProperty("DamagedPlaces").GetInt32();
    }

    private static string Put(string id) => $$"""{"Id":"{{id}}","Type":"PUT","Document":{"a":1} }""";

    private static string Attachment(string id, string name, int length) =>
        $$"""{"Id":"{{id}}","Type":"AttachmentPUT","Name":"{{name}}","ContentLength":{{length}}}""";

    private async Task<byte[]> ReadAsync(string url, string? body = null)
    {
        using var request = new HttpRequestMessage(
            body is null ? HttpMethod.Get : HttpMethod.Post,
            new Uri(server.Address, url)
        );
        request.Content = body is null ? null : new StringContent(body);
        using var answer = await server.Http.SendAsync(request);
        Assert.True(answer.IsSuccessStatusCode, answer.StatusCode.ToString());
        return await answer.Content.ReadAsByteArrayAsync();
    }

    private sealed class Paused(byte[] before, byte[] after) : HttpContent
    {
        private readonly TaskCompletionSource _mayContinue = new();

        public void Continue() => _mayContinue.SetResult();

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(before);
            await stream.FlushAsync();
            await _mayContinue.Task;
            await stream.WriteAsync(after);
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }

    private sealed class Pieces(byte[] body, int bytes) : HttpContent
    {
        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            for (int at = 0; at < body.Length; at += bytes)
            {
                await stream.WriteAsync(body.AsMemory(at, Math.Min(bytes, body.Length - at)));
                await stream.FlushAsync();
            }
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
