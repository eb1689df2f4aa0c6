using Rookery.Documents.Consensus;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.FastPath;

/// <summary>The fast path of a leader with other members: reads wait for the barrier, writes may be refused.</summary>
public sealed class FastPathOfMemberTests : IAsyncLifetime
{
    // The fast path leaves requests with headers that it does not know to the full pipeline.
    private const string UnknownHeader = "X-Other: 1\r\n";

    private readonly RunningServer _server;
    private OneOfThree? _member;
    private Task _barrier = Task.CompletedTask;

    public FastPathOfMemberTests() =>
        _server = new RunningServer
        {
            WrapConsensus = alone =>
            {
                var member = new OneOfThree(alone, _ => _barrier);
                _member = member;
                return member;
            },
        };

    private long FastPathAnswers => _server.Context.Metrics.FastPathRequests;

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=db", "{}")).Status);
        Assert.Equal(201, (await PutAsync("")).Code);
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_read_waits_for_the_barrier()
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _barrier = reached.Task;
        long before = FastPathAnswers;
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync("GET /databases/db/docs?id=a HTTP/1.1\r\nHost: localhost\r\n\r\n");
        var reading = connection.ReadAsync();
        await Task.Delay(50);
        Assert.False(reading.IsCompleted);
        reached.SetResult();
        Assert.Equal("HTTP/1.1 200 OK", (await reading)!.Status);
        Assert.Equal(before + 1, FastPathAnswers);
    }

    // The current version of the topology is 7.
    [Theory]
    [InlineData("7", true)]
    [InlineData("6", false)]
    public async Task A_request_with_an_outdated_topology_etag_is_left_to_the_full_pipeline(string etag, bool isFast)
    {
        long before = FastPathAnswers;
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(
            $"GET /databases/db/docs?id=a HTTP/1.1\r\nHost: localhost\r\nTopology-Etag: {etag}\r\n\r\n"
        );
        var answer = (await connection.ReadAsync())!;
        Assert.Equal(isFast, !answer.Headers.Contains("Refresh-Topology: true", StringComparison.Ordinal));
        Assert.Equal(before + (isFast ? 1 : 0), FastPathAnswers);
    }

    [Theory]
    [InlineData(RejectionKind.OutcomeUnknown, 504, 1)]
    [InlineData(RejectionKind.ConcurrencyConflict, 409, 1)]
    [InlineData(RejectionKind.Overloaded, 429, 1)]
    [InlineData(RejectionKind.InsufficientSpace, 507, 2)]
    [InlineData(RejectionKind.Damaged, 500, 2)]
    [InlineData(RejectionKind.NoLeader, 503, 1)]
    public async Task A_refused_write_is_answered_as_by_the_full_pipeline(
        RejectionKind kind,
        int status,
        int proposedByFastPath
    )
    {
        _member!.WriteRejection = new Rejection(kind, "It was refused, for this test.");
        int before = _member.ProposedWrites;
        var fast = await PutAsync("");
        Assert.Equal(proposedByFastPath, _member.ProposedWrites - before);
        var full = await PutAsync(UnknownHeader);
        Assert.Equal((status, full), (fast.Code, fast));

        // The full pipeline counts a request as ended only after it has answered.
        using var timeout = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        while (_server.Context.Metrics.InFlight != 0)
        {
            await Task.Delay(1, timeout.Token);
        }
    }

    // The node completes an id that ends with a slash, so a retry would store a second document. Status 504 would
    // invite a retry, so the status is 500.
    [Theory]
    [InlineData("a", 504)]
    [InlineData("a/", 500)]
    public async Task A_batch_of_unknown_outcome_is_answered_as_by_the_full_pipeline(string id, int status)
    {
        _member!.WriteRejection = new Rejection(RejectionKind.OutcomeUnknown, "Nobody knows, for this test.");
        int before = _member.ProposedWrites;
        var fast = await PostBatchAsync(id, "");
        var full = await PostBatchAsync(id, UnknownHeader);
        Assert.Equal((status, full), (fast.Code, fast));
        Assert.Equal(2, _member.ProposedWrites - before);
    }

    /// <summary>The fast path refuses it itself, because the full pipeline would wait for the barrier again.</summary>
    [Theory]
    [InlineData("GET", "docs?id=a", "")]
    [InlineData("POST", "queries", """{"Query":"from Users where a = 1"}""")]
    public async Task A_read_whose_barrier_fails_is_refused_at_once(string method, string route, string body)
    {
        _member!.WriteRejection = new Rejection(RejectionKind.NoLeader, "There is no leader.");
        long before = FastPathAnswers;
        string length = body.Length == 0 ? "" : $"Content-Length: {body.Length}\r\n";
        string line = $"{method} /databases/db/{route} HTTP/1.1\r\nHost: localhost\r\n{length}";
        var fast = await SendAsync(_server, $"{line}\r\n{body}");
        Assert.Equal((503, before + 1), (fast.Code, FastPathAnswers));
        Assert.Equal(await SendAsync(_server, $"{line}{UnknownHeader}\r\n{body}"), fast);
        Assert.Equal(before + 1, FastPathAnswers);
    }

    [Fact]
    public async Task A_member_that_knows_no_leader_leaves_requests_to_the_full_pipeline()
    {
        _member!.HasLeader = false;
        long before = FastPathAnswers;
        Assert.Equal(201, (await PutAsync("")).Code);
        Assert.Equal(before, FastPathAnswers);
    }

    private static async Task<RawResponse> SendAsync(RunningServer server, string request)
    {
        using var connection = await RawConnection.OpenAsync(server);
        await connection.SendAsync(request);
        return (await connection.ReadAsync())!;
    }

    private Task<RawResponse> PostBatchAsync(string id, string headers)
    {
        string body = $$"""{"Commands":[{"Type":"PUT","Id":"{{id}}","Document":{ } }]}""";
        return SendAsync(
            _server,
            $"POST /databases/db/bulk_docs HTTP/1.1\r\nHost: localhost\r\n{headers}"
                + $"Content-Length: {body.Length}\r\n\r\n{body}"
        );
    }

    private Task<RawResponse> PutAsync(string headers) =>
        SendAsync(
            _server,
            $"PUT /databases/db/docs?id=a HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 7\r\n\r\n{{\"a\":1}}"
        );
}
