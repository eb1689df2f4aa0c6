using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>
/// Tells systemd how the service is, by datagrams to $NOTIFY_SOCKET (sd_notify(3)); does nothing when nobody asked.
/// While $WATCHDOG_USEC is set for this process it sends a sign of life twice per period. What it tells lies also in
/// the file <c>status</c> of the directory that systemd gave the service for the time that it runs
/// ($RUNTIME_DIRECTORY), which a path unit can watch: the card image shows it on its screen.
/// </summary>
internal sealed class SystemdNotifier : IDisposable
{
    private const string FileName = "status";

    private readonly IDisk _disk;
    private readonly string? _directory = Environment.GetEnvironmentVariable("RUNTIME_DIRECTORY")
        is { Length: > 0 } directories
        ? directories.Split(':')[0]
        : null;
    private readonly Socket? _socket;
    private readonly ITimer? _watchdog;
    private string? _told;

    public SystemdNotifier(IDisk disk, TimeProvider time)
    {
        _disk = disk;
        if (Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is not { Length: > 1 } path)
        {
            return;
        }

        // A leading @ names a socket in the abstract namespace, whose real first byte is zero.
        _socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        _socket.Connect(new UnixDomainSocketEndPoint(path[0] == '@' ? '\0' + path[1..] : path));
        if (WatchdogPeriod() is { } period)
        {
            _watchdog = time.CreateTimer(
                static notifier => ((SystemdNotifier)notifier!).Send("WATCHDOG=1"),
                this,
                period / 2,
                period / 2
            );
        }
    }

    /// <summary>
    /// The service works, or works in diagnosis mode; <paramref name="status"/> as in <see cref="Tell"/>.
    /// </summary>
    public void Ready(string status)
    {
        Send("READY=1");
        Tell(status);
    }

    /// <summary>
    /// What the node does from now on, in one line, which `systemctl status` shows. From one thread at a time.
    /// </summary>
    public void Tell(string status)
    {
        if (string.Equals(_told, status, StringComparison.Ordinal))
        {
            return;
        }

        _told = status;

        // Others' words may be among it: a line end would begin another assignment.
        string line = string.Concat(status.Select(static letter => char.IsControl(letter) ? ' ' : letter));
        Send("STATUS=" + line);
        try
        {
            if (_directory is not null)
            {
                LocalAccess.Write(_disk, _directory, FileName, line + "\n");
            }
        }
        catch (DiskException)
        {
            // The screen stays behind; the log has the same.
        }
    }

    /// <summary>The service ends.</summary>
    public void Stopping() => Send("STOPPING=1\nSTATUS=Stopping.");

    public void Dispose()
    {
        _watchdog?.Dispose();
        _socket?.Dispose();
    }

    private static TimeSpan? WatchdogPeriod()
    {
        bool forAnother =
            Environment.GetEnvironmentVariable("WATCHDOG_PID") is { Length: > 0 } process
            && !string.Equals(
                process,
                Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
                StringComparison.Ordinal
            );
        return
            !forAnother
            && long.TryParse(
                Environment.GetEnvironmentVariable("WATCHDOG_USEC"),
                CultureInfo.InvariantCulture,
                out long microseconds
            )
            && microseconds > 0
            ? TimeSpan.FromMicroseconds(microseconds)
            : null;
    }

    private void Send(string state)
    {
        try
        {
            _socket?.Send(Encoding.UTF8.GetBytes(state));
        }
        catch (SocketException)
        {
            // systemd went away or restarts; it asks again by killing us when it cares (WatchdogSec).
        }
    }
}
