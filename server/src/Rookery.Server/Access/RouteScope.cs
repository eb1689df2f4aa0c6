using Microsoft.AspNetCore.Builder;

namespace Rookery.Server;

/// <summary>Endpoint metadata: who may use a route. Every route carries one; the server does not start when one lacks it.</summary>
internal sealed class RouteScope
{
    private RouteScope(AccessScopes anyOf, string name) => (AnyOf, Name) = (anyOf, name);

    /// <summary>Everybody who reaches the port: signs of life, the manual, and what tells a client how to get in.</summary>
    public static RouteScope Open { get; } = new(AccessScopes.None, "open");

    /// <summary>Reads documents of the database in the path.</summary>
    public static RouteScope Read { get; } = new(AccessScopes.Read, "read");

    /// <summary>Changes documents of the database in the path.</summary>
    public static RouteScope Write { get; } = new(AccessScopes.Write, "write");

    /// <summary>What a client of any database needs before it reads or writes: topology, its own operations, settings.</summary>
    public static RouteScope ReadOrWrite { get; } = new(AccessScopes.Read | AccessScopes.Write, "read or write");

    /// <summary>As <see cref="ReadOrWrite"/>, of the database that the query parameter <c>name</c> names.</summary>
    public static RouteScope NamedDatabase { get; } = new(AccessScopes.Read | AccessScopes.Write, "read or write") { IsNamedInQuery = true };

    /// <summary>Concerns the node or the cluster as a whole.</summary>
    public static RouteScope Admin { get; } = new(AccessScopes.Admin, "admin");

    /// <summary>Figures of the node.</summary>
    public static RouteScope Metrics { get; } = new(AccessScopes.Metrics, "metrics");

    /// <summary>One of these is needed; none for <see cref="Open"/>. <see cref="AccessScopes.Admin"/> includes every other.</summary>
    public AccessScopes AnyOf { get; }

    /// <summary>As written in messages and in docs/reference/access.md.</summary>
    public string Name { get; }

    /// <summary>Whether the database is named by the query instead of the path.</summary>
    public bool IsNamedInQuery { get; private init; }
}

/// <summary>How routes are given their scope.</summary>
internal static class RouteScopes
{
    /// <summary>Says who may use the route.</summary>
    public static TBuilder For<TBuilder>(this TBuilder route, RouteScope scope)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(scope);
}
