using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// A route for administrators that Rookery.Hosting adds, because its handler needs types of that project.
/// </summary>
/// <param name="Method">The HTTP method.</param>
/// <param name="Path">The path, from the root.</param>
/// <param name="Handler">Answers the request. The caller has the scope "admin", and the node's data are open.</param>
public sealed record AdminRoute(string Method, string Path, RequestDelegate Handler);
