using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>
/// Requests that end early because of the disk, the leader, their node or their client: no incomplete answer looks
/// complete, and no work continues without a client.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The node disposes the consensus that wraps its own.")]
public sealed class EarlyEndTests : IAsyncLifetime
{
    // 32 MB with documents of 4,000 bytes: more than a connection buffers of an answer that is not read, and more than
    // fits into memory.
    private const int Documents = 8000;

    // Few, but enough that a change by query still runs after it has changed the first of them.
    private const int FewDocuments = 2000;

    // FillAsync stores this many documents in each batch.
    private const int BatchDocuments = 250;

    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);
    private static readonly string LineText = new('x', 200);

    // The reason of the rejections that the tests make.
    private const string Reason = "Another node replaced this one.";

    private readonly RunningServer _server;
    private OneOfThree _member = null!;
    private string _db = "";

    public EarlyEndTests() =>
        _server = new RunningServer
        {
            WrapConsensus = alone => _member = new OneOfThree(alone, static _ => Task.CompletedTask),
            IndexTroubleFound = static _ => { },

            // With this little memory, most documents must be read from disk.
            Memory = new MemoryBudget(32 << 20),
        };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _db = await _server.CreateDatabaseAsync();
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    public static TheoryData<string, string?> LongAnswers { get; } =
        new()
        {
            { "GET /export", null },
            { "GET /streams/docs?format=jsonl", null },
            { "GET /docs", null },
            { "GET /changes/stream?since=0", null },
            { "POST /queries", "from Ds" },
            { "POST /streams/queries?format=jsonl", "from Ds" },
            { "POST /multi_get", null },
        };

    [Theory]
    [MemberData(nameof(LongAnswers))]
    public async Task A_started_answer_is_cut_off_when_the_disk_fails(string route, string? query)
    {
        await FillForAsync(route);
        // The answer needs a disk read only if documents have been flushed to runs.
        Assert.Contains(_server.Disk.Files, static path => path.EndsWith(".run", StringComparison.Ordinal));
        using var answer = await BeginAsync(route, query);
        _server.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Read,
                PathContains = ".run",
                Sticky = true,
            }
        );
        await Assert.ThrowsAsync<HttpRequestException>(() => answer.Content.ReadAsStringAsync().WaitAsync(Guard));
    }

    [Theory]
    [InlineData("from Ds select facet(n)")]
    [InlineData("from Ds select facet(n < 10, n >= 10)")]
    [InlineData("from Ds group by n select n, count()")]
    public async Task A_summary_is_refused_when_the_disk_fails(string query)
    {
        await FillAsync(Documents);
        string body = $$"""{"Query":{{JsonSerializer.Serialize(query)}},"WaitForNonStaleResults":true}""";
        Assert.Equal(200, (await _server.SendAsync("POST", _db + "/queries", body)).Status);
        _server.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Read,
                PathContains = "/data/",
                Sticky = true,
            }
        );
        var answer = await _server.SendAsync("POST", _db + "/queries", body);
        if (answer.Status == 200)
        {
            // All data was in memory, so the answer is complete.
            Assert.Equal(Documents, CountIn(answer.Json));
        }
        else
        {
            answer.IsRefusal(500, "read");
        }
    }

    [Theory]
    [MemberData(nameof(LongAnswers))]
    public async Task Work_ends_when_its_client_leaves(string route, string? query)
    {
        await FillForAsync(route);
        using (await BeginAsync(route, query))
        {
            await AwaitAsync(() => _server.Context.Metrics.InFlight == 1);
        }

        await AwaitAsync(() => _server.Context.Metrics.InFlight == 0);
    }

    [Theory]
    [InlineData("from Ds where t = 'y' order by n as long select facet(n)")]
    [InlineData("from Ds as d where d.t.length > d.n + 1000000")]
    public async Task Many_reads_in_one_request_end_with_their_client(string query)
    {
        await FillAsync(FewDocuments);
        string queryBody = JsonSerializer.Serialize($$"""{"Query":{{JsonSerializer.Serialize(query)}}}""");
        string part = $$"""{"Url":"{{_db}}/queries","Method":"POST","Content":{{queryBody}}}""";
        string body = $$"""{"Requests":[{{string.Join(',', Enumerable.Repeat(part, 1000))}}]}""";
        using var clientLeaves = new CancellationTokenSource();
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        var asking = _server.Http.PostAsync(_db + "/multi_get", content, clientLeaves.Token);
        await AwaitAsync(() => _server.Context.Metrics.InFlight == 1);
        await clientLeaves.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => asking);
        await AwaitAsync(() => _server.Context.Metrics.InFlight == 0);
    }

    /// <summary>
    /// All runs are merged during the export. Those with which it began are deleted once it has ended.
    /// </summary>
    [Trait("Effort", "Whole")]
    [Fact]
    public async Task An_export_during_merges_is_complete_and_from_one_snapshot()
    {
        await FillAsync(Documents);

        // A snapshot taken during a flush holds two memtables. With another reader's memtables, that would exceed the
        // bound of three, and the node would rightly end the export.
        await AwaitAsync(() => _server.Context.Node.ReadStatistics()!.Storage.FrozenBytes == 0);
        string[] before = ListRuns();
        using var answer = await BeginAsync("GET /export", query: null);
        await FillAsync(Documents, "later ");
        await MergeAllRunsAsync();
        Assert.NotEmpty(ListRuns().Except(before, StringComparer.Ordinal));
        string body = await answer.Content.ReadAsStringAsync().WaitAsync(Guard);
        Assert.Equal(Documents, body.Count(static sign => sign == '\n'));
        Assert.DoesNotContain("later", body, StringComparison.Ordinal);
        Assert.Equal(
            Documents,
            int.Parse(answer.Headers.GetValues("Rookery-Documents").Single(), CultureInfo.InvariantCulture)
        );
        await AwaitAsync(() => !ListRuns().Intersect(before, StringComparer.Ordinal).Any());

        string[] ListRuns() =>
            [.. _server.Disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal))];
    }

    [Theory]
    [InlineData(RejectionKind.Diagnosis)]
    [InlineData(RejectionKind.NoLeader)]
    [InlineData(RejectionKind.OutcomeUnknown)]
    [InlineData(RejectionKind.InsufficientSpace)]
    public async Task An_import_whose_writes_are_rejected_midway_reports_how_much_is_stored(RejectionKind kind)
    {
        using var content = new SteppedContent(async stream =>
        {
            await WriteAsync(stream, 0, 10_000);
            await AwaitAsync(() => CountStored() > 0);
            _member.WriteRejection = new Rejection(kind, Reason);
            await WriteAsync(stream, 10_000, 20_000);
        });
        using var answer = await _server.Http.PostAsync(_db + "/import", content);
        string text = await answer.Content.ReadAsStringAsync();
        Assert.Contains(Reason, text, StringComparison.Ordinal);
        long stored = CountStored();
        Assert.InRange(stored, 1, 19_999);
        if (answer.StatusCode == HttpStatusCode.OK)
        {
            string last = text.TrimEnd().Split('\n')[^1];
            var result = JsonDocument.Parse(last).RootElement.GetProperty("Result");
            Assert.Equal(stored, result.GetProperty("Stored").GetInt64());
            Assert.NotNull(result.GetProperty("Error").GetString());
        }
        else
        {
            Assert.Contains($" {stored} documents of the import were stored before.", text, StringComparison.Ordinal);
        }

        static async Task WriteAsync(Stream stream, int from, int to)
        {
            for (int number = from; number < to; number++)
            {
                string line = $$$"""{"t":"{{{LineText}}}","@metadata":{"@id":"d{{{number}}}"}}""" + "\n";
                await stream.WriteAsync(Encoding.UTF8.GetBytes(line));
            }

            await stream.FlushAsync();
        }
    }

    [Theory]
    [InlineData("PATCH")]
    [InlineData("DELETE")]
    public async Task A_change_by_query_continues_under_a_new_leader_and_changes_each_document_once(string method)
    {
        await FillAsync(FewDocuments);
        long operation = await ChangeAsync(method);
        await AwaitAsync(() => CountChanged(method) > 0);
        _member.WriteRejection = new Rejection(RejectionKind.NoLeader, "No node leads now.");

        // Long enough for rejected writes. If there are none, the test proves less, but does not fail.
        await Task.Delay(300);
        _member.WriteRejection = null;
        var state = await AwaitEndAsync(operation);
        Assert.Equal("Completed", state.GetProperty("Status").GetString());
        Assert.Equal(FewDocuments, state.GetProperty("Result").GetProperty("Total").GetInt64());
        Assert.Equal(FewDocuments, CountChanged(method));
    }

    [Theory]
    [InlineData("PATCH")]
    [InlineData("DELETE")]
    public async Task A_change_by_query_whose_writes_are_rejected_reports_its_progress(string method)
    {
        await FillAsync(FewDocuments);
        long operation = await ChangeAsync(method);
        await AwaitAsync(() => CountChanged(method) > 0);
        _member.WriteRejection = new Rejection(RejectionKind.Diagnosis, Reason);
        var state = await AwaitEndAsync(operation);
        Assert.Equal("Faulted", state.GetProperty("Status").GetString());
        long changed = CountChanged(method);
        Assert.InRange(changed, 1, FewDocuments - 1);
        Assert.Contains(
            $"{Reason} {changed:N0} of 2,000 documents were {ParticipleOf(method)} before, and stay "
                + $"{ParticipleOf(method)}.",
            state.GetProperty("Result").GetProperty("Message").GetString(),
            StringComparison.Ordinal
        );
    }

    private static string ParticipleOf(string method) => method is "PATCH" ? "changed" : "deleted";

    /// <summary>Starts to patch or delete all documents. Returns the number of the operation.</summary>
    private async Task<long> ChangeAsync(string method)
    {
        string body = method is "PATCH"
            ? """{"Query":{"Query":"from Ds update { this.n = -1 - this.n }"}}"""
            : """{"Query":"from Ds"}""";
        var started = await _server.SendAsync(method, _db + "/queries?maxOpsPerSec=1000", body);
        return started.Json.GetProperty("OperationId").GetInt64();
    }

    /// <summary>Returns the state of an operation once it has ended.</summary>
    private async Task<JsonElement> AwaitEndAsync(long operation)
    {
        string path = string.Create(CultureInfo.InvariantCulture, $"{_db}/operations/state?id={operation}");
        while (true)
        {
            var state = (await _server.SendAsync("GET", path)).Json;
            if (state.GetProperty("Status").GetString() is not "InProgress")
            {
                return state;
            }

            await Task.Delay(20);
        }
    }

    /// <summary>
    /// Returns the number of documents that were deleted, or patched an odd number of times: the patch is its own
    /// inverse, so a document that is patched twice does not count.
    /// </summary>
    private long CountChanged(string method)
    {
        Assert.True(_server.Node.Databases.TryGet(_db.Split('/')[^1], out var database));
        using var reader = database.OpenReader();
        if (method is "DELETE")
        {
            return FewDocuments - reader.ReadStatistics().Documents;
        }

        long changed = 0;
        using var changes = reader.SeekChanges(afterEtag: 0);
        while (changes.MoveNext())
        {
            changed += changes.View.Body.IndexOf("\"n\":-"u8) >= 0 ? 1 : 0;
        }

        return changed;
    }

    private long CountStored()
    {
        Assert.True(_server.Node.Databases.TryGet(_db.Split('/')[^1], out var database));
        using var reader = database.OpenReader();
        return reader.ReadStatistics().Documents;
    }

    private static async Task AwaitAsync(Func<bool> holds)
    {
        using var timeout = new CancellationTokenSource(Guard);
        while (!holds())
        {
            await Task.Delay(10, timeout.Token);
        }
    }

    /// <summary>Returns the sum of the counts of all facets or groups in an answer.</summary>
    private static long CountIn(JsonElement answer)
    {
        long sum = 0;
        foreach (var result in answer.GetProperty("Results").EnumerateArray())
        {
            if (result.TryGetProperty("Values", out var values))
            {
                sum += values.EnumerateArray().Sum(static value => value.GetProperty("Count").GetInt64());
            }
            else
            {
                // A group: the field count() is named Count or count.
                sum += result
                    .EnumerateObject()
                    .Single(static field => field.Name.StartsWith("c", StringComparison.OrdinalIgnoreCase))
                    .Value.GetInt64();
            }
        }

        return sum;
    }

    // Events of the changes feed contain no documents, so only many of them, with long ids, fill the connection's
    // buffer.
    private Task FillForAsync(string route) =>
        route.Contains("changes", StringComparison.Ordinal) ? FillAsync(40_000, isShort: true) : FillAsync(Documents);

    private async Task MergeAllRunsAsync()
    {
        string body = $$"""{"DatabaseName":"{{_db.Split('/')[^1]}}","Documents":true}""";
        var begun = await _server.SendAsync("POST", "/admin/compact", body);
        string state = $"/operations/state?id={begun.Json.GetProperty("OperationId").GetInt64()}";
        using var timeout = new CancellationTokenSource(Guard);
        string? status;
        do
        {
            await Task.Delay(20, timeout.Token);
            status = (await _server.SendAsync("GET", state)).Json.GetProperty("Status").GetString();
        } while (status is "InProgress");
        Assert.Equal("Completed", status);
    }

    /// <summary>Stores documents with the ids d0…00, d0…01 and so on, of 401 characters.</summary>
    /// <param name="count">Number of documents, a multiple of <see cref="BatchDocuments"/>.</param>
    /// <param name="prefix">The beginning of the text in each document.</param>
    /// <param name="isShort">Whether the text is empty instead of 4,000 bytes.</param>
    private async Task FillAsync(int count, string prefix = "", bool isShort = false)
    {
        var random = new Random(1);
        byte[] bytes = new byte[3000];
        for (int first = 0; first < count; first += BatchDocuments)
        {
            var commands = Enumerable
                .Range(first, BatchDocuments)
                .Select(number =>
                {
                    // Compressible data would fit into few blocks, all of them in memory.
                    random.NextBytes(bytes);
                    string text = isShort ? "" : prefix + Convert.ToBase64String(bytes);
                    return string.Create(
                        CultureInfo.InvariantCulture,
                        $$$"""{"Id":"d{{{number:D400}}}","Type":"PUT","Document":{"n":{{{number}}},"t":"{{{text}}}","@metadata":{"@collection":"Ds"} } }"""
                    );
                });
            var stored = await _server.SendAsync(
                "POST",
                _db + "/bulk_docs",
                $$"""{"Commands":[{{string.Join(',', commands)}}]}"""
            );
            Assert.True(stored.Status == 201, stored.Body);
        }
    }

    /// <summary>
    /// Sends a request and reads the head of the answer. The node sends the body until the connection's buffers are
    /// full.
    /// </summary>
    private async Task<HttpResponseMessage> BeginAsync(string route, string? query)
    {
        string[] parts = route.Split(' ');
        using var request = new HttpRequestMessage(new HttpMethod(parts[0]), new Uri(_server.Address, _db + parts[1]));
        string part = $$"""{"Url":"{{_db}}/docs","Query":"?startsWith=d","Method":"GET"}""";
        string? body =
            query is not null ? $$"""{"Query":{{JsonSerializer.Serialize(query)}}}"""
            : parts[1] is "/multi_get" ? $$"""{"Requests":[{{part}},{{part}}]}"""
            : null;
        request.Content = body is null ? null : new StringContent(body, Encoding.UTF8, "application/json");
        var answer = await _server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)answer.StatusCode);
        return answer;
    }

    /// <summary>A request body that is written step by step.</summary>
    private sealed class SteppedContent(Func<Stream, Task> write) : HttpContent
    {
        protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => write(stream);

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
