using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Rookery.Server.Tests;

/// <summary>Records warnings and errors, with their exceptions.</summary>
public sealed class RecordedLog : ILogger
{
    public ConcurrentQueue<string> Lines { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public void Log<TState>(
        LogLevel logLevel,
        EventId eventId,
        TState state,
        Exception? exception,
        Func<TState, Exception?, string> formatter
    )
    {
        if (IsEnabled(logLevel))
        {
            Lines.Enqueue($"{formatter(state, exception)} {exception}");
        }
    }
}
