using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>
/// Reports the state of the service to systemd by datagrams to $NOTIFY_SOCKET (sd_notify(3)); does nothing without that
/// variable. If $WATCHDOG_USEC is set for this process, sends a keep-alive twice per period. The status line is also
/// written to the file <c>status</c> in $RUNTIME_DIRECTORY, from which the card image shows it on the screen.
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
    private readonly UnixDomainSocketEndPoint? _manager;
    private readonly ITimer? _watchdog;
    private string? _lastStatus;

    public SystemdNotifier(IDisk disk)
        : this(disk, Environment.GetEnvironmentVariable("NOTIFY_SOCKET")) { }

    /// <summary>Creates a notifier that sends to a socket.</summary>
    /// <param name="disk">The disk of the file <c>status</c>.</param>
    /// <param name="socketPath">As $NOTIFY_SOCKET. The node serves even if no socket can have this path.</param>
    internal SystemdNotifier(IDisk disk, string? socketPath)
    {
        _disk = disk;
        if (socketPath is not { Length: > 1 } || EndPointOf(socketPath) is not { } manager)
        {
            return;
        }

        // The socket is not connected, because connecting throws if nothing listens, and the exception would end the
        // node.
        _manager = manager;
        _socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        if (ReadWatchdogPeriod() is { } period)
        {
            _watchdog = BeginKeepAlives(() => Send("WATCHDOG=1"), period);
        }
    }

    /// <summary>Calls <paramref name="send"/> at once, and twice per period, until the result is disposed.</summary>
    // Uses a timer of the runtime instead of the node's clock. Its callback runs on the thread pool, so a keep-alive
    // proves that the pool works, which all requests need. The node's clock groups its timers and fires them up to two
    // seconds late, which is too late for a short period.
    internal static ITimer BeginKeepAlives(Action send, TimeSpan period) =>
        TimeProvider.System.CreateTimer(static run => ((Action)run!)(), send, TimeSpan.Zero, period / 2);

    /// <summary>
    /// Reports that the service is up, in diagnosis mode as well, with a status as in <see cref="SetStatus"/>.
    /// </summary>
    public void NotifyReady(string status)
    {
        Send("READY=1");
        SetStatus(status);
    }

    /// <summary>Sets the status line, which `systemctl status` shows. Called by one thread at a time.</summary>
    public void SetStatus(string status)
    {
        if (string.Equals(_lastStatus, status, StringComparison.Ordinal))
        {
            return;
        }

        _lastStatus = status;

        // The status may contain text of other machines, and a line end in it would begin another assignment.
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
            // The screen keeps the old status. The log has the same information.
        }
    }

    /// <summary>Reports that the service is stopping.</summary>
    public void NotifyStopping() => Send("STOPPING=1\nSTATUS=Stopping.");

    public void Dispose()
    {
        _watchdog?.Dispose();
        _socket?.Dispose();
    }

    private static UnixDomainSocketEndPoint? EndPointOf(string path)
    {
        try
        {
            // A leading @ stands for the zero byte that begins a name in the abstract namespace.
            return new UnixDomainSocketEndPoint(path[0] == '@' ? '\0' + path[1..] : path);
        }
        catch (ArgumentException)
        {
            return null; // longer than a path of a socket can be
        }
    }

    private static TimeSpan? ReadWatchdogPeriod()
    {
        bool isForAnotherProcess =
            Environment.GetEnvironmentVariable("WATCHDOG_PID") is { Length: > 0 } process
            && !string.Equals(
                process,
                Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
                StringComparison.Ordinal
            );
        return
            !isForAnotherProcess
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
            if (_manager is not null)
            {
                _socket?.SendTo(Encoding.UTF8.GetBytes(state), _manager);
            }
        }
        catch (SocketException)
        {
            // systemd is restarting or gone. If it misses the keep-alive, it restarts this service (WatchdogSec).
        }
        catch (ObjectDisposedException)
        {
            // A keep-alive that began just before Dispose.
        }
    }
}
