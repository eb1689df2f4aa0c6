using Rookery.Cluster.Transfer;
using Rookery.Documents.Transfer;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Transfer;

public sealed class ResponseTimeoutTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly StateNode _receiver = new();
    private readonly HttpClient _member = new(new SilentMember())
    {
        BaseAddress = new Uri("http://pi-2:9443"),
        Timeout = Timeout.InfiniteTimeSpan,
    };

    [Fact]
    public async Task A_request_to_a_silent_member_times_out()
    {
        var fetching = new StateFetch(_member, _receiver.Core.Inbox, _time).RunAsync(CancellationToken.None);
        Assert.False(fetching.IsCompleted);
        _time.Advance(ResponseTimeout.BeforeFlushed);
        Assert.Contains(
            "silent",
            (await Assert.ThrowsAsync<StateTransferException>(() => fetching)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_cancelled_request_is_not_reported_as_silence()
    {
        using var cancellation = new CancellationTokenSource();
        var fetching = new StateFetch(_member, _receiver.Core.Inbox, _time).RunAsync(cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => fetching);
    }

    public void Dispose()
    {
        _member.Dispose();
        _receiver.Dispose();
    }

    private sealed class SilentMember : HttpMessageHandler
    {
        protected override async Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request,
            CancellationToken cancellationToken
        )
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            throw new InvalidOperationException("it never answers");
        }
    }
}
