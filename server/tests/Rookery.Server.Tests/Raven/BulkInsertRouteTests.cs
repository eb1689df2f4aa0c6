using System.Globalization;
using System.IO.Compression;
using System.Net.Sockets;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Server.Raven;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Server.Raven.LongOperations;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>bulk_insert as RavenDB's clients use it: they never end the request.</summary>
public sealed class BulkInsertRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_answer_comes_at_the_closing_bracket(bool compressed)
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        using var stream = await BulkStream.OpenAsync(
            server,
            $"{db}/bulk_insert?id={id}&skipOverwriteIfUnchanged=false&nodeTag=A",
            compressed
        );
        await stream.SendAsync("[");
        for (int i = 0; i < 3000; i++)
        {
            await stream.SendAsync(
                $$"""{{(i == 0 ? "" : ",")}}{"Id":"users/{{i}}","Type":"PUT","Document":{"n":{{i}},"@metadata":{"@collection":"Users"} } }"""
            );
        }

        await stream.SendAsync(""",""" + """{"Type":"HeartBeat"}]""");
        string answer = await stream.ReadAnswerAsync();
        Assert.StartsWith("HTTP/1.1 201", answer, StringComparison.Ordinal);
        Assert.Contains("Content-Length: 0", answer, StringComparison.OrdinalIgnoreCase);
        Assert.Equal(3000, await server.CountAsync(db));
        var state = (await server.SendAsync("GET", $"{db}/operations/state?id={id}&nodeTag=A")).Json;
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal(3000, state.GetProperty("Progress").GetProperty("Total").GetInt32());
    }

    [Fact]
    public async Task Documents_sent_before_a_pause_are_stored_during_it()
    {
        string db = await server.CreateDatabaseAsync();
        using var stream = await BulkStream.OpenAsync(
            server,
            $"{db}/bulk_insert?id={await RequestOperationIdAsync(db)}",
            compressed: false
        );
        await stream.SendAsync("""[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"PUT","Docu""");
        while ((await server.SendAsync("HEAD", db + "/docs?id=a")).Status != 200)
        {
            await Task.Yield();
        }

        await stream.SendAsync("""ment":{}}]""");
        Assert.StartsWith("HTTP/1.1 201", await stream.ReadAnswerAsync(), StringComparison.Ordinal);
        Assert.Equal(2, await server.CountAsync(db));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_error_during_a_pause_arrives_although_the_client_keeps_sending(bool compressed)
    {
        OneOfThree? member = null;
        var fullServer = new RunningServer
        {
            // The server closes the connection of a client that is silent for a second. This clock stands still, so a
            // slow test is not taken for a silent client.
            Time = new SimulatedTimeProvider(),
            WrapConsensus = alone => member = new OneOfThree(alone, static _ => Task.CompletedTask),
        };
        await fullServer.InitializeAsync();
        try
        {
            string db = await fullServer.CreateDatabaseAsync();
            member!.WriteRejection = new Rejection(RejectionKind.InsufficientSpace, "The disk is full.");
            using var stream = await BulkStream.OpenAsync(fullServer, $"{db}/bulk_insert?id=77", compressed);
            await stream.SendAsync("""[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"PUT","Docu""");
            while (
                (await fullServer.SendAsync("GET", $"{db}/operations/state?id=77")) is not { Status: 200 } state
                || state.Json.GetProperty("Status").GetString() is not "Faulted"
            )
            {
                await Task.Yield();
            }

            // The client sends 16 MiB more, which it could not if the server did not read them.
            var random = new Random(1);
            byte[] piece = new byte[32 << 10];
            for (int i = 0; i < 256; i++)
            {
                random.NextBytes(piece);
                await stream.SendAsync(Convert.ToHexString(piece));
            }

            Assert.StartsWith("HTTP/1.1 507", await stream.ReadAnswerAsync(), StringComparison.Ordinal);
        }
        finally
        {
            await fullServer.DisposeAsync();
        }
    }

    [Theory]
    [InlineData("""[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"PUT","Document":{"x":}}""", 400, "JSON")]
    [InlineData(
        """[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"PUT","Document":{"x":1,"x":2}}""",
        400,
        "twice"
    )]
    [InlineData(
        """[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"TimeSeriesBulkInsert","TimeSeries":{}}]""",
        501,
        "time series"
    )]
    [InlineData(
        """[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"AttachmentPUT","Name":"n"}x]""",
        400,
        "ContentLength"
    )]
    [InlineData("""[{"Id":"a","Type":"PUT","Document":{}} {}]""", 400, "")]
    [InlineData("""[{"Id":"a","Type":"PUT","Document":{}}] ]""", 400, "follows")]
    public async Task A_bad_element_ends_the_stream_with_the_reason_in_its_operation(
        string body,
        int status,
        string named
    )
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        using var stream = await BulkStream.OpenAsync(server, $"{db}/bulk_insert?id={id}", compressed: false);
        await stream.SendAsync(body);
        string answer = await stream.ReadAnswerAsync();
        Assert.StartsWith($"HTTP/1.1 {status}", answer, StringComparison.Ordinal);
        Assert.Contains("Connection: close", answer, StringComparison.OrdinalIgnoreCase);
        var state = (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json;
        Assert.Equal("Faulted", state.GetProperty("Status").GetString());
        // For errors within a document, the operation's text contains other words.
        if (named is not ("JSON" or "twice"))
        {
            Assert.Contains(
                named,
                state.GetProperty("Result").GetProperty("Error").GetString(),
                StringComparison.OrdinalIgnoreCase
            );
        }

        Assert.Contains(
            "element 1",
            state.GetProperty("Result").GetProperty("Error").GetString(),
            StringComparison.Ordinal
        );
        Assert.Equal(1, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_truncated_stream_is_faulted_and_keeps_complete_documents()
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        var answer = await server.SendAsync(
            "POST",
            $"{db}/bulk_insert?id={id}",
            """[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Ty"""
        );
        answer.IsRefusal(400, "bracket");
        Assert.Equal(
            "Faulted",
            (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
        );
        Assert.Equal(1, await server.CountAsync(db));
    }

    [Fact]
    public async Task Bytes_after_the_closing_bracket_are_refused_however_late_they_arrive()
    {
        string db = await server.CreateDatabaseAsync();
        string body = $$"""[{"Id":"a","Type":"PUT","Document":{} }]{{new string(' ', 1 << 20)}}{"Id":"b"}""";
        (await server.SendAsync("POST", db + "/bulk_insert", body)).IsRefusal(400, "follows");
        Assert.Equal(201, (await server.SendAsync("POST", db + "/bulk_insert", body[..^10])).Status);
        Assert.Equal(1, await server.CountAsync(db));
    }

    [Fact]
    public async Task A_deleted_database_ends_the_stream_without_an_error_in_the_log()
    {
        string db = await server.CreateDatabaseAsync();
        using var stream = await BulkStream.OpenAsync(
            server,
            $"{db}/bulk_insert?id={await RequestOperationIdAsync(db)}",
            compressed: false
        );
        await stream.SendAsync("""[{"Id":"a","Type":"PUT","Document":{} }""");
        while (await server.CountAsync(db) == 0)
        {
            await Task.Yield();
        }

        await server.SendAsync(
            "DELETE",
            "/admin/databases",
            $$"""{"DatabaseNames":["{{db["/databases/".Length..]}}"],"HardDelete":true}"""
        );
        long before = server.Node.Consensus.AppliedIndex;
        await stream.SendAsync(""",{"Id":"b","Type":"PUT","Document":{} }""");

        // The server notices the rejection when its next chunk of documents is ready, while it still reads the body.
        while (server.Node.Consensus.AppliedIndex == before)
        {
            await server.SendAsync("GET", "/livez");
        }

        await stream.SendAsync(""",{"Id":"c","Type":"PUT","Document":{} }""");
        Assert.StartsWith("HTTP/1.1 500", await stream.ReadAnswerAsync(), StringComparison.Ordinal);
        stream.EndSending();
        while (await stream.ReadAnswerAsync() is not "")
        {
            // Read the rest of the answer, until the server has read everything and closes the connection.
        }

        Assert.True(server.Log.Lines.IsEmpty, string.Join("\n", server.Log.Lines));
    }

    [Fact]
    public async Task A_client_that_vanishes_leaves_a_faulted_operation_and_a_healthy_server()
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        using (var stream = await BulkStream.OpenAsync(server, $"{db}/bulk_insert?id={id}", compressed: false))
        {
            await stream.SendAsync("""[{"Id":"a","Type":"PUT","Document":{}},""");
            while ((await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Status != 200)
            {
                await Task.Yield();
            }
        }

        while (
            (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
                is "InProgress"
        )
        {
            await Task.Yield();
        }

        Assert.Equal(
            "Faulted",
            (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
        );
        Assert.Equal(200, (await server.SendAsync("GET", db + "/stats")).Status);
        Assert.True(server.Log.Lines.IsEmpty, string.Join("\n", server.Log.Lines));
    }

    [Fact]
    public async Task The_last_processed_id_is_that_of_a_stored_document()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.True(server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        var http = new DefaultHttpContext();
        using var documents = new BulkInsertReader();
        using var room = new StreamedRoom(http, http.Request.BodyReader, server.Context.LargeRequests);
        using var operation = new BulkOperation(database.Number, id: 1);
        var operations = new OperationRegistry(TimeProvider.System, server.Context.QueryMemory);
        using var chunks = new BulkInsertChunks(
            server.Context,
            database,
            operation,
            operations,
            room,
            http.Request.BodyReader,
            skipUnchanged: false
        );
        // A chunk has at most 8,192 documents.
        var elements = Enumerable
            .Range(0, 3 * 8192)
            .Select(static number => $$"""{"Id":"users/{{number}}","Type":"PUT","Document":{} }""");
        documents.Feed(Encoding.UTF8.GetBytes($"[{string.Join(',', elements)}]"));
        foreach (string? lastStored in (string?[])[null, "users/8191", "users/16383"])
        {
            Assert.Equal(StreamRead.Item, chunks.Fill(documents, out _));
            await chunks.StoreAsync();
            Assert.Equal(lastStored, operation.LastProcessedId);
        }

        await chunks.StoreRestAsync();
        Assert.Equal("users/24575", operation.LastProcessedId);
    }

    [Fact]
    public async Task A_bulk_insert_can_be_killed()
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        using var stream = await BulkStream.OpenAsync(server, $"{db}/bulk_insert?id={id}", compressed: false);
        await stream.SendAsync("[");
        while ((await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Status != 200)
        {
            await Task.Yield();
        }

        Assert.Equal(204, (await server.SendAsync("POST", $"{db}/operations/kill?id={id}&nodeTag=A", "")).Status);
        Assert.Equal("", await stream.ReadAnswerAsync());
        Assert.Equal(
            "Canceled",
            (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
        );
    }

    [Fact]
    public async Task An_operation_id_can_be_used_once()
    {
        string db = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        Assert.Equal(201, (await server.SendAsync("POST", $"{db}/bulk_insert?id={id}", "[]")).Status);
        (await server.SendAsync("POST", $"{db}/bulk_insert?id={id}", "[]")).IsRefusal(400, "operation");
        (await server.SendAsync("POST", $"{db}/bulk_insert?id=9999999999999", "[]")).IsRefusal(400, "operation");
        Assert.Equal(201, (await server.SendAsync("POST", $"{db}/bulk_insert", "[]")).Status);
        (await server.SendAsync("GET", $"{db}/operations/state?id=999999")).IsRefusal(400, "knows no operation 999999");
    }

    /// <summary>Rights are per database, and a route checks those of the database in its path.</summary>
    [Fact]
    public async Task A_bulk_insert_is_unreachable_through_another_database()
    {
        string db = await server.CreateDatabaseAsync();
        string other = await server.CreateDatabaseAsync();
        long id = await RequestOperationIdAsync(db);
        Assert.Equal(201, (await server.SendAsync("POST", $"{other}/bulk_insert?id={id}", "[]")).Status);
        using var stream = await BulkStream.OpenAsync(server, $"{db}/bulk_insert?id={id}", compressed: false);
        await stream.SendAsync("[");
        while ((await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Status != 200)
        {
            await Task.Yield();
        }

        string third = await server.CreateDatabaseAsync();
        (await server.SendAsync("GET", $"{third}/operations/state?id={id}")).IsRefusal(
            400,
            "or the database was deleted and created again"
        );
        (await server.SendAsync("POST", $"{third}/operations/kill?id={id}", "")).IsRefusal(400, "knows no operation");
        Assert.Equal(204, (await server.SendAsync("POST", $"{other}/operations/kill?id={id}", "")).Status);
        Assert.Equal(
            "Completed",
            (await server.SendAsync("GET", $"{other}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
        );
        await stream.SendAsync("]");
        await stream.ReadAnswerAsync();
        Assert.Equal(
            "Completed",
            (await server.SendAsync("GET", $"{db}/operations/state?id={id}")).Json.GetProperty("Status").GetString()
        );
    }

    private async Task<long> RequestOperationIdAsync(string db)
    {
        var next = (await server.SendAsync("GET", db + "/operations/next-operation-id")).Json;
        Assert.Equal("A", next.GetProperty("NodeTag").GetString());
        return next.GetProperty("Id").GetInt64();
    }

    /// <summary>A chunked request without an end, like those of RavenDB's clients.</summary>
    private sealed class BulkStream : IDisposable
    {
        private readonly TcpClient _client = new();
        private readonly MemoryStream _compressed = new();
        private GZipStream? _gzip;
        private NetworkStream _stream = null!;

        public static async Task<BulkStream> OpenAsync(RunningServer server, string url, bool compressed)
        {
            var stream = new BulkStream();
            await stream._client.ConnectAsync(server.Address.Host, server.Address.Port);
            stream._stream = stream._client.GetStream();
            stream._gzip = compressed
                ? new GZipStream(stream._compressed, CompressionLevel.Fastest, leaveOpen: true)
                : null;
            string head =
                $"POST {url} HTTP/1.1\r\nHost: {server.Address.Authority}\r\nTransfer-Encoding: "
                + $"chunked\r\n{(compressed ? "Content-Encoding: gzip\r\n" : "")}\r\n";
            await stream._stream.WriteAsync(Encoding.ASCII.GetBytes(head));
            return stream;
        }

        public async Task SendAsync(string text)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            if (_gzip is not null)
            {
                await _gzip.WriteAsync(bytes);
                await _gzip.FlushAsync();
                bytes = _compressed.ToArray();
                _compressed.SetLength(0);
            }

            byte[] head = Encoding.ASCII.GetBytes(bytes.Length.ToString("x", CultureInfo.InvariantCulture) + "\r\n");
            await _stream.WriteAsync((byte[])[.. head, .. bytes, (byte)'\r', (byte)'\n']);
        }

        public void EndSending() => _client.Client.Shutdown(SocketShutdown.Send);

        /// <summary>Returns the first bytes of the answer; empty if the server hangs up without one.</summary>
        public async Task<string> ReadAnswerAsync()
        {
            byte[] buffer = new byte[64 << 10];
            try
            {
                int length = await _stream.ReadAsync(buffer);
                return Encoding.UTF8.GetString(buffer, 0, length);
            }
            catch (IOException)
            {
                return "";
            }
        }

        public void Dispose()
        {
            _gzip?.Dispose();
            _compressed.Dispose();
            _client.Dispose();
        }
    }
}
