using Microsoft.AspNetCore.Builder;

namespace Rookery.Server.Access;

/// <summary>
/// Endpoint metadata: who may use a route. Every route carries one; the server does not start when one lacks it.
/// </summary>
internal sealed class RouteScope
{
    private RouteScope(AccessScopes scopes, string name) => (Scopes, Name) = (scopes, name);

    /// <summary>
    /// Everybody who reaches the port: signs of life, the manual, and what tells a client how to get in.
    /// </summary>
    public static RouteScope Open { get; } = new(AccessScopes.None, "open");

    /// <summary>Reads documents of the database in the path.</summary>
    public static RouteScope Read { get; } = new(AccessScopes.Read, "read");

    /// <summary>Changes documents of the database in the path.</summary>
    public static RouteScope Write { get; } = new(AccessScopes.Write, "write");

    /// <summary>Changes what it finds: which documents change, and how many, tells what is in them.</summary>
    public static RouteScope ReadAndWrite { get; } =
        new(AccessScopes.Read | AccessScopes.Write, "read and write") { NeedsAll = true };

    /// <summary>
    /// What a client of any database needs before it reads or writes: topology, its own operations, settings.
    /// </summary>
    public static RouteScope ReadOrWrite { get; } = new(AccessScopes.Read | AccessScopes.Write, "read or write");

    /// <summary>As <see cref="ReadOrWrite"/>, of the database that the query parameter <c>name</c> names.</summary>
    public static RouteScope NamedDatabase { get; } =
        new(AccessScopes.Read | AccessScopes.Write, "read or write") { IsNamedInQuery = true };

    /// <summary>Concerns the node or the cluster as a whole.</summary>
    public static RouteScope Admin { get; } = new(AccessScopes.Admin, "admin");

    /// <summary>Figures of the node.</summary>
    public static RouteScope Metrics { get; } = new(AccessScopes.Metrics, "metrics");

    /// <summary>
    /// What is needed; nothing for <see cref="Open"/>. <see cref="AccessScopes.Admin"/> includes every other.
    /// </summary>
    public AccessScopes Scopes { get; }

    /// <summary>Whether all of <see cref="Scopes"/> are needed, or one of them.</summary>
    public bool NeedsAll { get; private init; }

    /// <summary>As written in messages and in docs/reference/access.md.</summary>
    public string Name { get; }

    /// <summary>Whether the database is named by the query instead of the path.</summary>
    public bool IsNamedInQuery { get; private init; }

    /// <summary>Whether somebody may use the route.</summary>
    /// <param name="principal">Who.</param>
    /// <param name="database">In which database; null for what no database is named for.</param>
    public bool Admits(Principal principal, string? database) =>
        NeedsAll ? principal.MayAll(Scopes, database) : principal.May(Scopes, database);
}

/// <summary>How routes are given their scope.</summary>
internal static class RouteScopes
{
    /// <summary>Says who may use the route.</summary>
    public static TBuilder For<TBuilder>(this TBuilder route, RouteScope scope)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(scope);
}
