using Microsoft.AspNetCore.Builder;

namespace Rookery.Server.Access;

/// <summary>
/// Endpoint metadata: which scopes a route needs. Every route has one; the server does not start if one is missing.
/// </summary>
internal sealed class RouteScope
{
    private RouteScope(AccessScopes scopes, string name) => (Scopes, Name) = (scopes, name);

    /// <summary>Open to every caller: health, the manual, and how to authenticate.</summary>
    public static RouteScope Open { get; } = new(AccessScopes.None, "open");

    /// <summary>Reads documents of the database in the path.</summary>
    public static RouteScope Read { get; } = new(AccessScopes.Read, "read");

    /// <summary>Writes documents of the database in the path.</summary>
    public static RouteScope Write { get; } = new(AccessScopes.Write, "write");

    /// <summary>Changes documents that a query finds, which reveals what they contain.</summary>
    public static RouteScope ReadAndWrite { get; } =
        new(AccessScopes.Read | AccessScopes.Write, "read and write") { NeedsAll = true };

    /// <summary>Requests that both readers and writers send: topology, their own operations, settings.</summary>
    public static RouteScope ReadOrWrite { get; } = new(AccessScopes.Read | AccessScopes.Write, "read or write");

    /// <summary>As <see cref="ReadOrWrite"/>, for the database in the query parameter <c>name</c>.</summary>
    public static RouteScope NamedDatabase { get; } =
        new(AccessScopes.Read | AccessScopes.Write, "read or write") { IsNamedInQuery = true };

    /// <summary>Administers the node or the cluster.</summary>
    public static RouteScope Admin { get; } = new(AccessScopes.Admin, "admin");

    /// <summary>Reads metrics of the node.</summary>
    public static RouteScope Metrics { get; } = new(AccessScopes.Metrics, "metrics");

    /// <summary>
    /// The scopes that the route needs; none for <see cref="Open"/>. <see cref="AccessScopes.Admin"/> includes every
    /// other.
    /// </summary>
    public AccessScopes Scopes { get; }

    /// <summary>Whether all of <see cref="Scopes"/> are needed; otherwise one is enough.</summary>
    public bool NeedsAll { get; private init; }

    /// <summary>Name in messages and in docs/reference/access.md.</summary>
    public string Name { get; }

    /// <summary>Whether the query string names the database instead of the path.</summary>
    public bool IsNamedInQuery { get; private init; }

    /// <summary>Whether a caller may use the route.</summary>
    /// <param name="principal">The caller.</param>
    /// <param name="database">Name of the database; null if the request names none.</param>
    public bool Admits(Principal principal, string? database) =>
        NeedsAll ? principal.HasAllScopes(Scopes, database) : principal.HasScope(Scopes, database);
}

/// <summary>Attaches scopes to routes.</summary>
internal static class RouteScopes
{
    /// <summary>Sets the scope of the route.</summary>
    public static TBuilder For<TBuilder>(this TBuilder route, RouteScope scope)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(scope);
}
