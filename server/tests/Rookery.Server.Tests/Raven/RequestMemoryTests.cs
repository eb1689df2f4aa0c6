using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Server.Raven.CompareExchange;
using Rookery.Server.Raven.Documents;
using Rookery.Server.Raven.Queries;
using Rookery.Server.Raven.Revisions;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The memory that a request holds while its answer is sent.</summary>
public sealed class RequestMemoryTests : IAsyncLifetime
{
    // Longest wait for what must happen, by the real clock.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(2);

    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;

    // The room of large requests is a quarter of the memory: 32 MiB.
    public RequestMemoryTests() => _server = new RunningServer { Time = _time, Memory = new MemoryBudget(128 << 20) };

    private long HeldBytes => _server.Memory.Shares.Single(share => share.Name is "large requests").UsedBytes;

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    /// <summary>The plan has the parameters of the query, which take memory until the request ends.</summary>
    [Fact]
    public async Task Explain_of_a_large_query_holds_its_memory_until_it_is_sent()
    {
        var database = await OpenDatabaseAsync();
        using var answer = new ObservedStream(() => HeldBytes);
        var http = CreateRequest(
            $$"""{"Query":"from Users where a = 1","QueryParameters":{"n":"{{new string('x', 1 << 20)}}"} }""",
            answer
        );
        http.Request.QueryString = new QueryString("?debug=explain");
        await new RunQuery(_server.Context).HandleAsync(http, database);
        Assert.InRange(Assert.Single(answer.Observed), 1 << 20, 32 << 20);
        Assert.Equal(0, HeldBytes);
        answer.Position = 0;
        Assert.Equal("Results", JsonDocument.Parse(answer).RootElement.EnumerateObject().Last().Name);
    }

    /// <summary>Formerly, the answer of a multi_get told its client to wait before the next request.</summary>
    [Fact]
    public async Task A_refused_request_inside_a_multi_get_sets_no_header_of_its_answer()
    {
        string db = await _server.CreateDatabaseAsync();
        await PutTextAsync(db, "a", length: 6 << 20);
        using var others = _server.Context.LargeRequests.Begin(new DefaultHttpContext());
        Assert.True(others.TryGrow(30 << 20));
        var alone = await RefuseAsync(_server.SendAsync("GET", db + "/docs?id=a"));
        Assert.Equal((429, "1"), (alone.Status, alone.Headers.RetryAfter?.ToString()));

        var inner = await RefuseAsync(
            _server.SendAsync("POST", db + "/multi_get", $$"""{"Requests":[{"Url":"{{db}}/docs","Query":"?id=a"}]}""")
        );
        Assert.Contains("\"StatusCode\":429", inner.Body, StringComparison.Ordinal);
        Assert.Equal((200, null), (inner.Status, inner.Headers.RetryAfter?.ToString()));
    }

    /// <summary>
    /// The refused request released all memory of the multi_get before it waited, and the parsed requests stay.
    /// </summary>
    [Fact]
    public async Task After_a_refused_request_a_multi_get_holds_the_memory_of_its_requests_again()
    {
        var database = await OpenDatabaseAsync();
        string db = "/databases/" + database.Name;
        await PutTextAsync(db, "a", length: 6 << 20);
        await PutTextAsync(db, "b", length: 40_000); // takes no memory beyond that of the multi_get
        const long OtherBytes = 28 << 20;
        using var others = _server.Context.LargeRequests.Begin(new DefaultHttpContext());
        Assert.True(others.TryGrow(OtherBytes));
        string missing = string.Join(',', Enumerable.Range(0, 3000).Select(static i => $"\"none/{i}\""));
        string body = $$"""
            {"Requests":[{"Url":"{{db}}/docs","Query":"?id=a"},
            {"Url":"{{db}}/docs","Query":"?id=b"},{"Url":"{{db}}/docs","Query":"?id=b"},
            {"Url":"{{db}}/docs","Method":"POST","Content":{"Ids":[{{missing}}]} }]}
            """;
        using var answer = new ObservedStream(() => HeldBytes);
        var route = new MultiGetRoute(
            _server.Context,
            new GetDocuments(_server.Context),
            new GetCompareExchange(_server.Context),
            new GetRevisions(_server.Context),
            new RunQuery(_server.Context)
        );
        await RefuseAsync(route.HandleAsync(CreateRequest(body, answer), database));
        Assert.InRange(answer.Observed[0], OtherBytes + body.Length, OtherBytes + (4 << 20));
        Assert.Equal(OtherBytes, HeldBytes);
        answer.Position = 0;
        var results = JsonDocument.Parse(answer).RootElement.GetProperty("Results").EnumerateArray();
        Assert.Equal(
            [429, 200, 200, 200],
            results.Select(static result => result.GetProperty("StatusCode").GetInt32())
        );
    }

    private async Task PutTextAsync(string db, string id, int length) =>
        Assert.Equal(
            201,
            (await _server.SendAsync("PUT", $"{db}/docs?id={id}", $$"""{"t":"{{new string('x', length)}}"}""")).Status
        );

    /// <summary>Lets the request wait for memory in vain, and returns what it answers.</summary>
    private async Task<Answer> RefuseAsync(Task<Answer> waiting)
    {
        await RefuseAsync((Task)waiting);
        return await waiting;
    }

    private async Task RefuseAsync(Task waiting)
    {
        using var guard = new CancellationTokenSource(Guard);
        while (_server.Context.LargeRequests.Waiting == 0)
        {
            Assert.False(guard.IsCancellationRequested, "the request waits within the time of Guard");
            await Task.Delay(1);
        }

        _time.Advance(Admission.WaitTimeout);
        await waiting.WaitAsync(Guard);
    }

    private static DefaultHttpContext CreateRequest(string body, Stream answer)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(body);
        var http = new DefaultHttpContext();
        (http.Request.Body, http.Request.ContentLength) = (new MemoryStream(bytes), bytes.Length);
        http.Response.Body = answer;
        return http;
    }

    private async Task<Database> OpenDatabaseAsync()
    {
        string db = await _server.CreateDatabaseAsync();
        Assert.True(_server.Node.Databases.TryGet(db.Split('/')[^1], out var database));
        return database;
    }

    /// <summary>The body of an answer, which records a value at each write.</summary>
    private sealed class ObservedStream(Func<long> observe) : MemoryStream
    {
        public List<long> Observed { get; } = [];

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Observed.Add(observe());
            return base.WriteAsync(buffer, cancellationToken);
        }
    }
}
