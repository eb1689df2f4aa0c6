using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The memory of request bodies: large ones share a limit, and small ones reserve nothing.</summary>
public sealed class RequestBodyTests
{
    private const int MaxBytes = 16 << 20;

    // All large requests together may use a quarter: 10 MiB.
    private readonly MemoryBudget _budget = new(40 << 20);
    private readonly SimulatedTimeProvider _time = new();
    private readonly LargeRequests _requests;

    public RequestBodyTests()
    {
        _requests = new LargeRequests(_budget, _time);
    }

    [Fact]
    public async Task Memory_grows_with_received_bytes_not_with_the_announced_length()
    {
        var http = CreateRequest("{}"u8.ToArray());
        http.Request.ContentLength = MaxBytes;
        long before = GC.GetAllocatedBytesForCurrentThread();
        using var body = await RequestBody.ReadAsync(http, MaxBytes, _requests, BodyUse.Write);
        Assert.Equal("{}"u8.ToArray(), body.Span.ToArray());
        // Less than the announced length, by far.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, MaxBytes / 2);
    }

    [Fact]
    public async Task Large_bodies_share_a_limit_and_release_it_when_answered()
    {
        // One such write fits, with the copies that it makes; two do not.
        byte[] content = new byte[2 << 20];
        var http = CreateRequest(content);
        var first = await RequestBody.ReadAsync(http, content.Length, _requests, BodyUse.Write);
        first.Dispose();
        Assert.Equal(LargeRequests.CopiesOfWrite * content.Length, _budget.UsedBytes);

        var waiting = RequestBody.ReadAsync(CreateRequest(content), content.Length, _requests, BodyUse.Write).AsTask();
        Assert.False(waiting.IsCompleted);
        _time.Advance(Admission.WaitTimeout);
        var refused = await Assert.ThrowsAsync<RefusedException>(() => waiting);
        Assert.Equal(429, refused.Status);
        Assert.Contains("6.0 MiB", refused.Message, StringComparison.Ordinal);
        Assert.Equal(LargeRequests.CopiesOfWrite * content.Length, _budget.UsedBytes);

        await http.Features.Get<Ending>()!.EndAsync();
        Assert.Equal(0, _budget.UsedBytes);
        (await RequestBody.ReadAsync(CreateRequest(content), content.Length, _requests, BodyUse.Write)).Dispose();
    }

    [Fact]
    public async Task A_small_body_reserves_no_memory()
    {
        using var body = await RequestBody.ReadAsync(
            CreateRequest(new byte[20_000]),
            MaxBytes,
            _requests,
            BodyUse.Write
        );
        Assert.Equal(20_000, body.Span.Length);
        Assert.Equal(0, _budget.UsedBytes);
    }

    private static DefaultHttpContext CreateRequest(byte[] body)
    {
        var http = new DefaultHttpContext();
        http.Request.Body = new MemoryStream(body);
        http.Request.ContentLength = body.Length;
        var ending = new Ending();
        http.Features.Set(ending);
        http.Features.Set<IHttpResponseFeature>(ending);
        return http;
    }

    /// <summary>Runs the callbacks for the end of an answer, as a server does.</summary>
    private sealed class Ending : HttpResponseFeature
    {
        private readonly List<(Func<object, Task> Callback, object State)> _callbacks = [];

        public override void OnCompleted(Func<object, Task> callback, object state) =>
            _callbacks.Add((callback, state));

        /// <summary>Ends the answer and runs the callbacks.</summary>
        public async Task EndAsync()
        {
            foreach (var (callback, state) in _callbacks)
            {
                await callback(state);
            }
        }
    }
}
