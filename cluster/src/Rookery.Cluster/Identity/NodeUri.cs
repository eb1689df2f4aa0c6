namespace Rookery.Cluster.Identity;

/// <summary>
/// How a certificate says whose it is: <c>rookery://&lt;cluster id&gt;/node/&lt;node id&gt;</c> for a member,
/// <c>rookery://&lt;cluster id&gt;/client/&lt;name&gt;</c> for a client. Compared byte by byte and never by
/// <see cref="Uri"/>, which would make the random cluster id lower case.
/// </summary>
internal static class NodeUri
{
    private const string Scheme = "rookery://";

    /// <summary>The URI of a member.</summary>
    public static string OfNode(string clusterId, string nodeId) => NodePrefix(clusterId) + nodeId;

    /// <summary>The URI of a client. Names hold nothing that a URI would escape (<see cref="MemberName"/>).</summary>
    public static string OfClient(string clusterId, string name) => ClientPrefix(clusterId) + name;

    /// <summary>The node id in a URI of this cluster; null in any other.</summary>
    public static string? NodeIn(string uri, string clusterId) => After(uri, NodePrefix(clusterId));

    /// <summary>The client's name in a URI of this cluster; null in any other.</summary>
    public static string? ClientIn(string uri, string clusterId) => After(uri, ClientPrefix(clusterId));

    private static string NodePrefix(string clusterId) => $"{Scheme}{clusterId}/node/";

    private static string ClientPrefix(string clusterId) => $"{Scheme}{clusterId}/client/";

    private static string? After(string uri, string prefix) =>
        uri.StartsWith(prefix, StringComparison.Ordinal) && uri.Length > prefix.Length ? uri[prefix.Length..] : null;
}
