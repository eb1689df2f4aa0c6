using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Rookery;

/// <summary>
/// Tells systemd how the service is, by datagrams to $NOTIFY_SOCKET (sd_notify(3)); does nothing when nobody asked. While $WATCHDOG_USEC is set for this process
/// it sends a sign of life twice per period.
/// </summary>
internal sealed class SystemdNotifier : IDisposable
{
    private readonly Socket? socket;
    private readonly ITimer? watchdog;

    public SystemdNotifier(TimeProvider time)
    {
        if (Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is not { Length: > 1 } path)
        {
            return;
        }

        // A leading @ names a socket in the abstract namespace, whose real first byte is zero.
        socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(path[0] == '@' ? '\0' + path[1..] : path));
        if (WatchdogPeriod() is { } period)
        {
            watchdog = time.CreateTimer(static notifier => ((SystemdNotifier)notifier!).Send("WATCHDOG=1"), this, period / 2, period / 2);
        }
    }

    /// <summary>The service works, or works in diagnosis mode; <paramref name="status"/> is the line that `systemctl status` shows.</summary>
    public void Ready(string status) => Send("READY=1\nSTATUS=" + status);

    /// <summary>The service ends.</summary>
    public void Stopping() => Send("STOPPING=1\nSTATUS=Stopping.");

    public void Dispose()
    {
        watchdog?.Dispose();
        socket?.Dispose();
    }

    private static TimeSpan? WatchdogPeriod()
    {
        bool forAnother = Environment.GetEnvironmentVariable("WATCHDOG_PID") is { Length: > 0 } process
            && !string.Equals(process, Environment.ProcessId.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
        return !forAnother && long.TryParse(Environment.GetEnvironmentVariable("WATCHDOG_USEC"), CultureInfo.InvariantCulture, out long microseconds) && microseconds > 0
            ? TimeSpan.FromMicroseconds(microseconds)
            : null;
    }

    private void Send(string state)
    {
        try
        {
            socket?.Send(Encoding.UTF8.GetBytes(state));
        }
        catch (SocketException)
        {
            // systemd went away or restarts; it asks again by killing us when it cares (WatchdogSec).
        }
    }
}
