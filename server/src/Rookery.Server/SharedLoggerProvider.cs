using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>Makes all parts of the HTTP server write to the same log.</summary>
internal sealed class SharedLoggerProvider(ILogger log) : ILoggerProvider
{
    public ILogger CreateLogger(string categoryName) => new ServerLogger(log);

    public void Dispose() { }

    /// <summary>Forwards log lines except those that Kestrel logs as errors by mistake.</summary>
    private sealed class ServerLogger(ILogger log) : ILogger
    {
        // Logged when a bulk insert is refused in the middle of its body and its connection is closed without reading
        // the rest.
        private const string ClosedBeforeEnd = "RequestBodyDrainBodyReaderInvalidState";

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => log.BeginScope(state);

        public bool IsEnabled(LogLevel logLevel) => log.IsEnabled(logLevel);

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        )
        {
            if (eventId.Name is not ClosedBeforeEnd)
            {
                log.Log(logLevel, LogEvents.HttpServer, state, exception, formatter);
            }
        }
    }
}
