using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

public sealed class AnswerBufferTests
{
    [Fact]
    public async Task A_sent_buffer_is_disposed_once()
    {
        // On one thread, so that the kept buffer is the one that was returned.
        var answer = AnswerBuffer.Rent();
        answer.Write("{}"u8);
        Assert.True(answer.SendAsync(new DefaultHttpContext()).IsCompletedSuccessfully);
        Assert.NotSame(answer, AnswerBuffer.Rent());
        answer.Dispose();
        Assert.Same(answer, AnswerBuffer.Rent());

        await answer.SendAndDisposeAsync(new DefaultHttpContext());
        Assert.Throws<Platform.InvariantViolationException>(answer.Dispose);
    }

    [Fact]
    public async Task A_buffer_holds_only_unsent_bytes_while_its_client_reads_nothing()
    {
        var memory = new AnswerMemory(1 << 20);
        var connection = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 0));
        var http = new DefaultHttpContext();
        http.Response.Body = connection.Writer.AsStream();
        byte[] answer = new byte[AnswerBuffer.PartBytes + 1000];
        Random.Shared.NextBytes(answer);
        using var buffer = new AnswerBuffer(memory);
        for (int round = 0; round < 2; round++)
        {
            buffer.Write(answer);
            var sending = buffer.SendPartAsync(http, pause: null);
            Assert.False(sending.IsCompleted);
            Assert.InRange(memory.HeldBytes, 1000, 2000);
            Assert.Equal(answer[..AnswerBuffer.PartBytes], await TakeAsync(connection.Reader));
            Assert.Equal(answer[AnswerBuffer.PartBytes..], await TakeAsync(connection.Reader));
            await sending;
            Assert.Equal((0, 0), (buffer.Length, memory.HeldBytes));
        }
    }

    private static async Task<byte[]> TakeAsync(PipeReader reader)
    {
        var read = await reader.ReadAsync();
        byte[] bytes = read.Buffer.ToArray();
        reader.AdvanceTo(read.Buffer.End);
        return bytes;
    }
}
