using Microsoft.AspNetCore.Http;
using Rookery.Disk;
using Rookery.Server.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

public sealed class RequestBodyTests
{
    private const int Large = 16 << 20;

    private readonly MemoryBudget _budget = new(64 << 20);
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public async Task Memory_follows_what_a_client_sends_not_what_it_announces()
    {
        var http = Request("{}"u8.ToArray());
        http.Request.ContentLength = Large;
        long before = GC.GetAllocatedBytesForCurrentThread();
        using var body = await RequestBody.ReadAsync(http, Large, new BodyMemory(_budget, Large, _time));
        Assert.Equal("{}"u8.ToArray(), body.Span.ToArray());
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, Large / 2);
    }

    [Fact]
    public async Task Large_bodies_share_what_they_may_hold_and_give_it_back()
    {
        var memory = new BodyMemory(_budget, 3 << 20, _time);
        byte[] content = new byte[2 << 20];
        var first = await RequestBody.ReadAsync(Request(content), content.Length, memory);
        Assert.True(_budget.UsedBytes >= content.Length);

        var waiting = RequestBody.ReadAsync(Request(content), content.Length, memory).AsTask();
        Assert.False(waiting.IsCompleted);
        while (!waiting.IsCompleted)
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        var refused = await Assert.ThrowsAsync<RefusedException>(() => waiting);
        Assert.Equal(429, refused.Status);
        first.Dispose();
        Assert.Equal(0, _budget.UsedBytes);
        (await RequestBody.ReadAsync(Request(content), content.Length, memory)).Dispose();
    }

    [Fact]
    public async Task Room_may_be_kept_until_the_answer()
    {
        var memory = new BodyMemory(_budget, 3 << 20, _time);
        byte[] content = new byte[1 << 20];
        var http = Request(content);
        var body = await RequestBody.ReadAsync(http, content.Length, memory, untilAnswered: true);
        body.Dispose();
        Assert.Equal(content.Length, _budget.UsedBytes);
        await body.Room!.GrowAsync(http, 2 << 20); // what was made of it
        Assert.Equal(2 << 20, _budget.UsedBytes);
        body.Room.Dispose();
        body.Room.Dispose();
        Assert.Equal(0, _budget.UsedBytes);
    }

    private static DefaultHttpContext Request(byte[] body)
    {
        var http = new DefaultHttpContext();
        http.Request.Body = new MemoryStream(body);
        return http;
    }
}
