using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Thrown by a handler that refuses its request. The message says what is wrong, where, and what to do. For cold paths
/// only; <see cref="RavenRoute"/> turns it into an error answer.
/// </summary>
/// <param name="status">The HTTP status.</param>
/// <param name="type">The full name of the exception that RavenDB's clients throw.</param>
/// <param name="message">One or two sentences for the caller.</param>
internal sealed class RefusedException(int status, string type, string message) : Exception(message)
{
    public int Status => status;

    public string Type => type;

    /// <summary>Returns the error for an invalid request: 400.</summary>
    public static RefusedException BadRequest(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.BadRequest, message);

    /// <summary>
    /// Returns the error for a request of something unsupported: 501, because RavenDB's clients read 404 as "no
    /// result".
    /// </summary>
    public static RefusedException NotSupported(string message) =>
        new(StatusCodes.Status501NotImplemented, RavenType.NotSupported, message);

    /// <summary>
    /// Returns the error of a node that stops and begins no new work: 503, on which RavenDB's clients try another node.
    /// </summary>
    public static RefusedException NodeStops() =>
        new(StatusCodes.Status503ServiceUnavailable, RavenType.RavenException, Readiness.NodeStops);

    /// <summary>Returns the error for a query text that cannot be parsed: 400.</summary>
    public static RefusedException InvalidQuery(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.InvalidQuery, message);
}
