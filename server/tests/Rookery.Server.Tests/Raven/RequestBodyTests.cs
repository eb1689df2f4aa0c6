using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

public sealed class RequestBodyTests
{
    [Fact]
    public async Task Memory_follows_what_a_client_sends_not_what_it_announces()
    {
        const int Announced = 16 << 20;
        var http = new DefaultHttpContext();
        http.Request.ContentLength = Announced;
        http.Request.Body = new MemoryStream("{}"u8.ToArray());
        long before = GC.GetTotalAllocatedBytes(precise: true);
        using var body = await RequestBody.ReadAsync(http, Announced);
        Assert.Equal("{}"u8.ToArray(), body.Span.ToArray());
        Assert.InRange(GC.GetTotalAllocatedBytes(precise: true) - before, 0, Announced / 2);
    }
}
