using Microsoft.Extensions.Logging;
using Rookery.Server.Support;

namespace Rookery.Server;

/// <summary>Hands one log to every part of the HTTP server.</summary>
internal sealed class SharedLoggerProvider(ILogger log) : ILoggerProvider
{
    public ILogger CreateLogger(string categoryName) => new ServerLogger(log);

    public void Dispose() { }

    /// <summary>The log without what the server calls an error and is none.</summary>
    private sealed class ServerLogger(ILogger log) : ILogger
    {
        // A request that was refused in the middle of its body, and whose connection is therefore closed without
        // reading the rest (bulk insert).
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
