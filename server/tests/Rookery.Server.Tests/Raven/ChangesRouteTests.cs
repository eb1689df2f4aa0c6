using System.Net.WebSockets;
using System.Text;
using System.Text.Json;

namespace Rookery.Server.Tests.Raven;

/// <summary>changes, the WebSocket.</summary>
public sealed class ChangesRouteTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task Commands_are_confirmed_and_changes_told_in_order()
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
    public async Task Operations_are_told_as_they_go_on_and_end()
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
    public async Task Changes_by_query_are_told_as_they_go_on_and_end()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "POST",
            db + "/bulk_docs",
            $$"""{"Commands":[{{string.Join(',', Enumerable.Range(0, 600).Select(static i => $$"""{"Id":"items/{{i}}","Type":"PUT","Document":{} }"""))}}]}"""
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

    [Fact]
    public async Task Operations_of_another_database_are_not_told()
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
    [InlineData("""{"CommandId":""", "JSON")]
    [InlineData("[]", "object")]
    public async Task Wrong_commands_get_an_error_and_the_connection_stays(string command, string named)
    {
        string db = await server.CreateDatabaseAsync();
        using var socket = await ConnectAsync(db);
        var answer = JsonDocument.Parse(await AskAsync(socket, command)).RootElement;
        Assert.Equal("Error", answer.GetProperty("Type").GetString());
        Assert.Contains(named, answer.GetProperty("Exception").GetString(), StringComparison.Ordinal);
        Assert.Contains(
            "Confirm",
            await AskAsync(socket, """{"CommandId":8,"Command":"watch-docs","Param":null}"""),
            StringComparison.Ordinal
        );
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
    public async Task Plain_HTTP_is_told_that_this_is_a_WebSocket() =>
        (await server.SendAsync("GET", await server.CreateDatabaseAsync() + "/changes")).IsRefusal(400, "WebSocket");

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

    private static async Task<string> ReceiveAsync(ClientWebSocket socket)
    {
        // a missing message fails, it does not hang
        using var deadline = new CancellationTokenSource(TimeSpan.FromSeconds(30));
        byte[] buffer = new byte[64 << 10];
        var received = await socket.ReceiveAsync(buffer, deadline.Token);
        return Encoding.UTF8.GetString(buffer, 0, received.Count);
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
}
