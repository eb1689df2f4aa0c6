using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>
/// Limits log lines that remote callers can cause: a burst of <see cref="Burst"/>, then one in three minutes. Otherwise
/// one client could displace all other lines from the log. The next line that passes reports the number of dropped
/// lines. Thread-safe.
/// </summary>
/// <param name="log">Log of the node.</param>
/// <param name="time">The clock.</param>
internal sealed class LimitedLog(ILogger log, TimeProvider time) : ILogger
{
    /// <summary>Maximum number of lines that pass in a burst.</summary>
    public const int Burst = 20;

    // One more line passes in each such period, so that the retained log covers a day even if this limit is always
    // reached.
    private static readonly TimeSpan LinePeriod = TimeSpan.FromMinutes(3);

    private readonly Lock _gate = new();
    private readonly long _startedAt = time.GetTimestamp();

    // Lines that have passed, plus unused ones that have lapsed: at most a burst of unused lines is saved up.
    private long _passed;
    private long _dropped;
    private long _reported; // the dropped lines that a logged line has reported

    /// <summary>Number of dropped lines.</summary>
    public long DroppedLines => Interlocked.Read(ref _dropped);

    /// <inheritdoc/>
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => log.BeginScope(state);

    /// <inheritdoc/>
    public bool IsEnabled(LogLevel logLevel) => log.IsEnabled(logLevel);

    /// <inheritdoc/>
    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        if (!TryPass(out long omitted))
        {
            return;
        }

        if (omitted > 0)
        {
            log.LogWarning(
                LogEvents.HttpServer,
                "{Count} lines about requests were omitted: after a burst, one line every three minutes is logged.",
                omitted
            );
        }

        log.Log(logLevel, eventId, state, exception, formatter);
    }

    private bool TryPass(out long omitted)
    {
        lock (_gate)
        {
            // Lines that did not come are saved up, to a burst at most.
            long due = Burst + (time.GetElapsedTime(_startedAt).Ticks / LinePeriod.Ticks);
            _passed = Math.Max(_passed, due - Burst);
            if (_passed >= due)
            {
                _dropped++;
                omitted = 0;
                return false;
            }

            _passed++;
            omitted = _dropped - _reported;
            _reported = _dropped;
            return true;
        }
    }
}
