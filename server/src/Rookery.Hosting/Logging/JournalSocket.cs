using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Rookery.Hosting.Logging;

/// <summary>
/// Sends log lines to systemd's journal, each as a datagram of fields (https://systemd.io/JOURNAL_NATIVE_PROTOCOL), so
/// that `journalctl -u rookery ROOKERY_EVENT=1103` selects one event. Used if systemd connected stderr to the journal.
/// The caller writes a line to stderr if the socket does not accept it.
/// </summary>
internal sealed class JournalSocket : IDisposable
{
    private const string SocketPath = "/run/systemd/journal/socket";

    private readonly Socket _socket;

    private JournalSocket(Socket socket) => _socket = socket;

    /// <summary>
    /// Connects to the journal; returns null if stderr is not connected to it, or if it does not run.
    /// </summary>
    public static JournalSocket? TryOpen()
    {
        // The variable contains "DEVICE:INODE" of the socket that systemd passed as stderr. It stays set if stderr is
        // redirected later (systemd.exec(5)), so the inode is compared.
        return
            Environment.GetEnvironmentVariable("JOURNAL_STREAM")?.Split(':') is [_, var inode]
            && string.Equals(StandardErrorSocket(), inode, StringComparison.Ordinal)
            ? TryConnect(SocketPath)
            : null;
    }

    /// <summary>Connects to a socket; returns null if nothing listens on it.</summary>
    internal static JournalSocket? TryConnect(string path)
    {
        // Non-blocking, because a stalled journal must not block the caller: a line that the socket does not accept at
        // once is not sent.
        var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified) { Blocking = false };
        try
        {
            socket.Connect(new UnixDomainSocketEndPoint(path));
            return new JournalSocket(socket);
        }
        catch (SocketException)
        {
            socket.Dispose();
            return null;
        }
    }

    /// <summary>Sends a line.</summary>
    /// <returns>False if the socket did not accept the line.</returns>
    public bool TrySend(LogLevel level, EventId id, string text)
    {
        try
        {
            _socket.Send(Encode(level, id, text));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    public void Dispose() => _socket.Dispose();

    /// <summary>
    /// Encodes the fields of a line. Values are written with their length, so that a line end in a value cannot begin
    /// another field.
    /// </summary>
    internal static byte[] Encode(LogLevel level, EventId id, string text)
    {
        var fields = new ArrayBufferWriter<byte>();
        Write(fields, "PRIORITY", PriorityOf(level).ToString(CultureInfo.InvariantCulture));
        Write(fields, "SYSLOG_IDENTIFIER", "rookery");
        if (id.Id != 0)
        {
            Write(fields, "ROOKERY_EVENT", id.Id.ToString(CultureInfo.InvariantCulture));
            Write(fields, "ROOKERY_EVENT_NAME", id.Name ?? string.Empty);
        }

        Write(fields, "MESSAGE", text);
        return fields.WrittenSpan.ToArray();
    }

    /// <summary>Returns the priority number of syslog(3).</summary>
    internal static int PriorityOf(LogLevel level) =>
        level switch
        {
            LogLevel.Critical => 2,
            LogLevel.Error => 3,
            LogLevel.Warning => 4,
            _ => 6,
        };

    private static void Write(ArrayBufferWriter<byte> fields, string name, string value)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(value);
        fields.Write(Encoding.ASCII.GetBytes(name));
        fields.Write("\n"u8);
        BinaryPrimitives.WriteUInt64LittleEndian(fields.GetSpan(sizeof(ulong)), (ulong)bytes.Length);
        fields.Advance(sizeof(ulong));
        fields.Write(bytes);
        fields.Write("\n"u8);
    }

    private static string? StandardErrorSocket()
    {
        try
        {
            return
                new FileInfo("/proc/self/fd/2").LinkTarget is { } target
                && target.StartsWith("socket:[", StringComparison.Ordinal)
                ? target["socket:[".Length..^1]
                : null;
        }
        catch (Exception unknown) when (unknown is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
