using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// A request that cannot be answered as asked. The message says what is wrong, where, and what to do. Thrown on cold
/// paths only; <see cref="RavenRoute"/> turns it into an error answer.
/// </summary>
/// <param name="status">The HTTP status.</param>
/// <param name="type">The full name of the exception that RavenDB's clients throw.</param>
/// <param name="message">One or two sentences for the caller.</param>
internal sealed class RefusedException(int status, string type, string message) : Exception(message)
{
    public int Status => status;

    public string Type => type;

    /// <summary>The request itself is wrong: 400.</summary>
    public static RefusedException BadRequest(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.BadRequest, message);

    /// <summary>
    /// The request names something unsupported: 501, because RavenDB's clients read 404 as "no result".
    /// </summary>
    public static RefusedException NotSupported(string message) =>
        new(StatusCodes.Status501NotImplemented, RavenType.NotSupported, message);

    /// <summary>The node stops and begins nothing new: 503, on which RavenDB's clients try another node.</summary>
    public static RefusedException NodeStops() =>
        new(StatusCodes.Status503ServiceUnavailable, RavenType.RavenException, Readiness.NodeStops);

    /// <summary>The query's text cannot be parsed: 400.</summary>
    public static RefusedException InvalidQuery(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.InvalidQuery, message);
}
