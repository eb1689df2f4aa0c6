using System.IO.Pipelines;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>The stream of a compressed request body.</summary>
public sealed class GzipBodyTests
{
    // Ends the test if the read never returns.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task A_read_into_an_empty_buffer_returns_at_once_and_consumes_nothing()
    {
        var pipe = new Pipe();
        await pipe.Writer.WriteAsync("x"u8.ToArray());
        await using var body = new GzipBody.PackedBytes(pipe.Reader);
        Assert.Equal(0, await Task.Run(() => body.ReadAsync(Memory<byte>.Empty).AsTask()).WaitAsync(Guard));
        byte[] read = new byte[2];
        Assert.Equal(1, await body.ReadAsync(read.AsMemory()).AsTask().WaitAsync(Guard));
        Assert.Equal((byte)'x', read[0]);
    }
}
