using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging;
using Rookery.Hosting.Logging;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Support;

/// <summary>The log of a node: one line for each event, to stderr or to the system journal.</summary>
public sealed class StandardErrorLogTests
{
    [Fact]
    public void A_log_event_is_always_one_line()
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

    [Fact]
    public void A_line_has_time_and_severity()
    {
        using var pipe = new OsPipe();
        var log = CreateLog(pipe);
        log.LogWarning("The disk is slow.");
        log.LogDebug("Nobody wants to know.");
        log.LogError("The disk is full.");
        // The system journal has times of its own.
        string stamp = Environment.GetEnvironmentVariable("JOURNAL_STREAM") is null
            ? "2026-01-01T00:00:00.000Z "
            : string.Empty;
        Assert.Equal($"{stamp}warning: The disk is slow.\n{stamp}error: The disk is full.\n", pipe.ReadToEnd());
    }

    [Fact]
    public void A_blocked_reader_costs_one_wait_and_learns_how_many_lines_were_dropped()
    {
        using var pipe = new OsPipe();
        var log = CreateLog(pipe);
        int filled = pipe.Fill();
        for (int lost = 0; lost < 100; lost++)
        {
            log.LogWarning("Lost.");
        }

        pipe.Read(filled);
        log.LogWarning("Seen.");
        string[] lines = pipe.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(2, lines.Length);
        Assert.EndsWith(
            "warning: The log was not read for a while; 100 lines were dropped.",
            lines[0],
            StringComparison.Ordinal
        );
        Assert.EndsWith("warning: Seen.", lines[1], StringComparison.Ordinal);
        // Recent lines in memory have all of them.
        Assert.Equal(101, log.Recent.Read(null, 1000).Count);
    }

    [Fact]
    public void A_missing_reader_does_not_end_the_node()
    {
        using var pipe = new OsPipe();
        pipe.CloseReader();
        CreateLog(pipe).LogError("To nobody.");
    }

    [Fact]
    public void Lines_go_to_the_system_journal_or_to_stderr_with_their_severity()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-log-").FullName;
        try
        {
            string place = Path.Combine(directory, "socket");
            using var journal = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            journal.Bind(new UnixDomainSocketEndPoint(place));
            using var socket = JournalSocket.TryConnect(place);
            using var pipe = new OsPipe();
            var log = new StandardErrorLog(new SimulatedTimeProvider(), pipe.Stream, socket);
            log.LogWarning("To the journal.");
            byte[] datagram = new byte[4096];
            string received = Encoding.UTF8.GetString(datagram, 0, journal.Receive(datagram));
            Assert.Contains("warning: To the journal.", received, StringComparison.Ordinal);
            journal.Dispose();
            log.LogError("To stderr.");
            // "<3>" tells the journal the severity of a line on stderr.
            Assert.Equal("<3>error: To stderr.\n", pipe.ReadToEnd());
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    private static StandardErrorLog CreateLog(OsPipe pipe) =>
        new(new SimulatedTimeProvider(), pipe.Stream, journal: null);
}
