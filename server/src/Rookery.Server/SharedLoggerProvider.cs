using Microsoft.Extensions.Logging;

namespace Rookery.Server;

/// <summary>Hands one log to every part of the HTTP server.</summary>
internal sealed class SharedLoggerProvider(ILogger log) : ILoggerProvider
{
    public ILogger CreateLogger(string categoryName) => log;

    public void Dispose()
    {
    }
}
