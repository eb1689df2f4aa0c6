using Microsoft.AspNetCore.Builder;

namespace Rookery.Server.Observation;

/// <summary>
/// Endpoint metadata: the route tells of one node, or does something there, and <c>node=TAG</c> in the query says
/// which: the request is then passed on to that member, and its answer back. Who asks is judged by the node that he
/// asked. The route's pattern has no parameters, and who carries it out may not look at headers but Accept.
/// </summary>
public sealed class OnAnyMember
{
    /// <summary>The only instance.</summary>
    public static OnAnyMember Instance { get; } = new();

    private OnAnyMember() { }
}

/// <summary>How such routes are mapped.</summary>
public static class OnAnyMemberRoutes
{
    /// <summary>Lets any member be asked for this route of any other.</summary>
    public static TBuilder OnAnyMember<TBuilder>(this TBuilder route)
        where TBuilder : IEndpointConventionBuilder => route.WithMetadata(Observation.OnAnyMember.Instance);
}
