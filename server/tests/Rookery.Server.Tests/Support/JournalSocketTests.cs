using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging;
using Rookery.Hosting.Logging;

namespace Rookery.Server.Tests.Support;

/// <summary>Log lines to the socket of systemd's journal, here a socket of the test.</summary>
public sealed class JournalSocketTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("rookery-journal-").FullName;
    private readonly Socket _journal = new(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);

    public JournalSocketTests() => _journal.Bind(new UnixDomainSocketEndPoint(SocketPath));

    private string SocketPath => Path.Combine(_directory, "socket");

    public void Dispose()
    {
        _journal.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [Fact]
    public void A_line_is_one_datagram_of_fields_with_their_lengths()
    {
        using var socket = JournalSocket.TryConnect(SocketPath)!;
        Assert.True(socket.TrySend(LogLevel.Warning, new EventId(1508, "stop_cut_off"), "warning: two\nPRIORITY=0"));
        Assert.Equal(
            [
                ("PRIORITY", "4"),
                ("SYSLOG_IDENTIFIER", "rookery"),
                ("ROOKERY_EVENT", "1508"),
                ("ROOKERY_EVENT_NAME", "stop_cut_off"),
                ("MESSAGE", "warning: two\nPRIORITY=0"),
            ],
            ReceiveFields()
        );
        Assert.True(socket.TrySend(LogLevel.Information, id: default, "ä"));
        Assert.Equal([("PRIORITY", "6"), ("SYSLOG_IDENTIFIER", "rookery"), ("MESSAGE", "ä")], ReceiveFields());
    }

    [Theory]
    [InlineData(LogLevel.Critical, 2)]
    [InlineData(LogLevel.Error, 3)]
    [InlineData(LogLevel.Warning, 4)]
    [InlineData(LogLevel.Information, 6)]
    public void Severities_are_those_of_syslog(LogLevel level, int priority) =>
        Assert.Equal(priority, JournalSocket.PriorityOf(level));

    [Fact]
    public void A_blocked_system_journal_blocks_no_caller()
    {
        using var socket = JournalSocket.TryConnect(SocketPath)!;
        string line = new('x', 8000);
        int sent = 0;
        while (sent < 100_000 && socket.TrySend(LogLevel.Information, id: default, line))
        {
            sent++;
        }

        // Some fit into the buffer of the socket, and then one is refused at once instead of waiting.
        Assert.InRange(sent, 1, 99_999);
        ReceiveFields();
        Assert.True(socket.TrySend(LogLevel.Information, id: default, line));
    }

    [Fact]
    public void A_line_longer_than_a_datagram_is_refused()
    {
        using var socket = JournalSocket.TryConnect(SocketPath)!;
        Assert.False(socket.TrySend(LogLevel.Error, id: default, new string('x', 64 << 20)));
        Assert.True(socket.TrySend(LogLevel.Error, id: default, "short"));
    }

    [Fact]
    public void A_missing_or_vanished_system_journal_accepts_nothing()
    {
        using var socket = JournalSocket.TryConnect(SocketPath)!;
        _journal.Dispose();
        Assert.False(socket.TrySend(LogLevel.Error, id: default, "lost"));
        Assert.Null(JournalSocket.TryConnect(SocketPath + "-elsewhere"));
    }

    // Receives a datagram and returns its fields, each stored as: name, line feed, length as 8 bytes, value, line feed.
    private List<(string Name, string Value)> ReceiveFields()
    {
        byte[] datagram = new byte[64 << 10];
        var bytes = datagram.AsSpan(0, _journal.Receive(datagram));
        var fields = new List<(string, string)>();
        while (!bytes.IsEmpty)
        {
            int name = bytes.IndexOf((byte)'\n');
            int length = (int)BitConverter.ToUInt64(bytes.Slice(name + 1, sizeof(ulong)));
            var value = bytes.Slice(name + 1 + sizeof(ulong), length);
            Assert.Equal((byte)'\n', bytes[name + 1 + sizeof(ulong) + length]);
            fields.Add((Encoding.ASCII.GetString(bytes[..name]), Encoding.UTF8.GetString(value)));
            bytes = bytes[(name + 2 + sizeof(ulong) + length)..];
        }

        return fields;
    }
}
