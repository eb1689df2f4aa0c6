using Microsoft.AspNetCore.Http;

namespace Rookery.Server;

/// <summary>
/// A route for owners that the program at the top adds, because what it does is another room's affair.
/// </summary>
/// <param name="Method">The HTTP method.</param>
/// <param name="Path">The path, from the root.</param>
/// <param name="Handler">Answers; who asks may administrate, and the node's data are open.</param>
public sealed record AdminRoute(string Method, string Path, RequestDelegate Handler);
