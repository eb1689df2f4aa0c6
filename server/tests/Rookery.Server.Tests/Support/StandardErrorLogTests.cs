using Microsoft.Extensions.Logging;

namespace Rookery.Server.Tests.Support;

public sealed class StandardErrorLogTests
{
    [Fact]
    public void An_event_is_one_line_whatever_its_message_and_its_fault_say()
    {
        var log = new StandardErrorLog(TimeProvider.System);
        var inner = new IOException("inner\nline");
        var fault = new IOException("Disk full\r\ninfo: all is well\nsaid\rsomebody\u001b[2J", inner);
        log.Log(LogLevel.Error, new EventId(1), "no\nroom", fault, static (state, _) => state);
        string line = Assert.Single(log.Recent.Read(null, 10)).Text;
        Assert.DoesNotContain(line, static sign => char.IsControl(sign));
        string begin = "no room: System.IO.IOException: Disk full\\ninfo: all is well\\nsaid\\nsomebody\\u001b[2J\\n";
        Assert.StartsWith(begin, line, StringComparison.Ordinal);
        Assert.Contains("inner\\nline", line, StringComparison.Ordinal);
    }
}
