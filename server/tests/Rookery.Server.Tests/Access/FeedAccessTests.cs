using System.Net;
using System.Net.WebSockets;
using System.Text;
using Rookery.Server.Access;

namespace Rookery.Server.Tests.Access;

/// <summary>Feeds whose credential is revoked or expires.</summary>
public sealed class FeedAccessTests : IAsyncLifetime
{
    private const string DumpedDocument = """{"@metadata":{"@id":"a"}}""";

    private readonly SecureServer _server = new();

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_web_socket_is_closed_with_the_reason_when_its_token_is_revoked_or_expires(bool isRevoked)
    {
        string token = await _server.GiveTokenAsync(
            ["read"],
            expires: isRevoked ? null : _server.Time.GetUtcNow().AddHours(1)
        );
        using var http = _server.NewClient();
        using var socket = new ClientWebSocket();
        socket.Options.SetRequestHeader("Authorization", "Bearer " + token);
        await socket.ConnectAsync(
            new UriBuilder(_server.Address) { Scheme = "wss", Path = "/databases/Shop/changes" }.Uri,
            http,
            CancellationToken.None
        );
        await socket.SendAsync(
            """{"CommandId":1,"Command":"watch-docs","Param":null}"""u8.ToArray(),
            WebSocketMessageType.Text,
            endOfMessage: true,
            CancellationToken.None
        );
        byte[] buffer = new byte[4096];

        // The confirmation of the watch: the feed is open, and stays open while the token is valid.
        await socket.ReceiveAsync(buffer, CancellationToken.None);
        _server.Time.Advance(TimeSpan.FromMinutes(1));
        var closing = socket.ReceiveAsync(buffer, CancellationToken.None);
        await RevokeUnlessExpiringAsync(isRevoked, token);
        while (!closing.IsCompleted)
        {
            _server.Time.Advance(FeedAccess.Interval);
            await Task.Yield();
        }

        Assert.Equal(
            (WebSocketMessageType.Close, WebSocketCloseStatus.PolicyViolation),
            ((await closing).MessageType, socket.CloseStatus)
        );
        // One text for both reasons, because a close frame has little room.
        Assert.Contains("revoked", socket.CloseStatusDescription, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_event_stream_ends_with_the_reason_when_its_token_is_revoked_or_expires(bool isRevoked)
    {
        string token = await _server.GiveTokenAsync(
            ["read"],
            expires: isRevoked ? null : _server.Time.GetUtcNow().AddHours(1)
        );
        using var http = _server.NewClient();
        using var request = new HttpRequestMessage(
            HttpMethod.Get,
            new Uri(_server.Address, "/databases/Shop/changes/stream")
        );
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        using var response = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        using var events = new StreamReader(await response.Content.ReadAsStreamAsync(), Encoding.UTF8);
        // The first line is a comment, which says that the stream is open.
        Assert.Equal(": changes", await events.ReadLineAsync());
        _server.Time.Advance(TimeSpan.FromMinutes(1));
        await RevokeUnlessExpiringAsync(isRevoked, token);
        var ending = events.ReadToEndAsync();
        while (!ending.IsCompleted)
        {
            _server.Time.Advance(FeedAccess.Interval);
            await Task.Yield();
        }

        string end = (await ending).TrimEnd().Split("\n\n")[^1];
        Assert.StartsWith("event: end\ndata: {\"Reason\":\"The token ", end, StringComparison.Ordinal);
        Assert.Contains(isRevoked ? "was revoked" : "expired at", end, StringComparison.Ordinal);
    }

    /// <summary>
    /// Formerly, an open bulk insert or import could write for ever with a credential that had ended.
    /// </summary>
    [Theory]
    [InlineData(
        true,
        "bulk_insert",
        """[{"Id":"a","Type":"PUT","Document":{} }""",
        """,{"Id":"b","Type":"PUT","Document":{} }]"""
    )]
    [InlineData(
        false,
        "bulk_insert",
        """[{"Id":"a","Type":"PUT","Document":{} }""",
        """,{"Id":"b","Type":"PUT","Document":{} }]"""
    )]
    [InlineData(true, "import", "{\"@metadata\":{\"@id\":\"a\"}}\n", "{\"@metadata\":{\"@id\":\"b\"}}\n", 20_000)]
    [InlineData(false, "import", "{\"@metadata\":{\"@id\":\"a\"}}\n", "{\"@metadata\":{\"@id\":\"b\"}}\n", 20_000)]
    [InlineData(true, "smuggler/import", DumpedDocument + ",", """{"@metadata":{"@id":"b"}}]}""", 20_000)]
    [InlineData(false, "smuggler/import", DumpedDocument + ",", """{"@metadata":{"@id":"b"}}]}""", 20_000)]
    public async Task A_long_body_is_refused_from_where_its_token_was_revoked_or_expired(
        bool isRevoked,
        string route,
        string before,
        string after,
        int repetitions = 1
    )
    {
        // An import stores a document when a command is full.
        before =
            (route is "smuggler/import" ? """{"Docs":[""" : "") + string.Concat(Enumerable.Repeat(before, repetitions));
        string token = await _server.GiveTokenAsync(
            ["read", "write"],
            expires: isRevoked ? null : _server.Time.GetUtcNow().AddHours(1)
        );
        using var http = _server.NewClient();
        using var body = new PausedBody(before, after);
        using var request = new HttpRequestMessage(
            HttpMethod.Post,
            new Uri(_server.Address, $"/databases/Shop/{route}")
        );
        request.Content = body;
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        var answering = http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        while (await StatusOfAsync("a") != 200)
        {
            Assert.False(answering.IsCompleted);
            await Task.Delay(5);
        }

        await RevokeUnlessExpiringAsync(isRevoked, token);
        _server.Time.Advance(TimeSpan.FromHours(2));
        body.Continue();
        using var answer = await answering;
        string text = await answer.Content.ReadAsStringAsync();
        if (answer.StatusCode != HttpStatusCode.Forbidden)
        {
            Assert.Equal("import", route); // the report of its progress had begun
        }

        Assert.Contains(isRevoked ? "was revoked" : "expired at", text, StringComparison.Ordinal);
        Assert.Equal(404, await StatusOfAsync("b"));

        async Task<int> StatusOfAsync(string id) =>
            (await _server.SendAsync("GET", $"/databases/Shop/docs?id={id}", SecureServer.LocalKey)).Status;
    }

    [Fact]
    public async Task An_attachment_is_not_stored_if_its_token_was_revoked_while_it_arrived()
    {
        string token = await _server.GiveTokenAsync(["read", "write"], expires: null);
        await _server.SendAsync("PUT", "/databases/Shop/docs?id=a", SecureServer.LocalKey, "{}");
        using var http = _server.NewClient();
        using var body = new PausedBody("first", "last");
        using var request = new HttpRequestMessage(
            HttpMethod.Put,
            new Uri(_server.Address, "/databases/Shop/attachments?id=a&name=n")
        );
        request.Content = body;
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        var answering = http.SendAsync(request);
        while (!_server.Disk.Files.Any(static file => file.Contains("/incoming/", StringComparison.Ordinal)))
        {
            Assert.False(answering.IsCompleted);
            await Task.Delay(5);
        }

        await RevokeUnlessExpiringAsync(isRevoked: true, token);
        _server.Time.Advance(TimeSpan.FromMinutes(1));
        body.Continue();
        using var answer = await answering;
        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
        Assert.Equal(
            404,
            (await _server.SendAsync("GET", "/databases/Shop/attachments?id=a&name=n", SecureServer.LocalKey)).Status
        );
    }

    private sealed class PausedBody(string before, string after) : HttpContent
    {
        private readonly TaskCompletionSource _mayContinue = new();

        public void Continue() => _mayContinue.SetResult();

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            await stream.WriteAsync(Encoding.UTF8.GetBytes(before));
            await stream.FlushAsync();
            await _mayContinue.Task;
            await stream.WriteAsync(Encoding.UTF8.GetBytes(after));
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }

    [Fact]
    public async Task A_dump_stores_no_configuration_after_its_token_was_revoked()
    {
        string token = await _server.GiveTokenAsync(["admin"], expires: null);
        using var http = _server.NewClient();
        using var body = new PausedBody(
            """{"DatabaseRecord":{"Expiration":{"Disabled":false}},"Docs":["""
                + string.Join(',', Enumerable.Repeat(DumpedDocument, 20_000)),
            "]}"
        );
        using var request = new HttpRequestMessage(
            HttpMethod.Post,
            new Uri(_server.Address, "/databases/Shop/smuggler/import")
        );
        request.Content = body;
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + token);
        var answering = http.SendAsync(request);
        while ((await _server.SendAsync("GET", "/databases/Shop/docs?id=a", SecureServer.LocalKey)).Status != 200)
        {
            Assert.False(answering.IsCompleted);
            await Task.Delay(5);
        }

        await _server.RevokeAsync(token);
        _server.Time.Advance(TimeSpan.FromMinutes(1));
        body.Continue();
        using var answer = await answering;
        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
        Assert.Equal(
            404,
            (await _server.SendAsync("GET", "/databases/Shop/expiration/config", SecureServer.LocalKey)).Status
        );
    }

    // A token that expires does so while the test advances the clock.
    private Task RevokeUnlessExpiringAsync(bool isRevoked, string token) =>
        isRevoked ? _server.RevokeAsync(token) : Task.CompletedTask;
}
