using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>A node that stops ends the sending of its state.</summary>
public sealed class StateStopTests : IDisposable
{
    // Ends a test that would otherwise hang; a passing test does not wait for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

    private readonly StateNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public async Task At_a_stop_the_sending_of_an_unread_file_is_aborted_and_no_other_begins()
    {
        _node.Fill(20);
        var offer = _node.Core.Offers.Make(0)!;
        using var stop = new CancellationTokenSource();
        var routes = _node.Routes;
        routes.Stopping = stop.Token;
        using var lifetime = new Lifetime();
        var body = new StuckBody();
        var sending = routes.InvokeAsync(CreateRequest($"/state/{offer.Id}/{offer.Files[0].Name}", lifetime, body));
        await body.IsWritten.WaitAsync(Guard);
        Assert.False(lifetime.RequestAborted.IsCancellationRequested);
        await stop.CancelAsync();
        await sending.WaitAsync(Guard);
        Assert.True(lifetime.RequestAborted.IsCancellationRequested);

        using var late = new Lifetime();
        var refused = CreateRequest("/state/offer", late, new MemoryStream());
        await routes.InvokeAsync(refused);
        Assert.Equal(503, refused.Response.StatusCode);
    }

    private static DefaultHttpContext CreateRequest(string path, Lifetime lifetime, Stream body)
    {
        var http = new DefaultHttpContext();
        http.Features.Set<IHttpRequestLifetimeFeature>(lifetime);
        http.Request.Method = "GET";
        http.Request.Path = path;
        http.Response.Body = body;
        return http;
    }

    /// <summary>The life of a request, which its handler can abort.</summary>
    private sealed class Lifetime : IHttpRequestLifetimeFeature, IDisposable
    {
        private readonly CancellationTokenSource _aborted = new();

        public CancellationToken RequestAborted
        {
            get => _aborted.Token;
            set => throw new NotSupportedException();
        }

        public void Abort() => _aborted.Cancel();

        public void Dispose() => _aborted.Dispose();
    }

    /// <summary>A body whose reader takes no byte.</summary>
    private sealed class StuckBody : MemoryStream
    {
        private readonly TaskCompletionSource _written = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task IsWritten => _written.Task;

        public override async ValueTask WriteAsync(
            ReadOnlyMemory<byte> buffer,
            CancellationToken cancellationToken = default
        )
        {
            _written.TrySetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
        }
    }
}
