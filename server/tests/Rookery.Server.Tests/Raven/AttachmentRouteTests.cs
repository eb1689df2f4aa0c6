using System.Net;
using System.Net.Sockets;
using System.Text;
using Rookery.Documents.Nodes;

namespace Rookery.Server.Tests.Raven;

/// <summary>The routes of attachments.</summary>
public sealed class AttachmentRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task An_attachment_is_stored_read_and_removed()
    {
        string db = await CreateAsync();
        var stored = await server.SendAsync(
            "PUT",
            db + "/attachments?id=users/1&name=a%20b.png&contentType=image%2Fpng",
            [1, 2, 3]
        );
        Assert.Equal(201, stored.Status);
        Assert.Equal("users/1", stored.Json.GetProperty("DocumentId").GetString());
        Assert.Equal("a b.png", stored.Json.GetProperty("Name").GetString());
        Assert.Equal("image/png", stored.Json.GetProperty("ContentType").GetString());
        Assert.Equal(3, stored.Json.GetProperty("Size").GetInt64());
        Assert.Equal("EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=", stored.Json.GetProperty("Hash").GetString());
        string tag = $"\"{stored.Json.GetProperty("ChangeVector").GetString()}\"";

        using var read = await GetAsync(db + "/attachments?id=users/1&name=A%20B.png");
        Assert.Equal(HttpStatusCode.OK, read.StatusCode);
        Assert.Equal([1, 2, 3], await read.Content.ReadAsByteArrayAsync());
        Assert.Equal("image/png", read.Content.Headers.ContentType!.ToString());
        Assert.Equal(tag, read.Headers.ETag!.Tag);
        Assert.Equal("nosniff", read.Headers.GetValues("X-Content-Type-Options").Single());
        Assert.Equal("sandbox; default-src 'none'", read.Headers.GetValues("Content-Security-Policy").Single());
        Assert.Equal("same-origin", read.Headers.GetValues("Cross-Origin-Resource-Policy").Single());
        Assert.Equal("attachment; filename*=UTF-8''a%20b.png", Raw(read, "Content-Disposition"));
        Assert.Equal("3", read.Headers.GetValues("Attachment-Size").Single());
        Assert.Equal(304, (await server.SendAsync("GET", Url(db), (string?)null, ("If-None-Match", tag))).Status);
        Assert.Equal(412, (await server.SendAsync("GET", Url(db), (string?)null, ("If-Match", "\"A:1-x\""))).Status);
        var unexpected = await server.SendAsync("PUT", Url(db), [9], ("If-Match", "\"\""));
        Assert.EndsWith(
            $"of document users/1 has the change vector '{tag.Trim('"')}', but was expected not to exist.",
            unexpected.Json.GetProperty("Message").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(409, unexpected.Status);
        Assert.Equal(201, (await server.SendAsync("PUT", Url(db), [9], ("If-Match", tag))).Status);
        Assert.Equal(409, (await server.SendAsync("DELETE", Url(db), (string?)null, ("If-Match", tag))).Status);

        var head = await server.SendAsync("HEAD", Url(db));
        Assert.Equal((200, 1L), (head.Status, head.ContentLength));
        Assert.NotNull(head.Tag);
        var counts = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.Equal(1, counts.GetProperty("CountOfAttachments").GetInt64());
        Assert.Equal(1, counts.GetProperty("CountOfUniqueAttachments").GetInt64());
        long size = counts.GetProperty("SizeOnDisk").GetProperty("SizeInBytes").GetInt64();
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=long", new byte[3000]);
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=same", new byte[3000]);
        counts = (await server.SendAsync("GET", db + "/stats")).Json;
        Assert.InRange(
            counts.GetProperty("SizeOnDisk").GetProperty("SizeInBytes").GetInt64() - size,
            low: 3000,
            high: 4000
        );

        Assert.Equal(204, (await server.SendAsync("DELETE", Url(db))).Status);
        Assert.Equal(204, (await server.SendAsync("DELETE", Url(db))).Status);
        Assert.Equal(404, (await server.SendAsync("GET", Url(db))).Status);
        Assert.Equal(404, (await server.SendAsync("HEAD", Url(db))).Status);

        static string Url(string db) => db + "/attachments?id=users/1&name=a%20b.png";
    }

    [Theory]
    [InlineData("bytes=0-9", 206, 0, 10, "bytes 0-9/200000")]
    [InlineData("bytes=65530-65545", 206, 65530, 16, "bytes 65530-65545/200000")]
    [InlineData("bytes=199999-", 206, 199999, 1, "bytes 199999-199999/200000")]
    [InlineData("bytes=-5", 206, 199995, 5, "bytes 199995-199999/200000")]
    [InlineData("bytes=-300000", 206, 0, 200000, "bytes 0-199999/200000")]
    [InlineData("bytes=5-999999", 206, 5, 199995, "bytes 5-199999/200000")]
    [InlineData("bytes=0-1,5-6", 200, 0, 200000, null)]
    [InlineData("bytes=9-5", 200, 0, 200000, null)]
    [InlineData("lines=0-1", 200, 0, 200000, null)]
    [InlineData("bytes=200000-", 416, 0, 0, "bytes */200000")]
    [InlineData("bytes=-0", 416, 0, 0, "bytes */200000")]
    public async Task A_single_range_is_answered(string range, int status, int first, int length, string? contentRange)
    {
        string db = await CreateAsync();
        byte[] content = Bytes(200_000);
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a", content)).Status);
        using var read = await GetAsync(db + "/attachments?id=users/1&name=a", ("Range", range));
        Assert.Equal(status, (int)read.StatusCode);
        Assert.Equal(contentRange, Raw(read, "Content-Range"));
        if (status < 400)
        {
            Assert.Equal(content[first..(first + length)], await read.Content.ReadAsByteArrayAsync());
        }
    }

    [Theory]
    [InlineData("script", 403)]
    [InlineData("worker", 403)]
    [InlineData("serviceworker", 403)]
    [InlineData("image", 200)]
    [InlineData("empty", 200)]
    public async Task An_attachment_is_not_served_as_a_script(string use, int status)
    {
        string db = await CreateAsync();
        string url = db + "/attachments?id=users/1&name=a";
        await server.SendAsync("PUT", url + "&contentType=text/javascript", [1]);
        Assert.Equal(status, (await server.SendAsync("GET", url, (string?)null, ("Sec-Fetch-Dest", use))).Status);
        Assert.Equal(status, (await server.SendAsync("HEAD", url, (string?)null, ("Sec-Fetch-Dest", use))).Status);
    }

    [Fact]
    public async Task An_attachment_beyond_the_limit_of_a_document_is_refused()
    {
        string db = await CreateAsync();
        string name = new('n', 500);
        Answer stored;
        int count = 0;
        do
        {
            stored = await server.SendAsync("PUT", $"{db}/attachments?id=users/1&name={count++:d4}{name}", [1]);
        } while (stored.Status == 201);

        stored.IsRefusal(413, "attachments");
        Assert.InRange(count, 50, 70);
        var metadata = (await server.SendAsync("GET", db + "/docs?id=users/1")).Json.GetProperty("Results")[0];
        Assert.Equal(count - 1, metadata.GetProperty("@metadata").GetProperty("@attachments").GetArrayLength());
    }

    [Fact]
    public async Task A_range_request_with_an_outdated_If_Range_gets_the_whole_attachment()
    {
        string db = await CreateAsync();
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a", [1, 2, 3]);
        using var read = await GetAsync(
            db + "/attachments?id=users/1&name=a",
            ("Range", "bytes=1-1"),
            ("If-Range", "\"A:1-x\"")
        );
        Assert.Equal([1, 2, 3], await read.Content.ReadAsByteArrayAsync());
    }

    [Theory]
    [InlineData("%22q%22%0Aline%0D%0AX-Evil%3A%201", "text/html%0D%0AX-Evil%3A%201")]
    [InlineData("%D7%91%D7%A2%F0%9F%90%A6.txt", "text/plain; charset=utf-8")]
    [InlineData("..%2F..%2Fetc%2Fpasswd", "")]
    public async Task Names_and_content_types_of_any_form_inject_no_headers(string name, string contentType)
    {
        string db = await CreateAsync();
        string url = $"{db}/attachments?id=users/1&name={name}";
        Assert.Equal(201, (await server.SendAsync("PUT", $"{url}&contentType={contentType}", [7])).Status);
        using var read = await GetAsync(url);
        Assert.Equal([7], await read.Content.ReadAsByteArrayAsync());
        Assert.False(read.Headers.Contains("X-Evil"));
        Assert.DoesNotContain('"', Raw(read, "Content-Disposition")!);
        Assert.StartsWith(
            contentType.StartsWith("text/plain", StringComparison.Ordinal) ? "text/plain" : "application/octet-stream",
            Raw(read, "Content-Type"),
            StringComparison.Ordinal
        );
        var metadata = (await server.SendAsync("GET", db + "/docs?id=users/1")).Json.GetProperty("Results")[0];
        Assert.Equal(
            Uri.UnescapeDataString(name),
            metadata.GetProperty("@metadata").GetProperty("@attachments")[0].GetProperty("Name").GetString()
        );
    }

    [Theory]
    [InlineData("PUT", "?id=users/none&name=a", 400, "Store the document first")]
    [InlineData("PUT", "?id=users/1", 400, "name")]
    [InlineData("PUT", "?id=users/1&name=", 400, "name")]
    [InlineData("PUT", "?name=a", 400, "'id'")]
    [InlineData("GET", "?id=users/1", 400, "name")]
    [InlineData("PUT", "?id=users/1&name=a&remote=1", 501, "remote")]
    [InlineData("POST", "?id=users/1&name=a", 501, "this part of attachments")]
    [InlineData("DELETE", "/bulk", 501, "this part of attachments")]
    public async Task Unsupported_or_malformed_requests_are_refused(string method, string url, int status, string text)
    {
        string db = await CreateAsync();
        (await server.SendAsync(method, db + "/attachments" + url, "{}")).IsRefusal(status, text);
        Assert.Empty(Files());
    }

    [Fact]
    public async Task A_body_that_is_cut_off_stores_nothing()
    {
        string db = await CreateAsync();
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(server.Address.Host, server.Address.Port);
            await client
                .GetStream()
                .WriteAsync(
                    Encoding.ASCII.GetBytes(
                        $"PUT {db}/attachments?id=users/1&name=cut HTTP/1.1\r\nHost: {server.Address.Authority}\r\n"
                            + "Content-Length: 1000000\r\n\r\n"
                            + new string('x', 300_000)
                    )
                );
            await WaitUntil(() => server.Disk.Files.Any(IsPart));
        }

        await WaitUntil(() => !server.Disk.Files.Any(IsPart));
        Assert.Equal(404, (await server.SendAsync("HEAD", db + "/attachments?id=users/1&name=cut")).Status);

        static bool IsPart(string path) => path.EndsWith(".part", StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_batch_stores_documents_and_files_in_the_order_of_its_commands()
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await SendBatchAsync(
            db,
            """
            {"Commands":[{"Id":"users/1","Type":"PUT","Document":{"a":1},"ChangeVector":null},
             {"Id":"users/1","Name":"a","ChangeVector":null,"Type":"AttachmentPUT","ContentType":"image/png"},
             {"Id":"users/1","Name":"b","Type":"AttachmentPUT"},
             {"Id":"users/1","Name":"none","Type":"AttachmentDELETE"}]}
            """,
            [1, 2, 3],
            Bytes(100_000)
        );
        Assert.True(answer.Status == 201, answer.Body);
        var results = answer.Json.GetProperty("Results");
        Assert.Equal("AttachmentPUT", results[1].GetProperty("Type").GetString());
        Assert.Equal("users/1", results[1].GetProperty("Id").GetString());
        Assert.Equal("EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=", results[1].GetProperty("Hash").GetString());
        Assert.Equal("image/png", results[1].GetProperty("ContentType").GetString());
        Assert.Equal(100_000, results[2].GetProperty("Size").GetInt64());
        Assert.Equal("users/1", results[3].GetProperty("@id").GetString());
        using var read = await GetAsync(db + "/attachments?id=users/1&name=b");
        Assert.Equal(Bytes(100_000), await read.Content.ReadAsByteArrayAsync());
        var document = (await server.SendAsync("GET", db + "/docs?id=users/1")).Json.GetProperty("Results")[0];
        Assert.Equal(
            results[2].GetProperty("DocumentChangeVector").GetString(),
            document.GetProperty("@metadata").GetProperty("@change-vector").GetString()
        );
    }

    [Fact]
    public async Task A_batch_whose_files_and_commands_differ_in_number_stores_nothing()
    {
        string db = await server.CreateDatabaseAsync();
        const string Commands = """
            {"Commands":[{"Id":"users/1","Type":"PUT","Document":{}},{"Id":"users/1","Name":"a","Type":"AttachmentPUT"}]}
            """;
        (await SendBatchAsync(db, Commands)).IsRefusal(400, "0 files");
        (await SendBatchAsync(db, Commands, [1], [2])).IsRefusal(400, "more files");
        (await server.SendAsync("POST", db + "/bulk_docs", Commands)).IsRefusal(400, "no files");
        (await SendBatchAsync(db, """{"Commands":[],"TransactionMode":"ClusterWide"}""", [1])).IsRefusal(
            501,
            "cluster"
        );
        (await SendBatchAsync(db, """{"Commands":[{"Id":"a","Name":"","Type":"AttachmentPUT"}]}""", [1])).IsRefusal(
            400,
            "1 to 512"
        );
        Assert.Equal(0, await server.CountAsync(db));
    }

    [Theory]
    [InlineData("--x\r\nContent-Disposition: form-data; name=\"main\"\r\n\r\n{\"Comma", 400)]
    [InlineData("--x\r\nContent-Disposition: form-data; name=\"main\"\r\n\r\n{\"Commands\":[]}\r\n--x\r\n", 400)]
    [InlineData("--x--\r\n", 400)]
    [InlineData("", 400)]
    [InlineData("--x\r\n\r\n{\"Commands\":[]}\r\n--x--\r\n", 201)]
    public async Task A_multipart_body_that_is_malformed_is_400(string body, int status)
    {
        string db = await server.CreateDatabaseAsync();
        var answer = await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            body,
            ("Content-Type", "multipart/form-data; boundary=x")
        );
        Assert.True(answer.Status == status, answer.Body);
        Assert.Empty(Files());
    }

    /// <summary>
    /// The server answers while most of the body is still unsent, so it cannot have read all of it.
    /// </summary>
    [Theory]
    [InlineData("--x\r\n")]
    [InlineData("--x\r\nA: ")]
    [InlineData("--x\r\n\r\n{\"Commands\":[]}\r\n--x\r\n")]
    [InlineData("")]
    public async Task A_multipart_header_without_an_end_is_400_after_its_first_bytes(string before)
    {
        string db = await CreateAsync();
        using var client = new TcpClient();
        await client.ConnectAsync(server.Address.Host, server.Address.Port);
        var stream = client.GetStream();
        await stream.WriteAsync(
            Encoding.ASCII.GetBytes(
                $"POST {db}/bulk_docs HTTP/1.1\r\nHost: {server.Address.Authority}\r\nContent-Length: 17000000\r\n"
                    + $"Content-Type: multipart/form-data; boundary=x\r\n\r\n{before}{new string('x', 64 << 10)}"
            )
        );
        using var reader = new StreamReader(stream);
        Assert.Contains(
            " 400 ",
            await reader.ReadLineAsync().WaitAsync(TimeSpan.FromMinutes(1)),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("multipart/form-data; boundary=x", "Content-Transfer-Encoding: base64", 415)]
    [InlineData("multipart/form-data; boundary=x", "Content-Encoding: gzip", 415)]
    [InlineData("multipart/form-data; boundary=x", "content-transfer-encoding: Binary", 201)]
    [InlineData("Multipart/Form-Data; Boundary=x", "Content-Disposition: form-data", 201)]
    public async Task A_part_whose_content_is_encoded_is_refused(string contentType, string header, int status)
    {
        string db = await server.CreateDatabaseAsync();
        string body = $"--x\r\n{header}\r\n\r\n{{\"Commands\":[]}}\r\n--x--\r\n";
        var answer = await server.SendAsync("POST", db + "/bulk_docs", body, ("Content-Type", contentType));
        Assert.True(answer.Status == status, answer.Body);
    }

    [Fact]
    public async Task A_compressed_body_is_refused_because_it_would_be_stored_as_it_is()
    {
        string db = await CreateAsync();
        string url = db + "/attachments?id=users/1&name=a";
        (await server.SendAsync("PUT", url, [1], ("Content-Encoding", "gzip"))).IsRefusal(415, "gzip");
    }

    [Fact]
    public async Task A_full_disk_is_507_and_stores_nothing()
    {
        string db = await CreateAsync();
        long capacity = server.Disk.CapacityBytes;
        server.Disk.CapacityBytes = server.Disk.UsedBytes + (64 << 20);
        try
        {
            (await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a", Bytes(5_000))).IsRefusal(
                507,
                "reserve"
            );
        }
        finally
        {
            server.Disk.CapacityBytes = capacity;
        }

        Assert.Equal(404, (await server.SendAsync("HEAD", db + "/attachments?id=users/1&name=a")).Status);
    }

    [Fact]
    public async Task A_refused_batch_is_answered_before_its_files_are_sent()
    {
        string db = await server.CreateDatabaseAsync();
        string[] refused =
        [
            """{"Id":"a","Name":"","Type":"AttachmentPUT"}""",
            """{"Id":"b","Type":"PUT","Document":{}},{"Id":"none","Name":"x","Type":"AttachmentPUT"}""",
            string.Join(',', Enumerable.Repeat("""{"Id":"a","Name":"x","Type":"AttachmentPUT"}""", 1025)),
        ];
        string[] statuses = ["400 Bad Request", "400 Bad Request", "413 Payload Too Large"];
        foreach (var (commands, status) in refused.Zip(statuses))
        {
            Assert.Equal("HTTP/1.1 " + status, await SendWithoutFilesAsync(db, $"{{\"Commands\":[{commands}]}}"));
            Assert.Empty(Files());
        }
    }

    // Returns the first line of the answer to a batch whose files do not end.
    private async Task<string?> SendWithoutFilesAsync(string db, string commands)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(server.Address.Host, server.Address.Port);
        var stream = client.GetStream();
        string part = "--x\r\nContent-Disposition: form-data; name=\"";
        await stream.WriteAsync(
            Encoding.ASCII.GetBytes(
                $"POST {db}/bulk_docs HTTP/1.1\r\nHost: {server.Address.Authority}\r\nContent-Length: 100000000\r\n"
                    + $"Content-Type: multipart/form-data; boundary=x\r\n\r\n{part}main\"\r\n\r\n{commands}\r\n"
                    + $"{part}attachment_0\"\r\n\r\nfirst bytes"
            )
        );
        using var reader = new StreamReader(stream);
        return await reader.ReadLineAsync().WaitAsync(TimeSpan.FromMinutes(1));
    }

    [Fact]
    public async Task Silent_uploads_do_not_block_other_uploads()
    {
        string db = await CreateAsync();
        var silent = new List<TcpClient>();
        try
        {
            for (int i = 0; i < 40; i++)
            {
                var client = new TcpClient();
                silent.Add(client);
                await client.ConnectAsync(server.Address.Host, server.Address.Port);
                await client
                    .GetStream()
                    .WriteAsync(
                        Encoding.ASCII.GetBytes(
                            $"PUT {db}/attachments?id=users/1&name=s{i} HTTP/1.1\r\n"
                                + $"Host: {server.Address.Authority}\r\n"
                                + $"Content-Length: 1000000\r\n\r\n{new string('x', 1000)}"
                        )
                    );
            }

            await WaitUntil(() => Files().Count() == silent.Count);
            Assert.Equal(201, (await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a", [1])).Status);
        }
        finally
        {
            silent.ForEach(static client => client.Dispose());
        }

        await WaitUntil(() => !Files().Any());
    }

    [Fact]
    public async Task A_GET_whose_content_is_missing_is_500_and_reported_while_the_attachment_exists()
    {
        string db = await CreateAsync();
        string url = db + "/attachments?id=users/1&name=lost";
        await server.SendAsync("PUT", url, [4, 4, 4]);
        var before = server.Disk.Files;
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=other", [5]);
        string path = server
            .Disk.Files.Except(before, StringComparer.Ordinal)
            .Single(static file => file.Contains("/attachments/", StringComparison.Ordinal));
        server.Disk.Delete(path);
        var refused = await server.SendAsync("GET", db + "/attachments?id=users/1&name=other");
        refused.IsRefusal(500, "missing");
        Assert.Null(refused.Tag);
        var health = (await server.SendAsync("GET", "/readyz?verbose")).Json;
        Assert.Equal(1, health.GetProperty("DamagedPlaces").GetInt32());
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/attachments?id=users/1&name=other", [5])).Status);
        health = (await server.SendAsync("GET", "/readyz?verbose")).Json;
        Assert.Equal(0, health.GetProperty("DamagedPlaces").GetInt32());
    }

    [Fact]
    public async Task A_GET_during_deletions_returns_the_whole_attachment_or_404()
    {
        string db = await CreateAsync();
        string url = db + "/attachments?id=users/1&name=a";
        byte[] content = Bytes(10_000);
        using var ended = new CancellationTokenSource();
        var changes = Task.Run(async () =>
        {
            for (int i = 0; i < 60; i++)
            {
                content[0] = (byte)i;
                var stored = await server.SendAsync("PUT", url, content);
                Assert.Equal(201, stored.Status);
                Assert.Equal(204, (await server.SendAsync("DELETE", url)).Status);
                string hash = Convert.ToHexStringLower(stored.Json.GetProperty("Hash").GetBytesFromBase64());
                string path = server.Disk.Files.Single(file => file.EndsWith(hash, StringComparison.Ordinal));
                server.Disk.Delete(path); // as the node removes an unused file
            }

            await ended.CancelAsync();
        });
        int found = 0;
        while (!ended.IsCancellationRequested && !changes.IsFaulted)
        {
            using var read = await GetAsync(url);
            Assert.True(read.StatusCode is HttpStatusCode.OK or HttpStatusCode.NotFound, read.StatusCode.ToString());
            found += read.StatusCode == HttpStatusCode.OK ? 1 : 0;
            Assert.True(
                read.StatusCode == HttpStatusCode.NotFound
                    || (await read.Content.ReadAsByteArrayAsync()).AsSpan(1).SequenceEqual(content.AsSpan(1))
            );
        }

        await changes;
        Assert.True(found > 0);
    }

    private Task<Answer> SendBatchAsync(string db, string commands, params byte[][] files)
    {
        const string Head = "--x\r\nContent-Disposition: form-data; name=\"";
        var body = new List<byte>(Encoding.UTF8.GetBytes(Head + "main\"\r\n\r\n" + commands));
        for (int i = 0; i < files.Length; i++)
        {
            body.AddRange(
                Encoding.UTF8.GetBytes($"\r\n{Head}attachment_{i}\"\r\nCommand-Type: AttachmentStream\r\n\r\n")
            );
            body.AddRange(files[i]);
        }

        body.AddRange("\r\n--x--\r\n"u8);
        return server.SendAsync(
            "POST",
            db + "/bulk_docs",
            body.ToArray(),
            ("Content-Type", "multipart/form-data; boundary=x")
        );
    }

    private static byte[] Bytes(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    private static string? Raw(HttpResponseMessage response, string name) =>
        response.Content.Headers.NonValidated.TryGetValues(name, out var values) ? values.ToString() : null;

    private static async Task WaitUntil(Func<bool> holds)
    {
        for (int i = 0; i < 600 && !holds(); i++)
        {
            await Task.Delay(50);
        }

        Assert.True(holds());
    }

    private IEnumerable<string> Files() =>
        server.Disk.Files.Where(static path => path.Contains("/attachments/incoming/", StringComparison.Ordinal));

    private async Task<string> CreateAsync()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=users/1", "{}")).Status);
        Assert.Equal(FormatLevel.Newest, server.Node.FormatLevel.Level);
        return db;
    }

    private async Task<HttpResponseMessage> GetAsync(string url, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Address, url));
        foreach (var (name, value) in headers)
        {
            request.Headers.TryAddWithoutValidation(name, value);
        }

        return await server.Http.SendAsync(request);
    }
}
