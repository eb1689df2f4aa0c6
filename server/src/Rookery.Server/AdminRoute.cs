using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// A route for administrators that Rookery.Hosting adds, because its handler needs types of that project.
/// </summary>
/// <param name="Method">The HTTP method.</param>
/// <param name="Path">The path, from the root.</param>
/// <param name="Handler">Answers the request. The caller has the scope "admin", and the node's data are open.</param>
public sealed record AdminRoute(string Method, string Path, RequestDelegate Handler)
{
    /// <summary>Names of the query parameters that the handler obeys; all others are refused.</summary>
    public IReadOnlyList<string> Parameters { get; init; } = [];

    /// <summary>Whether the handler reads a body; otherwise requests with a body are refused.</summary>
    public bool TakesBody { get; init; }
}
