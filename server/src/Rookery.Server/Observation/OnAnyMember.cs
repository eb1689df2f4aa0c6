using Microsoft.AspNetCore.Builder;
using Rookery.Server.Raven;

namespace Rookery.Server.Observation;

/// <summary>
/// Endpoint metadata: the route is about one node, which <c>node=TAG</c> in the query string selects. The node that
/// receives the request checks the caller's rights, forwards the request to that member and returns the answer. The
/// route's pattern must have no parameters, and its handler may read no header except Accept.
/// </summary>
public sealed class OnAnyMember
{
    /// <summary>The only instance.</summary>
    public static OnAnyMember Instance { get; } = new();

    private OnAnyMember() { }
}

/// <summary>Marks routes with <see cref="Observation.OnAnyMember"/>.</summary>
public static class OnAnyMemberRoutes
{
    /// <summary>Lets every member forward requests for this route to any other.</summary>
    /// <param name="route">The route, which reads no body.</param>
    /// <param name="parameters">Names of the query parameters that it takes besides <c>node</c>.</param>
    public static TBuilder OnAnyMember<TBuilder>(this TBuilder route, params string[] parameters)
        where TBuilder : IEndpointConventionBuilder =>
        route
            .WithMetadata(Observation.OnAnyMember.Instance)
            .Taking(RouteParameters.WithoutBody([ForwardedRequests.Parameter, .. parameters]));
}
