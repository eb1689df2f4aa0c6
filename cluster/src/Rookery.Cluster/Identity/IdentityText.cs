using System.Text;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The file <c>cluster</c> of an <see cref="IdentityDirectory"/>. It has one line for each value: format version, ids,
/// names, tag, the last known peers, the configured addresses, and whether the node is a mirror. No value contains a
/// space.
/// </summary>
internal sealed record IdentityText(
    string ClusterId,
    string ClusterName,
    string NodeId,
    string NodeName,
    string Tag,
    IReadOnlyList<KnownPeer> Peers
)
{
    public IReadOnlyList<string> ConfiguredAddresses { get; init; } = [];

    public string? ConfiguredUrl { get; init; }

    public bool IsMirror { get; init; }

    private const string Heading = "rookery identity 1\n";

    public static IdentityText Of(NodeIdentity identity) =>
        new(identity.ClusterId, identity.ClusterName, identity.NodeId, identity.NodeName, identity.Tag, identity.Peers)
        {
            ConfiguredAddresses = identity.ConfiguredAddresses,
            ConfiguredUrl = identity.ConfiguredUrl,
            IsMirror = identity.IsMirror,
        };

    /// <summary>Parses a text; null when it has another format.</summary>
    public static IdentityText? Parse(string text)
    {
        string[][] lines = [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line.Split(' '))];
        string? ValueOf(string word) =>
            Array
                .Find(lines, line => line is [var first, _] && string.Equals(first, word, StringComparison.Ordinal))
                ?[1];
        if (
            !text.StartsWith(Heading, StringComparison.Ordinal)
            || ValueOf("cluster") is not { } cluster
            || ValueOf("cluster-name") is not { } clusterName
            || ValueOf("node") is not { } node
            || ValueOf("node-name") is not { } nodeName
            || ValueOf("tag") is not { } tag
        )
        {
            return null;
        }

        var peers = lines.Where(line => line is ["peer", _, ..]).Select(line => new KnownPeer(line[1], line[2..]));
        return new IdentityText(cluster, clusterName, node, nodeName, tag, [.. peers])
        {
            ConfiguredAddresses = Array.Find(lines, static line => line is ["reached-at", ..])?[1..] ?? [],
            ConfiguredUrl = ValueOf("clients-at"),
            IsMirror = ValueOf("chosen") is "mirror",
        };
    }

    public override string ToString()
    {
        var text = new StringBuilder(Heading);
        text.Append("cluster ").Append(ClusterId).Append('\n');
        text.Append("cluster-name ").Append(ClusterName).Append('\n');
        text.Append("node ").Append(NodeId).Append('\n');
        text.Append("node-name ").Append(NodeName).Append('\n');
        text.Append("tag ").Append(Tag).Append('\n');
        foreach (var peer in Peers)
        {
            text.Append("peer ").AppendJoin(' ', [peer.NodeId, .. peer.Addresses]).Append('\n');
        }

        if (ConfiguredAddresses.Count > 0)
        {
            text.Append("reached-at ").AppendJoin(' ', ConfiguredAddresses).Append('\n');
        }

        if (ConfiguredUrl is not null)
        {
            text.Append("clients-at ").Append(ConfiguredUrl).Append('\n');
        }

        if (IsMirror)
        {
            text.Append("chosen mirror\n");
        }

        return text.ToString();
    }
}
