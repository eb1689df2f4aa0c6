using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;

namespace Rookery.Hosting;

/// <summary>
/// What the node shows of itself to clients over TLS: its certificate as a member, for the cluster's room knows it. A
/// renewed one is shown from the next handshake on.
/// </summary>
internal sealed class ShownIdentity
{
    private Shown _shown;

    private ShownIdentity(NodeIdentity identity)
    {
        Ids = new NodeIds(identity.NodeId, identity.ClusterId);
        Tag = identity.Tag;
        Name = identity.NodeName;
        ClusterName = identity.ClusterName;
        _shown = new Shown(identity);
    }

    /// <summary>Whose data a new data directory becomes.</summary>
    public NodeIds Ids { get; }

    /// <summary>The node's name when it started.</summary>
    public string Name { get; }

    /// <summary>The cluster's name.</summary>
    public string ClusterName { get; }

    /// <summary>The node's letter, given once.</summary>
    public string Tag { get; }

    /// <summary>What is shown now.</summary>
    public IServerIdentity Current => Volatile.Read(ref _shown);

    /// <summary>Reads who the node of a data directory is.</summary>
    /// <returns>Null when it never was in a cluster, and needs no certificate.</returns>
    /// <exception cref="ConfigurationException">It needs one and has none, or what it has cannot be used.</exception>
    public static ShownIdentity? TryLoad(IDisk disk, ServeConfiguration configuration)
    {
        try
        {
            var identity = IdentityDirectory.TryLoad(disk, configuration.DataDirectory);
            return identity is not null ? new ShownIdentity(identity)
                : !configuration.IsSecure ? null
                : throw new ConfigurationException(
                    $"Listening on {configuration.Url} needs a certificate, and {configuration.DataDirectory}"
                        + $" holds none. Make one, and an authority that signs it, with `rookery cluster init`."
                );
        }
        catch (IdentityException unusable)
        {
            throw new ConfigurationException(unusable.Message);
        }
    }

    /// <summary>Shows a renewed certificate, or new authorities.</summary>
    public void Show(NodeIdentity identity) => Volatile.Write(ref _shown, new Shown(identity));

    // Never disposed: connections that began with it still use it, and there are few in the life of a process.
    private sealed class Shown(NodeIdentity identity) : IServerIdentity
    {
        private readonly ClientCertificateRule _rule = identity.ClientRule;

        public X509Certificate2 Certificate { get; } = identity.CertificateForClientsWithKey();

        public X509Certificate2Collection Authorities { get; } = [.. identity.Authorities];

        // In 1970 no certificate has ended.
        public string? WhyRefused(X509Certificate2 client, ClusterTime now) =>
            _rule.WhyRefused(client, now is { IsSure: true, Known: { } sure } ? sure : DateTimeOffset.UnixEpoch);

        public X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now)
        {
            using var authority = identity.OpenAuthority();
            return authority.SignClient(key, name, now);
        }
    }
}
