using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Redis;
using Rookery.Documents.Redis.Running;

namespace Rookery.Documents.Tests.Redis;

/// <summary>
/// What members compare of the outcome of Redis commands. It must stay the same if a later version words its errors in
/// another way.
/// </summary>
public sealed class RedisComparisonTests : IDisposable
{
    private readonly RedisNode _node = new();

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData("INCRBY n x", "SETRANGE s -1 x")] // two errors with the code ERR
    [InlineData("LPUSH s 1", "SADD s 1")] // two errors with the code WRONGTYPE
    public void Errors_of_one_code_compare_equal_whatever_they_say(string first, string second) =>
        Assert.Equal(Compared(first), Compared(second));

    [Theory]
    [InlineData("SADD s 1", "INCRBY n x")] // WRONGTYPE and ERR
    [InlineData("LPUSH s 1", "LPUSH l 1")] // an error and a number
    [InlineData("GETDEL n", "SET n 1")] // a string and a status
    [InlineData("INCRBYFLOAT n 1", "INCRBYFLOAT n 2")] // two strings
    public void Other_replies_compare_unequal_if_they_differ(string first, string second) =>
        Assert.NotEqual(Compared(first), Compared(second));

    [Fact]
    public void Each_reply_of_an_entry_is_compared()
    {
        Assert.Equal(Compared("LPUSH s 1", "SET a 1"), Compared("SADD s 1", "SET b 2"));
        Assert.NotEqual(Compared("LPUSH s 1", "SET a 1"), Compared("SET a 1", "LPUSH s 1"));
        Assert.NotEqual(Compared("SET a 1"), Compared("SET a 1", "SET a 1"));
    }

    [Fact]
    public void An_unknown_command_is_of_a_newer_version_and_has_no_reply()
    {
        using var interpreter = new RedisInterpreter();
        using var output = CommandBuffer.Rent();
        var unknown = Assert.Throws<CommandFormatException>(() =>
            interpreter.Run(new SnapshotStore(), (RedisOpcode)255, default, output)
        );
        Assert.Contains("255", unknown.Message, StringComparison.Ordinal);
        Assert.Equal(0, output.Length);
    }

    private long Compared(params string[] lines)
    {
        _node.RunInLog("SET s text", "SET n 1", "DEL l");
        var outcome = _node.Propose(
            guards: [],
            [
                .. lines.Select(static line =>
                    line.Split(' ').Select(static word => Encoding.UTF8.GetBytes(word)).ToArray()
                ),
            ]
        );
        Assert.Null(outcome.Rejection);
        RedisOutcome.Release(outcome);
        return outcome[0].High;
    }
}
