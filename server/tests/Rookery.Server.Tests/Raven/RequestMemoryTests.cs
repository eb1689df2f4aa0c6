using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven.Queries;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The memory that a request holds while its answer is sent.</summary>
public sealed class RequestMemoryTests : IAsyncLifetime
{
    private readonly RunningServer _server;

    // The room of large requests is a quarter of the memory: 32 MiB.
    public RequestMemoryTests() =>
        _server = new RunningServer { Time = new SimulatedTimeProvider(), Memory = new MemoryBudget(128 << 20) };

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

        public override ValueTask WriteAsync(
            ReadOnlyMemory<byte> buffer,
            CancellationToken cancellationToken = default
        )
        {
            Observed.Add(observe());
            return base.WriteAsync(buffer, cancellationToken);
        }
    }
}
