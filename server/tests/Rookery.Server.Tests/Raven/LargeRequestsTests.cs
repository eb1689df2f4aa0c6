using System.IO.Pipelines;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Queries;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The memory for large requests and answers, and slow clients that keep it from others.</summary>
public sealed class LargeRequestsTests : IAsyncLifetime
{
    // Longest wait for what must happen, by the real clock.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(2);

    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private readonly string _largeDocument = $$"""{"t":"{{new string('x', 6 << 20)}}"}""";

    // The room of large requests is a quarter of the memory: 32 MiB.
    public LargeRequestsTests() => _server = new RunningServer { Time = _time, Memory = new MemoryBudget(128 << 20) };

    private long HeldBytes => _server.Memory.Shares.Single(share => share.Name is "large requests").UsedBytes;

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_client_that_is_silent_inside_a_large_body_loses_its_reserved_memory()
    {
        string db = await _server.CreateDatabaseAsync();
        using var client = await OpenSilentInBodyAsync(db, length: 8 << 20);
        await HoldUntilTheDeadlineAsync();
        Assert.StartsWith("HTTP/1.1 408", await client.AnswerAsync(), StringComparison.Ordinal);
        await ExpectAllRoomIsFreeAsync(db);
    }

    [Theory]
    [InlineData("bulk_insert", "[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{\"t\":\"", "500")]
    [InlineData("import", "{\"t\":\"", "400")]
    public async Task A_client_that_is_silent_inside_a_large_document_of_a_stream_loses_its_reserved_memory(
        string route,
        string firstBytes,
        string status
    )
    {
        string db = await _server.CreateDatabaseAsync();
        using var client = await SlowClient.OpenAsync(_server, $"POST {db}/{route}", "Transfer-Encoding: chunked");
        await client.SendChunkAsync(firstBytes + new string('x', 2 << 20));
        await HoldUntilTheDeadlineAsync();
        string answer = await client.AnswerAsync();
        Assert.StartsWith($"HTTP/1.1 {status}", answer, StringComparison.Ordinal);
        Assert.Contains("came too slowly", answer, StringComparison.Ordinal);
        await ExpectAllRoomIsFreeAsync(db);
    }

    /// <summary>
    /// Formerly, eight half-sent documents in bulk inserts blocked the large requests of all other clients for ten
    /// minutes.
    /// </summary>
    [Theory]
    [InlineData("bulk_insert", "[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{\"t\":\"")]
    [InlineData("import", "{\"t\":\"")]
    public async Task A_client_that_is_silent_inside_a_large_document_loses_its_reserved_memory_to_waiting_requests(
        string route,
        string firstBytes
    )
    {
        string db = await _server.CreateDatabaseAsync();
        using var client = await SlowClient.OpenAsync(_server, $"POST {db}/{route}", "Transfer-Encoding: chunked");
        await client.SendChunkAsync(firstBytes + new string('x', 2 << 20));
        await AwaitAsync(() => HeldBytes > 32 << 20);

        var answer = client.AnswerAsync();
        var waited = TimeSpan.Zero;
        int status;
        do
        {
            var waiting = _server.SendAsync("PUT", db + "/docs?id=b", _largeDocument);
            await AwaitAsync(() =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(100));
                waited += TimeSpan.FromMilliseconds(100);
                return waiting.IsCompleted;
            });

