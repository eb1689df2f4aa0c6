using System.Net.WebSockets;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Changes;
using Rookery.Indexing.Indexes;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Changes;
using Rookery.Server.Raven.LongOperations;
using Rookery.Server.Raven.SetBased;

namespace Rookery.Server.Tests.Raven;

/// <summary>The changes feed over a WebSocket, as RavenDB's clients use it.</summary>
public sealed class ChangesRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    // Listeners may use an eighth of 256 MiB, at 256 KiB each.
    private const int MaxListeners = 128;

    [Fact]
    public async Task Commands_are_confirmed_and_changes_sent_in_order()
    {
        string db = await server.CreateDatabaseAsync();
        using var socket = await ConnectAsync(db);
        Assert.Equal(
            """{"CommandId":1,"Type":"Confirm"}""",
            await AskAsync(socket, """{"CommandId":1,"Command":"watch-collection","Param":"Users"}""")
        );
        Assert.Equal(
            """{"CommandId":2,"Type":"Confirm"}""",
            await AskAsync(socket, """{"CommandId":2,"Command":"watch-counters","Param":null}""")
        );
        Assert.Equal(
            """{"CommandId":3,"Type":"Confirm"}""",
            await AskAsync(
                socket,
                """{"CommandId":3,"Command":"watch-document-counter","Params":["users/1","likes"]}"""
            )
        );
        await server.SendAsync("PUT", db + "/docs?id=users/1", """{"@metadata":{"@collection":"Users"}}""");
        await server.SendAsync("PUT", db + "/docs?id=other", "{}");
        await server.SendAsync("DELETE", db + "/docs?id=users/1");
        var seen = new List<string>();
        while (seen.Count < 2)
        {
            foreach (var change in JsonDocument.Parse(await ReceiveAsync(socket)).RootElement.EnumerateArray())
            {
                Assert.Equal("DocumentChange", change.GetProperty("Type").GetString());
                var value = change.GetProperty("Value");
                Assert.Equal("Users", value.GetProperty("CollectionName").GetString());
                Assert.Matches(@"^A:\d+-", value.GetProperty("ChangeVector").GetString());
                seen.Add($"{value.GetProperty("Type").GetString()} {value.GetProperty("Id").GetString()}");
            }
        }

        Assert.Equal(["Put users/1", "Delete users/1"], seen);
        await socket.CloseAsync(WebSocketCloseStatus.NormalClosure, null, CancellationToken.None);
    }

    [Fact]
    public async Task Operations_are_reported_as_they_progress_and_end()
    {
        string db = await server.CreateDatabaseAsync();
        long id = (await server.SendAsync("GET", db + "/operations/next-operation-id"))
            .Json.GetProperty("Id")
            .GetInt64();
        using var socket = await ConnectAsync(db);
        await AskAsync(socket, $$"""{"CommandId":1,"Command":"watch-operation","Param":"{{id}}"}""");
        await server.SendAsync("POST", $"{db}/bulk_insert?id={id}", """[{"Id":"a","Type":"PUT","Document":{}}]""");
        string status;
        do
        {
            var value = JsonDocument.Parse(await ReceiveAsync(socket)).RootElement[0].GetProperty("Value");
            Assert.Equal(id, value.GetProperty("OperationId").GetInt64());
            status = value.GetProperty("State").GetProperty("Status").GetString()!;
        } while (status is not "Completed");
    }

    [Fact]
    public async Task Changes_by_query_are_reported_as_they_progress_and_end()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            $$"""{"Commands":[{{string.Join(',', Enumerable.Range(0, 600).Select(EncodePut))}}]}"""
        );
        using var socket = await ConnectAsync(db);
        await AskAsync(socket, """{"CommandId":1,"Command":"watch-operations","Param":null}""");
        long id = (await server.SendAsync("DELETE", db + "/queries", """{"Query":"from @all_docs"}"""))
            .Json.GetProperty("OperationId")
            .GetInt64();
        JsonElement state;
        do
        {
            var value = JsonDocument.Parse(await ReceiveAsync(socket)).RootElement[0].GetProperty("Value");
            Assert.Equal(id, value.GetProperty("OperationId").GetInt64());
            state = value.GetProperty("State");
            Assert.Equal(600, state.GetProperty("Progress").GetProperty("Total").GetInt64());
        } while (state.GetProperty("Status").GetString() is not "Completed");
        Assert.Equal(600, state.GetProperty("Progress").GetProperty("Processed").GetInt64());
        Assert.Equal(600, state.GetProperty("Result").GetProperty("Total").GetInt64());
    }

    /// <summary>Each operation's state contains its query, so a connection soon holds as much as it can.</summary>
    [Fact]
    public async Task A_client_that_lags_with_operations_is_disconnected()
    {
        const int Operations = 700;
        string db = await server.CreateDatabaseAsync();
        using var socket = await ConnectAsync(db);
        await AskAsync(socket, """{"CommandId":1,"Command":"watch-operations","Param":null}""");
        string query = $$"""{"Query":"from Nothing where a = '{{new string('x', 50_000)}}'"}""";
        for (int started = 0; started < Operations; )
        {
            // Four run at once; a further one is refused and tried again.
            var answer = await server.SendAsync("DELETE", db + "/queries", query);
            started += answer.Status == 200 ? 1 : 0;
        }

        var reported = new HashSet<long>();
        while (await ReceiveAsync(socket) is { Length: > 0 } message)
        {
            var value = JsonDocument.Parse(message).RootElement[0].GetProperty("Value");
            reported.Add(value.GetProperty("OperationId").GetInt64());
        }

        Assert.Equal(WebSocketCloseStatus.InternalServerError, socket.CloseStatus);
        Assert.Contains("Changes were lost", socket.CloseStatusDescription, StringComparison.Ordinal);
        Assert.InRange(reported.Count, 1, Operations - 1);
    }

    [Fact]
    public void The_result_of_a_removed_operation_is_refused_instead_of_sent_incomplete()
    {
        var memory = new MemoryBudget(64L << 20).AddShare("details", limitBytes: 1 << 20);
        var operation = new SetOperation(database: 1, 7, "from Users", memory);
        Assert.True(operation.TryAddDetail("users/1", "A:1", "Deleted"));
        operation.Complete();
        operation.Dispose();
        using var json = new Utf8JsonWriter(new MemoryStream());
        json.WriteStartObject();
        var refused = Assert.Throws<RefusedException>(() => OperationRoutes.WriteState(json, operation));
        Assert.Contains("Operation 7 ended", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Ending_an_operation_that_has_ended_and_is_forgotten_does_nothing()
    {
        var memory = new MemoryBudget(64L << 20).AddShare("details", limitBytes: 1 << 20);
        var operation = new SetOperation(database: 1, 7, "from Users", memory);
        operation.Complete();
        operation.Dispose();
        operation.Kill();
        Assert.Equal(OperationStage.Completed, operation.Stage);
    }

    [Fact]
    public async Task Operations_of_another_database_are_not_reported()
    {
        string db = await server.CreateDatabaseAsync();
        string other = await server.CreateDatabaseAsync();
        long id = (await server.SendAsync("GET", other + "/operations/next-operation-id"))
            .Json.GetProperty("Id")
            .GetInt64();
        using var socket = await ConnectAsync(db);
        await AskAsync(socket, $$"""{"CommandId":1,"Command":"watch-operation","Param":"{{id}}"}""");
        await AskAsync(socket, """{"CommandId":2,"Command":"watch-operations","Param":null}""");
        Assert.Equal(201, (await server.SendAsync("POST", $"{other}/bulk_insert?id={id}", "[]")).Status);
        long own = (await server.SendAsync("GET", db + "/operations/next-operation-id"))
            .Json.GetProperty("Id")
            .GetInt64();
        Assert.Equal(201, (await server.SendAsync("POST", $"{db}/bulk_insert?id={own}", "[]")).Status);
        Assert.Equal(
            own,
            JsonDocument
                .Parse(await ReceiveAsync(socket))
                .RootElement[0]
                .GetProperty("Value")
                .GetProperty("OperationId")
                .GetInt64()
        );
    }

    [Theory]
    [InlineData("""{"CommandId":7,"Command":"watch-everything"}""", "watch-everything")]
    [InlineData("""{"CommandId":7,"Command":"watch-doc"}""", "Param")]
    [InlineData("""{"CommandId":7,"Command":"watch-docs","Filter":"x"}""", "Filter")]
    [InlineData("""{"CommandId":7,"Command":"watch-docs","Param":{} }""", "Param")]
    [InlineData("""{"CommandId":""", "JSON")]
    [InlineData("[]", "object")]
    public async Task Wrong_commands_get_an_error_and_the_connection_stays(string command, string named)
    {
        string db = await server.CreateDatabaseAsync();
        using var socket = await ConnectAsync(db);
        var answer = JsonDocument.Parse(await AskAsync(socket, command)).RootElement;
        Assert.Equal("Error", answer.GetProperty("Type").GetString());
        bool hasId = command.Contains('7');
        Assert.Equal(hasId ? 7 : 0, answer.GetProperty("CommandId").GetInt64());
        Assert.Contains(named, answer.GetProperty("Exception").GetString(), StringComparison.Ordinal);
        Assert.Contains(
            "Confirm",
            await AskAsync(socket, """{"CommandId":8,"Command":"watch-docs","Param":null}"""),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_command_with_the_longest_names_is_confirmed_though_all_of_it_is_escaped()
    {
        using var socket = await ConnectAsync(await server.CreateDatabaseAsync());
        string name = string.Concat(Enumerable.Repeat("\\u0061", 512));
        Assert.Equal(
            """{"CommandId":3,"Type":"Confirm"}""",
            await AskAsync(
                socket,
                $$"""{"CommandId":3,"Command":"watch-document-counter","Params":["{{name}}","{{name}}"]}"""
            )
        );
    }

    [Theory]
    [InlineData(16 << 10)]
    [InlineData(100_000)]
    public async Task A_command_that_is_too_long_gets_an_error_and_the_connection_stays(int length)
    {
        using var socket = await ConnectAsync(await server.CreateDatabaseAsync());
        string command = $$"""{"CommandId":7,"Command":"watch-doc","Param":"{{new string('x', length)}}"}""";
        var answer = JsonDocument.Parse(await AskAsync(socket, command)).RootElement;
        Assert.Equal("Error", answer.GetProperty("Type").GetString());
        Assert.Contains("longer than 16 KiB", answer.GetProperty("Exception").GetString(), StringComparison.Ordinal);
        Assert.Equal(
            """{"CommandId":8,"Type":"Confirm"}""",
            await AskAsync(socket, """{"CommandId":8,"Command":"watch-docs","Param":null}""")
        );
    }

    [Fact]
    public async Task A_stop_of_the_node_is_told_with_1001()
    {
        var stopping = new RunningServer();
        await stopping.InitializeAsync();
        using var socket = new ClientWebSocket();
        await socket.ConnectAsync(
            new UriBuilder(stopping.Address)
            {
                Scheme = "ws",
                Path = await stopping.CreateDatabaseAsync() + "/changes",
            }.Uri,
            CancellationToken.None
        );
        await AskAsync(socket, """{"CommandId":1,"Command":"watch-docs","Param":null}""");
        var stopped = stopping.StopAsync();
        Assert.Equal("", await ReceiveAsync(socket));
        Assert.Equal(WebSocketCloseStatus.EndpointUnavailable, socket.CloseStatus);
        await socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, CancellationToken.None);
        await stopped;
        await stopping.DisposeAsync();
        Assert.True(stopping.Log.Lines.IsEmpty, string.Join('\n', stopping.Log.Lines));
    }

    [Fact]
    public async Task The_connection_ends_with_its_database()
    {
        string db = await server.CreateDatabaseAsync();
        using var socket = await ConnectAsync(db);
        await AskAsync(socket, """{"CommandId":1,"Command":"watch-docs","Param":null}""");
        await server.SendAsync(
            "DELETE",
            "/admin/databases",
            $$"""{"DatabaseNames":["{{db["/databases/".Length..]}}"]}"""
        );
        var last = await socket.ReceiveAsync(new byte[1024], CancellationToken.None);
        Assert.Equal(
            (WebSocketMessageType.Close, WebSocketCloseStatus.InternalServerError),
            (last.MessageType, socket.CloseStatus)
        );
    }

    [Fact]
    public async Task A_client_that_missed_index_batches_is_disconnected()
    {
        string db = await server.CreateDatabaseAsync();
        Assert.True(server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        var hub = new ChangeHub<IndexBatch>();
        using var batches = hub.Subscribe();
        // One batch more than the connection can hold.
        for (int batch = 0; batch <= ChangeSubscription<IndexBatch>.Capacity; batch++)
        {
            hub.Publish(new IndexBatch(database.Number, "ByName", batch));
        }

        using var socket = new ListeningSocket();
        using var connection = new ChangesConnection(
            socket,
            database,
            new OperationRegistry(TimeProvider.System, server.Context.QueryMemory),
            batches,
            new FeedAccess(server.Context, new DefaultHttpContext()),
            TimeProvider.System
        );
        await connection.RunAsync(CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(60));
        Assert.Equal(WebSocketCloseStatus.InternalServerError, socket.CloseStatus);
    }

    [Fact]
    public async Task Listeners_are_limited_by_memory()
    {
        string db = await server.CreateDatabaseAsync();
        var sockets = new List<ClientWebSocket>();
        try
        {
            for (int listener = 0; listener < MaxListeners; listener++)
            {
                sockets.Add(await ConnectAsync(db));
            }

            var refused = await Assert.ThrowsAsync<WebSocketException>(() => ConnectAsync(db));
            Assert.Contains("429", refused.Message, StringComparison.Ordinal);
        }
        finally
        {
            sockets.ForEach(static socket => socket.Abort());
            sockets.ForEach(static socket => socket.Dispose());
        }
    }

    [Fact]
    public async Task A_plain_HTTP_request_is_refused_with_a_hint_to_WebSocket() =>
        (await server.SendAsync("GET", await server.CreateDatabaseAsync() + "/changes")).IsRefusal(400, "WebSocket");

    private static string EncodePut(int number) => $$"""{"Id":"items/{{number}}","Type":"PUT","Document":{} }""";

    // Sends a command and returns the next message.
    private static async Task<string> AskAsync(ClientWebSocket socket, string command)
    {
        await socket.SendAsync(
            Encoding.UTF8.GetBytes(command),
            WebSocketMessageType.Text,
            endOfMessage: true,
            CancellationToken.None
        );
        return await ReceiveAsync(socket);
    }

    // Returns the next message; an empty one when the server closes the connection.
    private static async Task<string> ReceiveAsync(ClientWebSocket socket)
    {
        // Ends a test that would otherwise hang; a passing test never waits for it.
        using var deadline = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        byte[] buffer = new byte[64 << 10];
        int length = 0;
        ValueWebSocketReceiveResult received;
        do
        {
            received = await socket.ReceiveAsync(buffer.AsMemory(length), deadline.Token);
            length += received.Count;
        } while (!received.EndOfMessage);
        return Encoding.UTF8.GetString(buffer, 0, length);
    }

    private async Task<ClientWebSocket> ConnectAsync(string db)
    {
        var socket = new ClientWebSocket();
        await socket.ConnectAsync(
            new UriBuilder(server.Address) { Scheme = "ws", Path = db + "/changes" }.Uri,
            CancellationToken.None
        );
        return socket;
    }

    /// <summary>A client that sends nothing but a close frame.</summary>
    private sealed class ListeningSocket : WebSocket
    {
        private readonly TaskCompletionSource<WebSocketReceiveResult> _closeFrame = new();
        private WebSocketCloseStatus? _closed;

        public override WebSocketCloseStatus? CloseStatus => _closed;

        public override string? CloseStatusDescription => null;

        public override WebSocketState State => WebSocketState.Open;

        public override string? SubProtocol => null;

        public override void Abort() { }

        public override Task CloseAsync(
            WebSocketCloseStatus closeStatus,
            string? statusDescription,
            CancellationToken cancellationToken
        ) => CloseOutputAsync(closeStatus, statusDescription, cancellationToken);

        public override Task CloseOutputAsync(
            WebSocketCloseStatus closeStatus,
            string? statusDescription,
            CancellationToken cancellationToken
        )
        {
            _closed = closeStatus;
            _closeFrame.SetResult(new WebSocketReceiveResult(0, WebSocketMessageType.Close, endOfMessage: true));
            return Task.CompletedTask;
        }

        public override Task<WebSocketReceiveResult> ReceiveAsync(
            ArraySegment<byte> buffer,
            CancellationToken cancellationToken
        ) => _closeFrame.Task;

        public override Task SendAsync(
            ArraySegment<byte> buffer,
            WebSocketMessageType messageType,
            bool endOfMessage,
            CancellationToken cancellationToken
        ) => Task.CompletedTask;

        public override void Dispose() { }
    }
}
