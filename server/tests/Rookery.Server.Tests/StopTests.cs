using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.IO.Compression;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>
/// Stops of a server. The clock moves only when a test advances it. So a request that ends while the clock stands still
/// was ended by the stop, and not by a timeout.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The node disposes the consensus that wraps its own.")]
public sealed class StopTests : IAsyncLifetime
{
    // 16 MB with documents of 4,000 bytes: more than a connection buffers of an answer that is not read.
    private const int Documents = 4000;

    // As many events of the changes feed are more than a connection buffers, although they contain only long ids.
    private const int ManyDocuments = 30_000;

    // Part of the log line about writes that had no answer when the stop timed out.
    private const string CutOff = "cut off";

    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(30);
    private static readonly string Text = new('x', 4000);

    private readonly SimulatedTimeProvider _time = new();
    private readonly WatchedTime _watched;
    private readonly RunningServer _server;
    private OneOfThree _member = null!;
    private readonly TaskCompletionSource _mayContinue = new();
    private Task _readsMayContinue = Task.CompletedTask;
    private string _db = "";

    public StopTests()
    {
        _watched = new WatchedTime(_time);
        _server = new RunningServer
        {
            Time = _watched,
            IndexTime = _time,
            WrapConsensus = alone => _member = new OneOfThree(alone, _ => _readsMayContinue),
        };
    }

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
    }

    public Task DisposeAsync()
    {
        _mayContinue.TrySetResult();
        _time.Advance(RookeryServer.StopTimeout);
        return _server.DisposeAsync();
    }

    public static TheoryData<string, string?> LongReads { get; } =
        new()
        {
            { "GET /export", null },
            { "GET /streams/docs?format=jsonl", null },
            { "GET /streams/docs?startsWith=d", null },
            { "GET /docs", null },
            { "GET /changes/stream?since=0", null },
            { "POST /queries", "from Ds" },
            { "POST /queries", "from Ds include t" },
            { "POST /queries", "from Ds where id() != 'x'" },
            { "POST /queries", "from Ds as d select { n: d.n, t: d.t }" },
            { "POST /queries", "from Ds order by n as long" },
            { "POST /streams/queries", "from Ds" },
            { "POST /streams/queries?format=jsonl", "from Ds where n < 100000 select n, t" },
        };

    [Theory]
    [MemberData(nameof(LongReads))]
    public async Task A_read_whose_client_does_not_read_is_cut_off_before_writes_time_out(string route, string? query)
    {
        await FillAsync(route.Contains("changes", StringComparison.Ordinal) ? ManyDocuments : Documents);
        using var answer = await BeginAsync(route, query);
        await AwaitFullBuffersAsync();
        var stopped = _server.StopAsync();
        _time.Advance(RookeryServer.ReadStopTimeout);
        await stopped.WaitAsync(Guard);
        Assert.DoesNotContain(_server.Log.Lines, IsCutOff);
        await AssertCutOffAsync(answer);
    }

    [Fact]
    public async Task A_multi_get_whose_client_does_not_read_is_cut_off_as_a_whole()
    {
        await FillAsync(Documents);
        string part = $$"""{"Url":"{{_db}}/docs","Query":"?startsWith=d","Method":"GET"}""";
        using var answer = await BeginAsync("POST /multi_get", body: $$"""{"Requests":[{{part}},{{part}}]}""");
        await AwaitFullBuffersAsync();
        var stopped = _server.StopAsync();
        _time.Advance(RookeryServer.ReadStopTimeout);
        await stopped.WaitAsync(Guard);
        await AssertCutOffAsync(answer);
    }

    [Fact]
    public async Task A_changes_feed_without_events_ends_at_once()
    {
        using var answer = await BeginAsync("GET /changes/stream", query: null);
        await _server.StopAsync().WaitAsync(Guard);
        await AssertCutOffAsync(answer);
    }

    [Fact]
    public async Task A_backup_whose_client_does_not_read_ends_at_once()
    {
        await FillAsync(Documents, isRandom: true);
        using var answer = await _server.Http.GetAsync("/admin/node/backup", HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)answer.StatusCode);
        await _server.StopAsync().WaitAsync(Guard);
        await AssertCutOffAsync(answer);
    }

    [Fact]
    public async Task A_query_waiting_for_its_index_is_answered_503_at_a_stop()
    {
        _server.HoldsIndexing = true;
        await FillAsync(count: 300);
        string body = """{"Query":"from Ds where n = 7","WaitForNonStaleResults":true}""";
        var query = await SendAsync("POST", "/queries", body);
        var stopped = _server.StopAsync();
        (await query.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    [Theory]
    [InlineData("GET", "/docs?id=a", null)]
    [InlineData("GET", "/export", null)]
    [InlineData("GET", "/streams/docs", null)]
    [InlineData("GET", "/changes/stream", null)]
    [InlineData("POST", "/queries", """{"Query":"from Ds"}""")]
    [InlineData("POST", "/multi_get", """{"Requests":[]}""")]
    [InlineData("DELETE", "/queries", """{"Query":"from Ds"}""")]
    [InlineData("GET", "missing/docs?id=a", null)]
    public async Task Requests_waiting_for_the_read_barrier_are_answered_503_at_a_stop(
        string method,
        string path,
        string? body
    )
    {
        _readsMayContinue = _mayContinue.Task;
        var read = await SendAsync(method, path, body);
        var stopped = _server.StopAsync();
        (await read.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    [Fact]
    public async Task A_query_whose_index_is_being_defined_is_answered_503_at_a_stop()
    {
        await FillAsync(count: 300);
        _member.WritesMayContinue = _mayContinue.Task;
        var query = await SendAsync("POST", "/queries", """{"Query":"from Ds where n = 7"}""");
        var stopped = _server.StopAsync();
        (await query.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    [Fact]
    public async Task Requests_waiting_for_indexes_are_answered_503_at_a_stop()
    {
        _server.HoldsIndexing = true;
        await DefineAsync();
        await FillAsync(count: 1);
        var progress = await SendAsync("GET", "/indexes/progress?wait=15000", body: null);
        var stopped = _server.StopAsync();
        (await progress.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    [Theory]
    [InlineData("&waitForIndexThrow=false", 201)]
    [InlineData("", 500)]
    public async Task A_batch_waiting_for_indexes_is_still_acknowledged(string parameter, int status)
    {
        _server.HoldsIndexing = true;
        await DefineAsync();
        var batch = await SendAsync(
            "POST",
            "/bulk_docs?waitForIndexesTimeout=15000&waitForSpecificIndex=ByN" + parameter,
            """{"Commands":[{"Id":"a","Type":"PUT","Document":{"@metadata":{"@collection":"Ds"}}}]}"""
        );
        await AwaitFullBuffersAsync();
        var stopped = _server.StopAsync();
        var answer = await batch.WaitAsync(Guard);
        Assert.Equal(status, answer.Status);
        Assert.Contains(
            status == 500 ? "The batch is stored." : "@change-vector",
            answer.Body,
            StringComparison.Ordinal
        );
        await stopped.WaitAsync(Guard);
    }

    [Fact]
    public async Task A_read_waiting_for_memory_is_answered_503_at_a_stop()
    {
        await PutAsync("large", $$"""{"t":"{{new string('x', 1 << 20)}}"}""");
        using var others = await TakeAllMemoryAsync();
        var read = await SendAsync("GET", "/docs?id=large", body: null);
        var stopped = _server.StopAsync();
        (await read.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    [Fact]
    public async Task A_stream_waiting_for_memory_is_cut_off()
    {
        await FillAsync(count: 100);
        await PutAsync("e", $$"""{"t":"{{new string('x', 1 << 20)}}"}""");
        using var others = await TakeAllMemoryAsync();
        using var answer = await BeginAsync("GET /streams/docs?startsWith=");
        await AwaitFullBuffersAsync();
        await _server.StopAsync().WaitAsync(Guard);
        await AssertCutOffAsync(answer);
    }

    [Fact]
    public async Task A_changes_feed_with_many_events_to_send_ends_before_all_are_sent()
    {
        await FillAsync(ManyDocuments);
        _server.BeginStop();
        using var answer = await _server.Http.GetAsync(
            _db + "/changes/stream?since=0",
            HttpCompletionOption.ResponseHeadersRead
        );
        using var lines = new StreamReader(await answer.Content.ReadAsStreamAsync());
        int puts = 0;
        await Assert.ThrowsAnyAsync<IOException>(async () =>
        {
            while (await lines.ReadLineAsync() is { } line)
            {
                puts += line.StartsWith("event: put", StringComparison.Ordinal) ? 1 : 0;
            }
        });
        Assert.InRange(puts, 0, 2000);
    }

    [Fact]
    public async Task A_read_following_many_include_paths_is_answered_503_at_a_stop()
    {
        await PutAsync("deep", ManyPaths.Document);
        var read = await SendAsync("GET", "/docs?id=deep" + ManyPaths.Includes, body: null);
        await AwaitFullBuffersAsync();
        Assert.False(read.IsCompleted);
        var stopped = _server.StopAsync();
        (await read.WaitAsync(Guard)).IsRefusal(503, "The node is stopping.");
        await stopped.WaitAsync(Guard);
    }

    /// <summary>
    /// The client does not end the import: it stops sending, or it sends some megabytes more before it reads the
    /// answer.
    /// </summary>
    [Theory]
    [InlineData(false, 0)]
    [InlineData(true, 0)]
    [InlineData(false, 56)]
    [InlineData(true, 56)]
    public async Task An_interrupted_import_reports_after_which_line_to_continue(bool isCompressed, int laterMegabytes)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(_server.Address.Host, _server.Address.Port);
        await using var connection = client.GetStream();
        string encoding = isCompressed ? "Content-Encoding: gzip\r\n" : "";
        string head = $"POST {_db}/import HTTP/1.1\r\nHost: 127.0.0.1\r\n{encoding}Content-Length: 100000000\r\n\r\n";
        await connection.WriteAsync(Encoding.ASCII.GetBytes(head));
        var lines = isCompressed ? new GZipStream(connection, CompressionLevel.Fastest) : (Stream)connection;
        for (int number = 1; number <= 10_000; number++)
        {
            string document = $$$"""{"t":"{{{Text[..200]}}}","@metadata":{"@id":"d{{{number}}}"}}""";
            await lines.WriteAsync(Encoding.UTF8.GetBytes(document + "\n"));
        }

        // This many lines are stored only when the node waits for more, so a read is pending at the stop.
        await lines.FlushAsync();
        using var timeout = new CancellationTokenSource(Guard);
        while (CountStored() < (laterMegabytes > 0 ? 9_000 : 1))
        {
            await Task.Delay(10, timeout.Token);
        }

        var stopped = _server.StopAsync();
        for (int sent = 0; sent < laterMegabytes; sent++)
        {
            await connection.WriteAsync(new byte[1 << 20], timeout.Token);
        }

        using var reader = new StreamReader(connection, leaveOpen: true);
        string text = "";
        for (char[] part = new char[4096]; !text.Contains("stored before.", StringComparison.Ordinal); )
        {
            int count = await reader.ReadAsync(part).AsTask().WaitAsync(Guard);
            Assert.NotEqual(0, count);
            text += new string(part, 0, count);
        }

        Assert.StartsWith("HTTP/1.1 503 ", text, StringComparison.Ordinal);
        long line = CountStored();
        Assert.InRange(line, 1, 10_000);
        Assert.Contains($"The import ended after line {line}:", text, StringComparison.Ordinal);
        Assert.Contains($"{line} documents of the import were stored before.", text, StringComparison.Ordinal);
        client.Close();
        await stopped.WaitAsync(Guard);
    }

    [Theory]
    [InlineData("PUT", "/docs?id=a", "{}", 201)]
    [InlineData("POST", "/bulk_docs", """{"Commands":[{"Id":"a","Type":"PUT","Document":{}}]}""", 201)]
    [InlineData("GET", "/hilo/next?tag=Users", null, 200)]
    public async Task A_write_in_flight_is_still_acknowledged(string method, string path, string? body, int status)
    {
        _member.WritesMayContinue = _mayContinue.Task;
        var write = await SendAsync(method, path, body);
        var stopped = _server.StopAsync();
        _time.Advance(RookeryServer.StopTimeout - TimeSpan.FromSeconds(1));
        Assert.False(stopped.IsCompleted);
        _mayContinue.SetResult();
        Assert.Equal(status, (await write.WaitAsync(Guard)).Status);
        await stopped.WaitAsync(Guard);
        Assert.DoesNotContain(_server.Log.Lines, IsCutOff);
    }

    [Fact]
    public async Task A_write_unanswered_for_ten_seconds_is_cut_off_and_logged()
    {
        _member.WritesMayContinue = _mayContinue.Task;
        var write = await SendAsync("PUT", "/docs?id=a", "{}");
        var stopped = _server.StopAsync();
        _time.Advance(RookeryServer.StopTimeout);
        await stopped.WaitAsync(Guard);
        await Assert.ThrowsAsync<HttpRequestException>(() => write);
        Assert.Single(_server.Log.Lines, IsCutOff);
    }

    private long CountStored()
    {
        Assert.True(_server.Node.Databases.TryGet(_db.Split('/')[^1], out var database));
        using var reader = database.OpenReader();
        return reader.ReadStatistics().Documents;
    }

    private static bool IsCutOff(string line) => line.Contains(CutOff, StringComparison.Ordinal);

    /// <summary>Sends a request, and waits until it has reached the routes.</summary>
    private async Task<Task<Answer>> SendAsync(string method, string path, string? body)
    {
        long before = _server.Context.Metrics.DocumentRequests;
        var answer = _server.SendAsync(method, (path[0] == '/' ? _db : "/databases/") + path, body);
        for (int waits = 0; _server.Context.Metrics.DocumentRequests == before; waits++)
        {
            Assert.True(waits < 6000, "the request did not reach the routes");
            await Task.Delay(10);
        }

        return answer;
    }

    /// <summary>
    /// Waits until the connection's buffers are full. The handler reads the clock for each document, so it is blocked
    /// when 200 ms pass without a read of the clock.
    /// </summary>
    private async Task AwaitFullBuffersAsync()
    {
        long before;
        do
        {
            before = _watched.Reads;
            await Task.Delay(200);
        } while (_watched.Reads != before);
    }

    /// <summary>
    /// Leases all memory for large requests. Waits for leases of earlier requests, which end after their answers are
    /// read.
    /// </summary>
    private ValueTask<LargeRequests.Lease> TakeAllMemoryAsync() =>
        _server.Context.LargeRequests.TakeAsync(new DefaultHttpContext(), _server.Memory.TotalBytes / 4);

    private async Task PutAsync(string id, string document) =>
        Assert.Equal(201, (await _server.SendAsync("PUT", $"{_db}/docs?id={id}", document)).Status);

    /// <summary>Defines the index ByN.</summary>
    private async Task DefineAsync()
    {
        string index = """{"Indexes":[{"Name":"ByN","Maps":["from d in docs.Ds select new { d.n }"]}]}""";
        Assert.Equal(201, (await _server.SendAsync("PUT", _db + "/admin/indexes", index)).Status);
    }

    /// <summary>Stores documents in batches of 1,000.</summary>
    /// <param name="count">Number of documents. If it is more than <see cref="Documents"/>, they have ids of 401
    /// characters and no text.</param>
    /// <param name="isRandom">Whether the text cannot be compressed.</param>
    private async Task FillAsync(int count, bool isRandom = false)
    {
        var random = new Random(1);
        byte[] bytes = new byte[3000];
        for (int first = 0; first < count; first += 1000)
        {
            var commands = Enumerable
                .Range(first, Math.Min(1000, count - first))
                .Select(number =>
                {
                    random.NextBytes(bytes);
                    string id = number.ToString(count > Documents ? "D400" : "D6", CultureInfo.InvariantCulture);
                    string text =
                        count > Documents ? ""
                        : isRandom ? Convert.ToBase64String(bytes)
                        : Text;
                    return string.Create(
                        CultureInfo.InvariantCulture,
                        $$$"""{"Id":"d{{{id}}}","Type":"PUT","Document":{"n":{{{number}}},"t":"{{{text}}}","@metadata":{"@collection":"Ds"} } }"""
                    );
                });
            var stored = await _server.SendAsync(
                "POST",
                _db + "/bulk_docs",
                $$"""{"Commands":[{{string.Join(',', commands)}}]}"""
            );
            Assert.Equal(201, stored.Status);
        }
    }

    /// <summary>
    /// Sends a request and reads the head of the answer. The node sends the body until the connection's buffers are
    /// full.
    /// </summary>
    private async Task<HttpResponseMessage> BeginAsync(string route, string? query = null, string? body = null)
    {
        string[] parts = route.Split(' ');
        using var request = new HttpRequestMessage(new HttpMethod(parts[0]), new Uri(_server.Address, _db + parts[1]));
        if (query is not null)
        {
            body = $$"""{"Query":{{JsonSerializer.Serialize(query)}}}""";
        }

        request.Content = body is null ? null : new StringContent(body, Encoding.UTF8, "application/json");
        var answer = await _server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)answer.StatusCode);
        return answer;
    }

    /// <summary>Asserts that the connection ended without the last chunk of the answer.</summary>
    private static async Task AssertCutOffAsync(HttpResponseMessage answer)
    {
        Assert.True(answer.Headers.TransferEncodingChunked);
        await Assert.ThrowsAsync<HttpRequestException>(() => answer.Content.ReadAsStringAsync().WaitAsync(Guard));
    }

    /// <summary>
    /// A document with 2,000,000 arrays in nested arrays and objects, and 32 include paths that lead through all of
    /// them: following the paths takes far longer than a stop may.
    /// </summary>
    private static class ManyPaths
    {
        private const int Objects = 5;
        private const int Arrays = 100;

        /// <summary>
        /// The 32 paths. A step through each of the five objects is the name of its member, or brackets, with the same
        /// effect.
        /// </summary>
        public static string Includes { get; } =
            string.Concat(
                Enumerable
                    .Range(0, 1 << Objects)
                    .Select(static number =>
                        "&include=x"
                        + string.Concat(
                            Enumerable.Range(0, Objects).Select(bit => (number & (1 << bit)) == 0 ? ".x" : "[]")
                        )
                        + string.Concat(Enumerable.Repeat("[]", Arrays))
                    )
            );

        public static string Document { get; } =
            string.Concat(Enumerable.Repeat("{\"x\":", Objects + 1))
            + new string('[', Arrays)
            + string.Join(',', Enumerable.Repeat("[]", 2_000_000))
            + new string(']', Arrays)
            + new string('}', Objects + 1);
    }

    /// <summary>Counts how often the clock is read.</summary>
    private sealed class WatchedTime(SimulatedTimeProvider time) : TimeProvider
    {
        private long _reads;

        public long Reads => Interlocked.Read(ref _reads);

        public override long TimestampFrequency => time.TimestampFrequency;

        public override TimeZoneInfo LocalTimeZone => time.LocalTimeZone;

        public override long GetTimestamp()
        {
            Interlocked.Increment(ref _reads);
            return time.GetTimestamp();
        }

        public override DateTimeOffset GetUtcNow() => time.GetUtcNow();

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            time.CreateTimer(callback, state, dueTime, period);
    }
}
