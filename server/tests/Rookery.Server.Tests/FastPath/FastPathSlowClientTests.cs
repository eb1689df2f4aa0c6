using System.Text;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.FastPath;

/// <summary>A client that sends requests to the fast path and does not read the responses.</summary>
public sealed class FastPathSlowClientTests : IAsyncLifetime
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(1);

    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;
    private string _database = "";

    public FastPathSlowClientTests() => _server = new RunningServer { Time = _time };

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _database = await _server.CreateDatabaseAsync();
        string text = new('x', 50_000);
        await _server.SendAsync("PUT", _database + "/docs?id=a", $$"""{"text":"{{text}}"}""");
        // The full pipeline, which an unknown header selects, loads the document that the fast path then reads.
        await _server.SendAsync("GET", _database + "/docs?id=a", body: (string?)null, ("X-Other", "1"));
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_client_that_reads_no_response_is_disconnected()
    {
        using var connection = await RawConnection.OpenAsync(_server);
        var sending = SendWithoutReadingAsync(connection);
        while (!sending.IsCompleted)
        {
            _time.Advance(TimeSpan.FromMinutes(1));
            await Task.Delay(1);
        }

        await Assert.ThrowsAsync<IOException>(() => sending);
    }

    [Fact]
    public async Task A_client_that_reads_no_response_does_not_delay_a_stop()
    {
        using var connection = await RawConnection.OpenAsync(_server);
        var sending = SendWithoutReadingAsync(connection);
        // The connection's buffers are full when no further request is answered for 100 ms.
        long answeredBefore;
        long answered = -1;
        do
        {
            answeredBefore = answered;
            await Task.Delay(100);
            answered = _server.Context.Metrics.FastPathRequests;
        } while (answered != answeredBefore);

        var stopping = _server.StopAsync();
        while (!stopping.IsCompleted)
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            await Task.Delay(1);
        }

        await stopping.WaitAsync(Guard);
        await Assert.ThrowsAsync<IOException>(() => sending);
        Assert.True(_server.Log.Lines.IsEmpty, string.Join("\n", _server.Log.Lines));
    }

    // Ends with an exception when the server has closed the connection.
    private async Task SendWithoutReadingAsync(RawConnection connection)
    {
        byte[] requests = Encoding.ASCII.GetBytes(
            string.Concat(Enumerable.Repeat($"GET {_database}/docs?id=a HTTP/1.1\r\nHost: localhost\r\n\r\n", 1000))
        );
        using var timeout = new CancellationTokenSource(Guard);
        while (true)
        {
            await connection.Stream.WriteAsync(requests, timeout.Token);
        }
    }
}
