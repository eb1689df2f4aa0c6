using System.Security.Cryptography.X509Certificates;
using Rookery.Cluster.Identity;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;

namespace Rookery.Hosting;

/// <summary>
/// The identity that the node presents to clients over TLS: its certificate as a member, signed by the cluster's
/// authority. A renewed certificate is presented from the next handshake on.
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

    /// <summary>The ids of the node and its cluster, which a new data directory gets.</summary>
    public NodeIds Ids { get; }

    /// <summary>The node's name, as it was when the process started.</summary>
    public string Name { get; }

    /// <summary>The cluster's name.</summary>
    public string ClusterName { get; }

    /// <summary>The node's tag, a letter that the cluster assigned to it once.</summary>
    public string Tag { get; }

    /// <summary>The identity that is presented now.</summary>
    public IServerIdentity Current => Volatile.Read(ref _shown);

    /// <summary>Loads the identity of the node of a data directory.</summary>
    /// <returns>The identity; null if the node was never in a cluster and listens without TLS.</returns>
    /// <exception cref="ConfigurationException">The node listens with TLS and has no identity, or its identity cannot
    /// be used.</exception>
    public static ShownIdentity? TryLoad(IDisk disk, ServeConfiguration configuration)
    {
        try
        {
            var identity = IdentityDirectory.TryLoad(disk, configuration.DataDirectory);
            if (identity is not null)
            {
                return new ShownIdentity(identity);
            }

            if (!configuration.IsSecure)
            {
                return null;
            }

            throw new ConfigurationException(
                $"Listening on {configuration.Url} needs a certificate, and {configuration.DataDirectory}"
                    + $" holds none. Make one, and an authority that signs it, with `rookery cluster init`."
            );
        }
        catch (IdentityException unusable)
        {
            throw new ConfigurationException(unusable.Message);
        }
    }

    /// <summary>Presents a renewed certificate or new authorities from now on.</summary>
    public void Show(NodeIdentity identity) => Volatile.Write(ref _shown, new Shown(identity));

    // Never disposed, because open connections still use it. A process creates few of them.
    private sealed class Shown(NodeIdentity identity) : IServerIdentity
    {
        private readonly ClientCertificateRule _rule = identity.ClientRule;

        public X509Certificate2 Certificate { get; } = identity.CertificateForClientsWithKey();

        public X509Certificate2Collection Authorities { get; } = [.. identity.Authorities];

        // Without a trusted time the comparison uses 1970, so that no certificate counts as expired.
        public string? WhyRefused(X509Certificate2 client, ClusterTime now) =>
            _rule.WhyRefused(client, now is { IsSure: true, Known: { } sure } ? sure : DateTimeOffset.UnixEpoch);

        public X509Certificate2 SignClient(PublicKey key, string name, DateTimeOffset now)
        {
            using var authority = identity.OpenAuthority();
            return authority.SignClient(key, name, now);
        }
    }
}
