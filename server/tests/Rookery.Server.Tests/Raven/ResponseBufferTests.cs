using System.Buffers;
using System.IO.Pipelines;
using System.Net;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Rookery.Platform;
using Rookery.Server.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The buffer of a response, which is sent in parts while the response is written.</summary>
public sealed class ResponseBufferTests
{
    [Fact]
    public async Task A_response_pauses_for_a_slow_client_by_the_clock_of_the_node()
    {
        var time = new SimulatedTimeProvider();
        var io = new IoTimeline(time, "memory");
        var options = new ServerOptions { Listen = new IPEndPoint(IPAddress.Loopback, 0) };
        var context = new ServerContext(options, time, new RecordedLog(), new MemoryBudget(256 << 20), io);
        await using var services = new ServiceCollection().AddSingleton(context).BuildServiceProvider();
        var client = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 1));
        var http = new DefaultHttpContext { RequestServices = services };
        http.Features.Set<IHttpResponseBodyFeature>(new StreamResponseBodyFeature(client.Writer.AsStream()));
        using var answer = ResponseBuffer.Rent();
        answer.Write("{}"u8);
        bool isPaused = false;
        var sending = answer.SendPartAsync(http, () => isPaused = true);
        Assert.False(sending.IsCompleted);

        // The client reads its part once the timeout has passed on the simulated clock, long before a real second.
        time.Advance(ResponseBuffer.SlowClientTimeout);
        client.Reader.AdvanceTo((await client.Reader.ReadAsync()).Buffer.End);
        await sending;
        Assert.True(isPaused);
    }

    [Fact]
    public async Task A_sent_buffer_is_disposed_once()
    {
        // All on one thread, because each thread keeps the last buffer that was returned on it.
        var answer = ResponseBuffer.Rent();
        answer.Write("{}"u8);
        Assert.True(answer.SendAsync(new DefaultHttpContext()).IsCompletedSuccessfully);
        Assert.NotSame(answer, ResponseBuffer.Rent());
        answer.Dispose();
        Assert.Same(answer, ResponseBuffer.Rent());

        await answer.SendAndDisposeAsync(new DefaultHttpContext());
        Assert.Throws<InvariantViolationException>(answer.Dispose);
    }

    [Fact]
    public async Task A_buffer_holds_only_unsent_bytes_while_its_client_reads_nothing()
    {
        var memory = new ResponseMemory(1 << 20);
        var connection = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 0));
        var http = new DefaultHttpContext();
        http.Response.Body = connection.Writer.AsStream();
        byte[] answer = new byte[ResponseBuffer.PartBytes + 1000];
        Random.Shared.NextBytes(answer);
        using var buffer = new ResponseBuffer(memory);
        for (int round = 0; round < 2; round++)
        {
            buffer.Write(answer);
            var sending = buffer.SendPartAsync(http, pause: null);
            Assert.False(sending.IsCompleted);
            Assert.InRange(memory.HeldBytes, 1000, 2000);
            Assert.Equal(answer[..ResponseBuffer.PartBytes], await ReadAvailableAsync(connection.Reader));
            Assert.Equal(answer[ResponseBuffer.PartBytes..], await ReadAvailableAsync(connection.Reader));
            await sending;
            Assert.Equal((0, 0), (buffer.Length, memory.HeldBytes));
        }
    }

    private static async Task<byte[]> ReadAvailableAsync(PipeReader reader)
    {
        var read = await reader.ReadAsync();
        byte[] bytes = read.Buffer.ToArray();
        reader.AdvanceTo(read.Buffer.End);
        return bytes;
    }
}
