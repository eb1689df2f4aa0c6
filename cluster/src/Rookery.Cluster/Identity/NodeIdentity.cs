using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Raft;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A member's identity: its ids and names, its key and certificate, and the authorities that it trusts. Stored in an
/// <see cref="IdentityDirectory"/>. Immutable; a change makes a new object.
/// </summary>
public sealed class NodeIdentity : IDisposable
{
    /// <summary>The cluster's random id.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The cluster's <see cref="MemberName"/>.</summary>
    public required string ClusterName { get; init; }

    /// <summary>This node's random id, the same as in its data.</summary>
    public required string NodeId { get; init; }

    /// <summary>This node's <see cref="MemberName"/>.</summary>
    public required string NodeName { get; init; }

    /// <summary>This node's letter, assigned once; clients see it in topologies.</summary>
    public required string Tag { get; init; }

    /// <summary>
    /// The last known other members and their addresses, so that they can be dialled after a restart.
    /// </summary>
    public IReadOnlyList<KnownPeer> Peers { get; init; } = [];

    /// <summary>
    /// The addresses for members, <c>host:port</c>, that the operator configured at the join, in addition to those at
    /// which the node listens.
    /// </summary>
    public IReadOnlyList<string> ConfiguredAddresses { get; init; } = [];

    /// <summary>The URL for clients that the operator configured at the join; null for none.</summary>
    public string? ConfiguredUrl { get; init; }

    /// <summary>
    /// Whether this node is a mirror: at its join, the operator chose that the second of two nodes is a voter too. The
    /// node announces this at its first start.
    /// </summary>
    public bool IsMirror { get; init; }

    /// <summary>This node's certificate, without the key.</summary>
    public required X509Certificate2 Certificate { get; init; }

    /// <summary>
    /// During a rotation, the certificate that the old authority signed for the same key; otherwise null.
    /// </summary>
    public X509Certificate2? EarlierCertificate { get; init; }

    /// <summary>
    /// The certificate to present to clients, without the key. During a rotation, the old authority's: clients trust
    /// the new authority only once their operator installs it.
    /// </summary>
    public X509Certificate2 CertificateForClients => EarlierCertificate ?? Certificate;

    /// <summary>This node's private key. It signs handshakes and decrypts what is sealed for this node.</summary>
    public required ECDsa Key { get; init; }

    /// <summary>The trusted authorities, the one that signs first: one or, during a rotation, two.</summary>
    public required IReadOnlyList<X509Certificate2> Authorities { get; init; }

    /// <summary>The key of the first authority, sealed for this node.</summary>
    public required byte[] SealedAuthorityKey { get; init; }

    /// <summary>This node's id in consensus.</summary>
    public NodeId Member => Members.IdOf(NodeId);

    /// <summary>The rule for members' certificates.</summary>
    public PeerCertificateRule PeerRule => new(Authorities, ClusterId);

    /// <summary>The rule for clients' certificates.</summary>
    public ClientCertificateRule ClientRule => new(Authorities, ClusterId);

    /// <summary>Returns the certificate with its key, for a TLS stack. The caller disposes it.</summary>
    public X509Certificate2 CertificateWithKey() => Certificate.CopyWithPrivateKey(Key);

    /// <summary>Returns <see cref="CertificateForClients"/> with its key. The caller disposes it.</summary>
    public X509Certificate2 CertificateForClientsWithKey() => CertificateForClients.CopyWithPrivateKey(Key);

    /// <summary>Returns the authority that signs, with its decrypted key.</summary>
    /// <exception cref="IdentityException">The sealed key is missing or damaged.</exception>
    public ClusterAuthority OpenAuthority() =>
        ClusterAuthority.OpenKey(
            ClusterId,
            X509CertificateLoader.LoadCertificate(Authorities[0].RawDataMemory.Span),
            SealedAuthorityKey,
            Key
        );

    /// <summary>Returns the same node with a new certificate for the same key, for members and clients.</summary>
    internal NodeIdentity With(X509Certificate2 certificate) =>
        Copy(certificate, earlierCertificate: null, Peers, Authorities, SealedAuthorityKey);

    /// <summary>Returns the same node with other peers.</summary>
    internal NodeIdentity With(IReadOnlyList<KnownPeer> peers) =>
        Copy(Certificate, EarlierCertificate, peers, Authorities, SealedAuthorityKey);

    /// <summary>Returns the same node with other authorities, the signing one first.</summary>
    internal NodeIdentity With(
        IReadOnlyList<X509Certificate2> authorities,
        byte[] sealedAuthorityKey,
        X509Certificate2 certificate,
        X509Certificate2? earlierCertificate
    ) => Copy(certificate, earlierCertificate, Peers, authorities, sealedAuthorityKey);

    /// <summary>Returns the same node, marked as a mirror.</summary>
    internal NodeIdentity AsMirror() =>
        Copy(Certificate, EarlierCertificate, Peers, Authorities, SealedAuthorityKey, isMirror: true);

    /// <summary>
    /// Returns why key, certificate, ids and authorities do not match, in a sentence; null when they do.
    /// </summary>
    public string? WhyInconsistent()
    {
        if (
            !Key.ExportSubjectPublicKeyInfo().AsSpan().SequenceEqual(Certificate.PublicKey.ExportSubjectPublicKeyInfo())
        )
        {
            return "The certificate was not made for the key beside it.";
        }

        var verdict = PeerRule.Judge(Certificate, PeerRole.Server);
        return verdict.Refusal
            ?? (
                string.Equals(verdict.NodeId, NodeId, StringComparison.Ordinal)
                    ? null
                    : $"The certificate is that of node {verdict.NodeId}, and this is node {NodeId}."
            );
    }

    private NodeIdentity Copy(
        X509Certificate2 certificate,
        X509Certificate2? earlierCertificate,
        IReadOnlyList<KnownPeer> peers,
        IReadOnlyList<X509Certificate2> authorities,
        byte[] sealedAuthorityKey,
        bool isMirror = false
    ) =>
        new()
        {
            ClusterId = ClusterId,
            ClusterName = ClusterName,
            NodeId = NodeId,
            NodeName = NodeName,
            Tag = Tag,
            Peers = peers,
            ConfiguredAddresses = ConfiguredAddresses,
            ConfiguredUrl = ConfiguredUrl,
            IsMirror = isMirror || IsMirror,
            Certificate = certificate,
            EarlierCertificate = earlierCertificate,
            Key = Key,
            Authorities = authorities,
            SealedAuthorityKey = sealedAuthorityKey,
        };

    /// <inheritdoc/>
    public void Dispose()
    {
        Certificate.Dispose();
        EarlierCertificate?.Dispose();
        Key.Dispose();
        foreach (var authority in Authorities)
        {
            authority.Dispose();
        }
    }
}
