using System.IO.Pipelines;
using System.Text;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>What one subscription and one worker may take of a node.</summary>
public sealed class SubscriptionBoundsTests
{
    [Fact]
    public async Task Messages_are_read_however_their_bytes_arrive()
    {
        string[] messages = ["""{"a":"}\"{\\"}""", """{"b":{"c":1} }"""];
        var pipe = new Pipe();
        var reader = new MessageReader(pipe.Reader);
        foreach (string message in messages)
        {
            var reading = reader.ReadAsync(CancellationToken.None).AsTask();
            foreach (byte part in Encoding.UTF8.GetBytes(" " + message))
            {
                Assert.False(reading.IsCompleted);
                await pipe.Writer.WriteAsync(new[] { part });
            }

            Assert.Equal(message, Encoding.UTF8.GetString((await reading)!));
        }

        await pipe.Writer.WriteAsync(Encoding.UTF8.GetBytes(messages[0] + "\r\n" + messages[1]));
        Assert.Equal(messages[0], Encoding.UTF8.GetString((await reader.ReadAsync(CancellationToken.None))!));
        Assert.Equal(messages[1], Encoding.UTF8.GetString((await reader.ReadAsync(CancellationToken.None))!));
    }
}
