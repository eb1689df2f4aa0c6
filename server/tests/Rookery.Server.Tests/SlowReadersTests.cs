using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>Memory of answers whose clients do not read.</summary>
public sealed class SlowReadersTests
{
    private readonly RecordedLog _log = new();
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public async Task The_longest_waiting_clients_are_disconnected_above_the_limit()
    {
        // Four clients begin to wait one second after another, each with 100 bytes.
        var readers = new SlowReaders(maxBytes: 250, _log, _time);
        var clients = Enumerable.Range(0, 4).Select(static _ => new Reader()).ToList();
        var waits = new List<Task>();
        foreach (var client in clients)
        {
            waits.Add(readers.WaitAsync(client.Http.Abort, bytes: 100, client.Taken.Task));
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        // 400 bytes are held, more than the limit, but no client has waited for MinReadTime yet.
        Assert.DoesNotContain(clients, static client => client.IsAborted);
        _time.Advance(SlowReaders.MinReadTime - TimeSpan.FromSeconds(4));
        await AwaitAsync(() => clients[0].IsAborted);
        Assert.False(clients[1].IsAborted);
        _time.Advance(TimeSpan.FromSeconds(1));
        await AwaitAsync(() => clients[1].IsAborted);

        // 200 bytes are within the limit, however long they are held.
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal((false, false), (clients[2].IsAborted, clients[3].IsAborted));
        Assert.Contains(
            _log.Lines,
            static line => line.Contains("more than 250 B of memory", StringComparison.Ordinal)
        );
        clients.ForEach(static client => client.Taken.SetResult(default));
        await Task.WhenAll(waits);
    }

    [Fact]
    public async Task A_client_that_reads_what_waits_in_time_is_never_disconnected()
    {
        var readers = new SlowReaders(maxBytes: 250, _log, _time);
        var reader = new Reader();
        var wait = readers.WaitAsync(reader.Http.Abort, bytes: 1000, reader.Taken.Task);
        _time.Advance(SlowReaders.MinReadTime - TimeSpan.FromSeconds(1));
        reader.Taken.SetResult(default);
        await wait;
        _time.Advance(SlowReaders.MinReadTime);
        Assert.False(reader.IsAborted);
    }

    // Timers of the simulated clock continue on threads of the pool, so what they do is awaited.
    private static async Task AwaitAsync(Func<bool> holds)
    {
        for (int round = 0; round < 3000 && !holds(); round++)
        {
            await Task.Delay(10);
        }

        Assert.True(holds(), "the condition holds within 30 s");
    }

    /// <summary>A client that reads nothing until <see cref="Taken"/> is completed.</summary>
    private sealed class Reader : IHttpRequestLifetimeFeature
    {
        public Reader()
        {
            Http = new DefaultHttpContext();
            Http.Features.Set<IHttpRequestLifetimeFeature>(this);
        }

        public HttpContext Http { get; }

        public TaskCompletionSource<FlushResult> Taken { get; } = new();

        public bool IsAborted { get; private set; }

        public CancellationToken RequestAborted { get; set; }

        public void Abort() => IsAborted = true;
    }
}
