namespace Rookery.Cluster.Identity;

/// <summary>
/// The URI in a certificate that identifies its subject: <c>rookery://&lt;cluster id&gt;/node/&lt;node id&gt;</c> for a
/// member, <c>rookery://&lt;cluster id&gt;/client/&lt;name&gt;</c> for a client. Compared byte by byte:
/// <see cref="Uri"/> would convert the random cluster id to lower case.
/// </summary>
internal static class NodeUri
{
    private const string Scheme = "rookery://";

    /// <summary>Returns the URI of a member.</summary>
    public static string OfNode(string clusterId, string nodeId) => NodePrefix(clusterId) + nodeId;

    /// <summary>
    /// Returns the URI of a client. Names contain nothing that needs escaping (<see cref="MemberName"/>).
    /// </summary>
    public static string OfClient(string clusterId, string name) => ClientPrefix(clusterId) + name;

    /// <summary>Returns the node id of a URI of this cluster; null for any other URI.</summary>
    public static string? NodeIn(string uri, string clusterId) => After(uri, NodePrefix(clusterId));

    /// <summary>Returns the client's name of a URI of this cluster; null for any other URI.</summary>
    public static string? ClientIn(string uri, string clusterId) => After(uri, ClientPrefix(clusterId));

    private static string NodePrefix(string clusterId) => $"{Scheme}{clusterId}/node/";

    private static string ClientPrefix(string clusterId) => $"{Scheme}{clusterId}/client/";

    private static string? After(string uri, string prefix) =>
        uri.StartsWith(prefix, StringComparison.Ordinal) && uri.Length > prefix.Length ? uri[prefix.Length..] : null;
}
