using System.IO.Pipelines;
using System.Text;
using Rookery.Server.Subscriptions;

namespace Rookery.Server.Tests.Subscriptions;

/// <summary>What one subscription and one worker may take of a node.</summary>
public sealed class SubscriptionBoundsTests
{
    [Fact]
    public void One_subscription_has_a_quarter_of_the_workers_and_few_that_wait()
    {
        var small = new ServedSubscriptions(32 << 20); // 32 workers
        for (int i = 0; i < 8; i++)
        {
            Assert.Null(small.Enter((1, 1), NewWorker(OpeningStrategy.Concurrent), out _));
        }

        Assert.Contains(
            "a quarter",
            small.Enter((1, 1), NewWorker(OpeningStrategy.Concurrent), out _)!.Sentence,
            StringComparison.Ordinal
        );
        Assert.Null(small.Enter((1, 2), NewWorker(OpeningStrategy.Concurrent), out _));

        var large = new ServedSubscriptions(1L << 30);
        for (int i = 0; i < 9; i++)
        {
            Assert.Null(large.Enter((1, 1), NewWorker(OpeningStrategy.WaitForFree), out _));
        }

        var refused = large.Enter((1, 1), NewWorker(OpeningStrategy.WaitForFree), out var turn);
        Assert.Contains("wait for the subscription", refused!.Sentence, StringComparison.Ordinal);
        Assert.Null(turn);

        static Worker NewWorker(OpeningStrategy strategy) => new("s", strategy, ConnectedTicks: 1, static _ => { });
    }

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