            status = (await waiting).Status;
        } while (status == 429 && waited < LargeRequests.Deadline / 2);
        Assert.Equal(201, status);
        Assert.Contains("came too slowly", await answer, StringComparison.Ordinal);
    }

    /// <summary>Formerly, each held the room on the disk that its attachment had announced, up to 64 MiB.</summary>
    [Fact]
    public async Task A_bulk_insert_whose_attachment_arrives_byte_by_byte_is_ended()
    {
        string db = await _server.CreateDatabaseAsync();
        using var client = await SlowClient.OpenAsync(_server, $"POST {db}/bulk_insert", "Transfer-Encoding: chunked");
        const string Attachment = """{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":67108864}""";
        await client.SendChunkAsync($$"""[{"Id":"a","Type":"PUT","Document":{} },{{Attachment}}xx""");
        await AwaitAsync(async () => await _server.CountAsync(db) == 1);
        var answer = client.AnswerAsync();
        for (int second = 0; second < 120 && !answer.IsCompleted; second++)
        {
            await client.SendChunkAsync("x");
            await Task.WhenAny(answer, Task.Delay(20));
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        string text = await answer;
        Assert.StartsWith("HTTP/1.1 500", text, StringComparison.Ordinal);
        Assert.Contains("stopped after 1 documents", text, StringComparison.Ordinal);
        Assert.Contains("content of an attachment came too slowly", text, StringComparison.Ordinal);
        Assert.True(_server.Log.Lines.IsEmpty, string.Join("\n", _server.Log.Lines));
    }

    [Fact]
    public async Task A_body_loses_its_reserved_memory_only_if_it_is_late_while_others_wait()
    {
        var requests = new LargeRequests(new MemoryBudget(128 << 20), _time);
        var http = new DefaultHttpContext();
        var body = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        using var room = requests.Begin(http);
        room.Reading = body.Reader;
        await room.GrowAsync(32 << 20);
        for (int second = 0; second < 60; second++)
        {
            Assert.False((await ReadAsync(1, SlowBodies.BytesPerSecond, othersWait: true)).IsCanceled);
        }

        Assert.False((await ReadAsync(100, 110 * SlowBodies.BytesPerSecond, othersWait: false)).IsCanceled);
        int slowSeconds = 1;
        while (!(await ReadAsync(1, 1000, othersWait: true)).IsCanceled)
        {
            Assert.InRange(slowSeconds++, 1, 20);
        }

        Assert.InRange(slowSeconds, 10, 12);

        // Reads bytes of the body that arrive after some seconds.
        async Task<ReadResult> ReadAsync(int seconds, int bytes, bool othersWait)
        {
            var reading = room.ReadAsync(body.Reader);
            using var clientLeft = new CancellationTokenSource();
            var other = othersWait
                ? requests
                    .Begin(new DefaultHttpContext())
                    .GrowAsync(bytes: 1 << 20, waitsLong: true, clientLeft.Token)
                    .AsTask()
                : Task.FromCanceled(new CancellationToken(canceled: true));
            for (int second = 0; second < seconds; second++)
            {
                _time.Advance(TimeSpan.FromSeconds(1));
            }

            await body.Writer.WriteAsync(new byte[bytes]);
            var read = await reading.AsTask().WaitAsync(Guard);
            await clientLeft.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => other);
            body.Reader.AdvanceTo(read.Buffer.End);
            return read;
        }
    }

    /// <summary>The body is complete, but its read is still among those that wait, as on another thread.</summary>
    [Fact]
    public async Task A_slow_body_that_is_complete_meanwhile_keeps_its_connection()
    {
        var requests = new LargeRequests(new MemoryBudget(128 << 20), _time);
        var connection = new AbortedConnection();
        var http = new DefaultHttpContext();
        http.Features.Set<IHttpRequestLifetimeFeature>(connection);
        var body = new Pipe();
        using var room = requests.Begin(http);
        await room.GrowAsync(32 << 20);
        var reading = room.ReadAsync(body.Reader);
        using var clientLeft = new CancellationTokenSource();
        var other = requests
            .Begin(new DefaultHttpContext())
            .GrowAsync(bytes: 1 << 20, waitsLong: true, clientLeft.Token)
            .AsTask();
        room.Reading = null;
        _time.Advance(2 * SlowBodies.MaxDelay);
        Assert.False(connection.IsAborted);
        await body.Writer.CompleteAsync();
        Assert.False((await reading.AsTask().WaitAsync(Guard)).IsCanceled);
        await clientLeft.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => other);
    }

    /// <summary>Formerly, each request that waited had two timers.</summary>
    [Fact]
    public async Task Requests_that_wait_for_room_share_the_timer_that_ends_slow_bodies()
    {
        const int requestCount = 20;
        var requests = new LargeRequests(new MemoryBudget(128 << 20), _time);
        using var room = requests.Begin(new DefaultHttpContext());
        await room.GrowAsync(32 << 20);
        int before = _time.ActiveTimers;
        using var clientLeft = new CancellationTokenSource();
        var waiting = Enumerable
            .Range(0, requestCount)
            .Select(_ =>
                requests
                    .Begin(new DefaultHttpContext())
                    .GrowAsync(bytes: 1 << 20, waitsLong: true, clientLeft.Token)
                    .AsTask()
            )
            .ToArray();

        // One timeout each, the timer that tries again, and the one that ends slow bodies.
        Assert.Equal(before + requestCount + 2, _time.ActiveTimers);
        await clientLeft.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Task.WhenAll(waiting));
        Assert.Equal(before, _time.ActiveTimers);
    }

    [Fact]
    public async Task A_client_that_does_not_read_a_large_answer_loses_its_reserved_memory()
    {
        string db = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", db + "/docs?id=a", _largeDocument);
        using var client = await SlowClient.OpenAsync(_server, $"GET {db}/docs?id=a", "");
        await HoldUntilTheDeadlineAsync();
        Assert.InRange(await client.CountAsync(), 0, _largeDocument.Length - 1);
        await ExpectAllRoomIsFreeAsync(db);
    }

    [Theory]
    [InlineData("bulk_insert", """,{"Id":"users/","Type":"PUT","Document":{"n":0} }""", "[", false)]
    [InlineData("bulk_insert", """,{"Id":"users/","Type":"PUT","Document":{"n":0} }""", "[", true)]
    [InlineData("import", """{"n":0,"@metadata":{"@id":"users/"} }""" + "\n", "", false)]
    [InlineData("import", """{"n":0,"@metadata":{"@id":"users/"} }""" + "\n", "", true)]
    public async Task A_stream_that_pauses_between_documents_holds_no_room(
        string route,
        string document,
        string firstBytes,
        bool isLastLarge
    )
    {
        string db = await _server.CreateDatabaseAsync();
        using var client = await SlowClient.OpenAsync(_server, $"POST {db}/{route}", "Transfer-Encoding: chunked");
        string last = !isLastLarge
            ? document
            : document.Replace("0", $"\"{new string('x', 200_000)}\"", StringComparison.Ordinal);
        string documents = string.Concat(Enumerable.Repeat(document, 8000)) + last;
        await client.SendChunkAsync(firstBytes + (firstBytes.Length == 0 ? documents : documents[1..]));
        await AwaitAsync(async () => await _server.CountAsync(db) == 8001 && HeldBytes == 0);
    }

    /// <summary>
    /// Formerly, it was answered that nothing was done, or, once the answer had begun, with a closed connection.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_import_that_gets_no_room_for_a_large_line_names_the_line_to_continue_after(bool hasAnswerBegun)
    {
        const int Lines = 8000;
        string db = await _server.CreateDatabaseAsync();
        string lines = string.Concat(Enumerable.Repeat("""{"n":0,"@metadata":{"@id":"users/"} }""" + "\n", Lines));
        using var client = await SlowClient.OpenAsync(_server, $"POST {db}/import", "Transfer-Encoding: chunked");
        if (hasAnswerBegun)
        {
            await client.SendChunkAsync(lines);
            await AwaitAsync(async () => await _server.CountAsync(db) == Lines && HeldBytes == 0);
            _time.Advance(TimeSpan.FromSeconds(2)); // the next command reports the progress
        }

        using var others = _server.Context.LargeRequests.Begin(new DefaultHttpContext());
        Assert.True(others.TryGrow(32 << 20));
        await client.SendChunkAsync($$"""{{lines}}{"t":"{{new string('x', 200_000)}}""");
        await AwaitAsync(() => _server.Context.LargeRequests.Waiting > 0);
        _time.Advance(LargeRequests.Deadline + Admission.WaitTimeout);
        string answer = "";
        await AwaitAsync(async () =>
        {
            answer += await client.AnswerAsync();
            return answer.Contains(" lines through ", StringComparison.Ordinal);
        });

        Assert.StartsWith(hasAnswerBegun ? "HTTP/1.1 200" : "HTTP/1.1 429", answer, StringComparison.Ordinal);
        Assert.DoesNotContain("Nothing of it was done", answer, StringComparison.Ordinal);
        int stored = hasAnswerBegun ? 2 * Lines : Lines;
        Assert.Contains(
            $"All lines through {stored} are stored: send the lines after it again.",
            answer,
            StringComparison.Ordinal
        );
        Assert.Equal(stored, await _server.CountAsync(db));
        Assert.True(_server.Log.Lines.IsEmpty, string.Join("\n", _server.Log.Lines));
    }

    [Fact]
    public async Task Consecutive_large_documents_take_room_one_by_one()
    {
        var budget = new MemoryBudget(256 << 20);
        var http = new DefaultHttpContext();
        using var room = new StreamedRoom(http, http.Request.BodyReader, new LargeRequests(budget, _time));
        int stored = 0;
        for (int i = 1; i <= 3; i++)
        {
            await room.FitDocumentAsync(collectedBytes: 100_000, Store, CancellationToken.None);
            Assert.NotEqual(0, budget.UsedBytes);
            _time.Advance(LargeRequests.Deadline / 2);
            await room.FitDocumentAsync(collectedBytes: 4000, Store, CancellationToken.None);
            Assert.Equal(0, budget.UsedBytes);
            Assert.Equal(2 * i, stored);
        }

        ValueTask Store()
        {
            stored++;
            return ValueTask.CompletedTask;
        }
    }

    [Fact]
    public async Task A_batch_waiting_for_room_for_its_patches_keeps_its_commands_room()
    {
        string db = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", db + "/docs?id=a", _largeDocument);
        using var client = await OpenSilentInBodyAsync(db, length: 6 << 20);
        long others = HeldBytes;
        string put = $$"""{"Id":"b","Type":"PUT","Document":{"t":"{{new string('x', 1 << 20)}}"} }""";
        var waiting = _server.SendAsync(
            "POST",
            db + "/bulk_docs",
            $$"""{"Commands":[{{put}},{"Id":"a","Type":"PATCH","Patch":{"Script":"this.n = args.n;","Values":{"n":1} } }]}"""
        );
        await AwaitAsync(async () =>
        {
            Assert.False(waiting.IsCompleted, waiting.IsCompleted ? (await waiting).Body : "");
            return HeldBytes - others is >= 1 << 20 and <= 2 << 20;
        });

        await AwaitRefusalAsync(waiting);
        (await waiting).IsRefusal(429, "MiB of memory");

        // The room is released after the answer.
        await AwaitAsync(() => HeldBytes == others);
    }

    [Fact]
    public async Task A_document_refused_for_lack_of_room_has_no_ETag()
    {
        string db = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", db + "/docs?id=a", _largeDocument);
        using var client = await OpenSilentInBodyAsync(db, length: 10 << 20);
        var waiting = _server.SendAsync("GET", db + "/docs?id=a");
        await AwaitRefusalAsync(waiting);
        var refused = await waiting;
        refused.IsRefusal(429, "MiB of memory");
        Assert.Null(refused.Tag);
    }

    [Fact]
    public async Task A_lazy_read_whose_answer_has_begun_waits_longer()
    {
        string db = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", db + "/docs?id=a", _largeDocument);
        await _server.SendAsync("PUT", db + "/docs?id=b", $$"""{"t":"{{new string('x', 100_000)}}"}""");
        using var client = await OpenSilentInBodyAsync(db, length: 10 << 20);
        using var body = new StringContent(
            $$"""{"Requests":[{"Url":"{{db}}/docs","Query":"?id=b"},{"Url":"{{db}}/docs","Query":"?id=b"},{"Url":"{{db}}/docs","Query":"?id=a"}]}"""
        );
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_server.Address, db + "/multi_get"))
        {
            Content = body,
        };
        using var answer = await _server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        for (int i = 0; i < 20; i++)
        {
            _time.Advance(Admission.WaitTimeout);
            await _server.SendAsync("GET", "/livez");
        }

        client.Dispose();
        var results = JsonDocument.Parse(await answer.Content.ReadAsStringAsync()).RootElement.GetProperty("Results");
        Assert.Equal(
            [200, 200, 200],
            results.EnumerateArray().Select(result => result.GetProperty("StatusCode").GetInt32())
        );
        Assert.True(_server.Log.Lines.IsEmpty, string.Join("\n", _server.Log.Lines));
    }

    /// <summary>
    /// Formerly, the memory of the body kept a lone request from getting more for its answer: it waited, and was
    /// refused each time.
    /// </summary>
    [Theory]
    [InlineData("docs")]
    [InlineData("multi_get of one id")]
    [InlineData("multi_get of ids")]
    [InlineData("multi_get of a query")]
    public async Task A_lone_request_with_a_large_body_gets_the_memory_for_its_answer(string request)
    {
        string db = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", db + "/docs?id=a", _largeDocument);
        string missing = string.Join(',', Enumerable.Range(0, 3000).Select(static i => $"\"none/{i}\""));
        string read = request switch
        {
            "multi_get of one id" => $$"""{"Url":"{{db}}/docs","Query":"?id=a"}""",
            "multi_get of ids" => $$"""{"Url":"{{db}}/docs","Query":"?id=a&id=b"}""",
            _ => $$"""{"Url":"{{db}}/queries","Method":"POST","Content":{"Query":"from @all_docs"} }""",
        };
        string filler = $$"""{"Url":"{{db}}/docs","Method":"POST","Content":{"Ids":[{{missing}}]} }""";
        var (url, body) = request is "docs"
            ? ("/docs", $$"""{"Ids":["a",{{missing}}]}""")
            : ("/multi_get", $$"""{"Requests":[{{read}},{{filler}},{{read}}]}""");

        // The budget is full, as by the heap of the process. A request that is alone gets memory all the same.
        var others = _server.Memory.AddShare("other work", _server.Memory.TotalBytes);
        others.Reserve(_server.Memory.TotalBytes);
        var answering = _server.SendAsync("POST", db + url, body);
        await AwaitAsync(() =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            return answering.IsCompleted;
        });
        var answer = await answering;
        Assert.True(answer.Status == 200, answer.Body[..Math.Min(answer.Body.Length, 500)]);
        int documents = answer.Body.Split(new string('x', 6 << 20)).Length - 1;
        Assert.Equal(request is "docs" ? 1 : 2, documents);
        Assert.DoesNotContain("\"StatusCode\":429", answer.Body, StringComparison.Ordinal);
        await AwaitAsync(() => HeldBytes == 0);
    }

    /// <summary>The body is small, but the documents read for it are large.</summary>
    [Fact]
    public async Task A_query_whose_database_is_deleted_during_planning_holds_no_room()
    {
        string db = await _server.CreateDatabaseAsync();
        string name = db.Split('/')[^1];
        Assert.True(_server.Node.Databases.TryGet(name, out var database));
        await _server.SendAsync("DELETE", "/admin/databases", $$"""{"DatabaseNames":["{{name}}"],"HardDelete":true}""");
        string query = $"from Users where name = '{new string('x', 2000)}' select facet(id('facets/a'))";
        using var body = new MemoryStream(JsonSerializer.SerializeToUtf8Bytes(new { Query = query }));
        var http = new DefaultHttpContext();
        (http.Request.Body, http.Request.ContentLength) = (body, body.Length);
        await Assert.ThrowsAsync<DatabaseGoneException>(async () =>
            await PlannedQuery.ReadAsync(http, database, _server.Context)
        );
        Assert.Equal(0, HeldBytes);
    }

    /// <summary>Opens a client that takes room for a body of a length, and sends only its first half MiB.</summary>
    private async Task<SlowClient> OpenSilentInBodyAsync(string db, int length)
    {
        var client = await SlowClient.OpenAsync(_server, $"POST {db}/bulk_docs", $"Content-Length: {length}");
        await client.SendAsync(new string(' ', 1 << 19));
        await AwaitAsync(() => HeldBytes >= LargeRequests.CopiesOfWrite * (long)length);

        return client;
    }

    /// <summary>Checks that the room of a request is held until its deadline, and is released then.</summary>
    private async Task HoldUntilTheDeadlineAsync()
    {
        await AwaitAsync(() => HeldBytes != 0);

        _time.Advance(LargeRequests.Deadline / 2);
        Assert.NotEqual(0, HeldBytes);
        await AwaitAsync(() =>
        {
            _time.Advance(LargeRequests.Deadline / 2);
            return HeldBytes == 0;
        });
    }

    // Time stands still until the request waits. Otherwise the silent client could count as too slow before.
    private async Task AwaitRefusalAsync(Task<Answer> waiting)
    {
        await AwaitAsync(() => _server.Context.LargeRequests.Waiting > 0);
        _time.Advance(Admission.WaitTimeout);
        await waiting.WaitAsync(Guard);
    }

    private static Task AwaitAsync(Func<bool> holds) => AwaitAsync(() => Task.FromResult(holds()));

    // A test that waits in vain fails instead of hanging.
    private static async Task AwaitAsync(Func<Task<bool>> holds)
    {
        using var guard = new CancellationTokenSource(Guard);
        while (!await holds())
        {
            Assert.False(guard.IsCancellationRequested, "the condition holds within the time of Guard");
            await Task.Delay(1);
        }
    }

    /// <summary>Checks that a request that needs all of the room gets it.</summary>
    private async Task ExpectAllRoomIsFreeAsync(string db)
    {
        string document = $$"""{"Id":"c","Type":"PUT","Document":{{_largeDocument}} }""";
        Assert.Equal(
            201,
            (
                await _server.SendAsync("POST", db + "/bulk_docs", $$"""{"Commands":[{{document}},{{document}}]}""")
            ).Status
        );
        Assert.True(_server.Log.Lines.IsEmpty, string.Join("\n", _server.Log.Lines));
    }

    private sealed class AbortedConnection : IHttpRequestLifetimeFeature
    {
        public CancellationToken RequestAborted { get; set; }

        public bool IsAborted { get; private set; }

        public void Abort() => IsAborted = true;
    }
}
