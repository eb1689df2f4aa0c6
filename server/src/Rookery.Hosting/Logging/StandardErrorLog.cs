using Microsoft.Extensions.Logging;
using Rookery.Platform;
using Rookery.Server.Support;

namespace Rookery.Hosting.Logging;

/// <summary>
/// The log: one line an event. systemd's journal gets each with its grade and number as fields; containers and
/// terminals get it on stderr, with the time unless somebody else stamps it. The last lines stay in memory, for whoever
/// asks the node.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="stream">Where lines go that the journal does not take; null for stderr.</param>
/// <param name="journal">systemd's journal, where stderr is connected with it.</param>
internal sealed class StandardErrorLog(TimeProvider time, StandardStream? stream, JournalSocket? journal) : ILogger
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private readonly bool _stampedByOthers = Environment.GetEnvironmentVariable("JOURNAL_STREAM") is not null;
    private readonly StandardStream _stream = stream ?? StandardStream.Error;
    private readonly Lock _oneLine = new();
    private long _lost;

    /// <summary>The log of this process.</summary>
    /// <param name="time">The clock.</param>
    public StandardErrorLog(TimeProvider time)
        : this(time, stream: null, JournalSocket.TryOpen()) { }

    /// <summary>The last lines.</summary>
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
        // Names and reasons that others sent may stand in it: nobody else begins a line here.
        string said = VisibleText.OfLine(formatter(state, exception));
        said = exception is null ? said : $"{said}: {VisibleText.OnOneLine(exception.ToString())}";
        Recent.Add(now, logLevel, eventId, said);
        string text = $"{NameOf(logLevel)}: {said}";
        if (journal?.TrySend(logLevel, eventId, text) == true)
        {
            return;
        }

        // The journal takes the grade of a line from a number before it (sd-daemon(3)).
        string stamp =
            journal is not null ? $"<{JournalSocket.PriorityOf(logLevel)}>"
            : _stampedByOthers ? string.Empty
            : now.ToString("yyyy-MM-ddTHH:mm:ss.fffZ ");
        lock (_oneLine)
        {
            Write(stamp, text);
        }
    }

    /// <summary>
    /// Writes a line. A disk that is full must not end a node for its log, nor may a reader who reads nothing hold it
    /// up: after one wait lines are lost until he goes on, and then it is said how many.
    /// </summary>
    private void Write(string stamp, string text)
    {
        // What was taken of the first lost line has no end yet.
        string before =
            _lost == 0
                ? string.Empty
                : $"\n{stamp}warning: Nobody read the log for a while; {Amount.Of(_lost, "line")} did not come here.\n";
        _lost = _stream.TryWriteWithin($"{before}{stamp}{text}\n", _lost > 0 ? TimeSpan.Zero : Patience)
            ? 0
            : _lost + 1;
    }

    private static string NameOf(LogLevel level) =>
        level switch
        {
            LogLevel.Information => "info",
            LogLevel.Warning => "warning",
            _ => "error",
        };
}
