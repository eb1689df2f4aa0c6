using Microsoft.Extensions.Logging;

namespace Rookery;

/// <summary>The log: one line an event on stderr, where systemd, containers and terminals look. Lines carry no clock when systemd stamps them.</summary>
internal sealed class StandardErrorLog(TimeProvider time) : ILogger
{
    private readonly bool stampedByOthers = Environment.GetEnvironmentVariable("JOURNAL_STREAM") is not null;
    private readonly Lock oneLine = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel is >= LogLevel.Information and not LogLevel.None;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (!IsEnabled(logLevel))
        {
            return;
        }

        string stamp = stampedByOthers ? string.Empty : time.GetUtcNow().ToString("yyyy-MM-ddTHH:mm:ss.fffZ ");
        string text = $"{stamp}{NameOf(logLevel)}: {formatter(state, exception)}{(exception is null ? string.Empty : ": " + exception)}";
        lock (oneLine)
        {
            Console.Error.WriteLine(exception is null ? OneLine(text) : text);
        }
    }

    // Names and reasons that others sent may stand in it: nobody else begins a line here.
    private static string OneLine(string text) => !text.AsSpan().ContainsAnyInRange('\0', '\x1f') ? text
        : string.Create(text.Length, text, static (line, whole) =>
        {
            for (int i = 0; i < line.Length; i++)
            {
                line[i] = char.IsControl(whole[i]) ? ' ' : whole[i];
            }
        });

    private static string NameOf(LogLevel level) => level switch
    {
        LogLevel.Information => "info",
        LogLevel.Warning => "warning",
        _ => "error",
    };
}
