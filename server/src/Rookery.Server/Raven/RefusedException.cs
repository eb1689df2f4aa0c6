using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// A request that cannot be answered as asked: what, where, what to do. Thrown on cold paths only;
/// <see cref="RavenRoute"/> turns it into the answer.
/// </summary>
/// <param name="status">The HTTP status.</param>
/// <param name="type">The full name of the exception that RavenDB's clients throw.</param>
/// <param name="message">One or two sentences for the caller.</param>
internal sealed class RefusedException(int status, string type, string message) : Exception(message)
{
    public int Status => status;

    public string Type => type;

    /// <summary>A request that is wrong in itself: 400.</summary>
    public static RefusedException BadRequest(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.BadRequest, message);

    /// <summary>Something we do not do, by name: 501, because RavenDB's clients read 404 as "no result".</summary>
    public static RefusedException NotSupported(string message) =>
        new(StatusCodes.Status501NotImplemented, RavenType.NotSupported, message);

    /// <summary>What this node does not begin any more: 503, by which RavenDB's clients ask another.</summary>
    public static RefusedException NodeStops() =>
        new(StatusCodes.Status503ServiceUnavailable, RavenType.RavenException, Readiness.NodeStops);

    /// <summary>A query whose text cannot be read: 400.</summary>
    public static RefusedException InvalidQuery(string message) =>
        new(StatusCodes.Status400BadRequest, RavenType.InvalidQuery, message);
}
