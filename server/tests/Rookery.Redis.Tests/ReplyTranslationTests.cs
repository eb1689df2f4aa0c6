using System.Text;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Tests;

public sealed class ReplyTranslationTests
{
    [Theory]
    [InlineData("+OK\r\n", "+OK\r\n")]
    [InlineData("-ERR no\r\n", "-ERR no\r\n")]
    [InlineData(":7\r\n", ":7\r\n")]
    [InlineData("$2\r\n\r\n\r\n", "$2\r\n\r\n\r\n")]
    [InlineData("_\r\n", "$-1\r\n")]
    [InlineData("#t\r\n", ":1\r\n")]
    [InlineData("#f\r\n", ":0\r\n")]
    [InlineData(",1.5\r\n", "$3\r\n1.5\r\n")]
    [InlineData("(12345678901234567890\r\n", "$20\r\n12345678901234567890\r\n")]
    [InlineData("=6\r\ntxt:ab\r\n", "$2\r\nab\r\n")]
    [InlineData("~2\r\n:1\r\n_\r\n", "*2\r\n:1\r\n$-1\r\n")]
    [InlineData("%1\r\n$1\r\na\r\n*1\r\n,2\r\n", "*2\r\n$1\r\na\r\n*1\r\n$1\r\n2\r\n")]
    [InlineData(">1\r\n:1\r\n", "*1\r\n:1\r\n")]
    [InlineData("*2\r\n*2\r\n:1\r\n:2\r\n*2\r\n:3\r\n_\r\n", "*4\r\n:1\r\n:2\r\n:3\r\n$-1\r\n")]
    [InlineData("*2\r\n$1\r\n0\r\n*2\r\n:1\r\n:2\r\n", "*2\r\n$1\r\n0\r\n*2\r\n:1\r\n:2\r\n")]
    [InlineData("*2\r\n*0\r\n*2\r\n:1\r\n:2\r\n", "*2\r\n*0\r\n*2\r\n:1\r\n:2\r\n")]
    public void Replies_of_version_3_become_those_of_version_2(string reply, string expected)
    {
        Assert.Equal(expected, Translate(reply, version: 2));
        Assert.Equal(reply, Translate(reply, version: 3));
    }

    [Fact]
    public void Null_stands_for_an_array_where_the_command_answers_one() =>
        Assert.Equal("*-1\r\n", Translate("_\r\n", version: 2, isNullArray: true));

    [Theory]
    [InlineData("*1\r\n")]
    [InlineData("*1\r\n?\r\n")]
    [InlineData("*1\r\n$5\r\nab\r\n")]
    [InlineData("=9\r\ntxt:\r\n")]
    [InlineData("%1\r\n:1\r\n")]
    [InlineData("~1\r\n:1\r\n:2\r\n")]
    [InlineData("*x\r\n")]
    [InlineData("*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n")]
    public void Bytes_that_are_no_whole_reply_are_refused(string reply) =>
        Assert.Throws<FormatException>(() => Translate(reply, version: 2));

    private static string Translate(string reply, int version, bool isNullArray = false)
    {
        var to = new ReplyBuffer { Version = version };
        try
        {
            ReplyTranslation.Append(Encoding.Latin1.GetBytes(reply), to, isNullArray);
            return Encoding.Latin1.GetString(to.Written);
        }
        finally
        {
            to.Release();
        }
    }
}
