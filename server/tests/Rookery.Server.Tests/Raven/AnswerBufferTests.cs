using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

public sealed class AnswerBufferTests
{
    [Fact]
    public async Task A_buffer_that_was_sent_is_given_back_once_by_whoever_rented_it()
    {
        // On the same thread, so that the one kept is the one given back.
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
