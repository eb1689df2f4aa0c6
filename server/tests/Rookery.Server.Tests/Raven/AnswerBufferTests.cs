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
}
