using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Hosting.Logging;

/// <summary>
/// The node's log. Each line goes to systemd's journal, with level and event number as fields, or else to stderr, with
/// a time stamp unless systemd adds one. The last lines are also kept in memory, for the route /admin/logs.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="stream">The stream for lines that the journal does not accept; null for stderr.</param>
/// <param name="journal">systemd's journal; null if stderr is not connected to it.</param>
internal sealed class StandardErrorLog(TimeProvider time, StandardStream? stream, JournalSocket? journal) : ILogger
{
    private static readonly TimeSpan WriteTimeout = TimeSpan.FromSeconds(1);

    private readonly bool _isStampedBySystemd = Environment.GetEnvironmentVariable("JOURNAL_STREAM") is not null;
    private readonly StandardStream _stream = stream ?? StandardStream.Error;
    private readonly Lock _writing = new();
    private long _droppedLines; // since the last line that was written

    /// <summary>The log of this process.</summary>
    /// <param name="time">The clock.</param>
    public StandardErrorLog(TimeProvider time)
        : this(time, stream: null, JournalSocket.TryOpen()) { }

    /// <summary>The last lines of the log, in memory.</summary>
    public LogRing Recent { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel is >= LogLevel.Information and not LogLevel.None;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        if (!IsEnabled(logLevel))
        {
            return;
        }

        var now = time.GetUtcNow();
        // The text may contain strings from clients. A line break in them must not begin a new line of the log.
        string message = VisibleText.OfLine(formatter(state, exception));
        message = exception is null ? message : $"{message}: {VisibleText.OnOneLine(exception.ToString())}";
        Recent.Add(now, logLevel, eventId, message);
        string text = $"{NameOf(logLevel)}: {message}";
        if (journal?.TrySend(logLevel, eventId, text) == true)
        {
            return;
        }

        // The journal reads the level of a line on stderr from a number in angle brackets before the line
        // (sd-daemon(3)).
        string stamp =
            journal is not null ? $"<{JournalSocket.PriorityOf(logLevel)}>"
            : _isStampedBySystemd ? string.Empty
            : now.ToString("yyyy-MM-ddTHH:mm:ss.fffZ ");
        lock (_writing)
        {
            Write(stamp, text);
        }
    }

    /// <summary>
    /// Writes a line to stderr. A failed write does not end the node, and a stalled reader blocks the node for at most
    /// one second. Then lines are dropped until the reader continues, and their number is logged.
    /// </summary>
    private void Write(string stamp, string text)
    {
        // Begins with a line end, because the first dropped line may have been written in part, without its own.
        string before =
            _droppedLines == 0
                ? string.Empty
                : $"\n{stamp}warning: The log was not read for a while; "
                    + $"{Amount.Of(_droppedLines, "line")} were dropped.\n";
        var timeout = _droppedLines > 0 ? TimeSpan.Zero : WriteTimeout;
        bool isWritten = _stream.TryWriteWithin($"{before}{stamp}{text}\n", timeout);
        _droppedLines = isWritten ? 0 : _droppedLines + 1;
    }

    private static string NameOf(LogLevel level) =>
        level switch
        {
            LogLevel.Information => "info",
            LogLevel.Warning => "warning",
            _ => "error",
        };
}
