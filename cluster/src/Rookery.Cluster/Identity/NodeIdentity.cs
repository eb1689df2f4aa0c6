using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Raft;

namespace Rookery.Cluster.Identity;

/// <summary>
/// A member's identity: its ids and names, its key and certificate, and the authorities that it trusts. Stored in an
/// <see cref="IdentityDirectory"/>. Immutable: a change makes a new object, which shares the key and all unchanged
/// certificates with the old one.
/// </summary>
public sealed class NodeIdentity : IDisposable
{
    /// <summary>The cluster's random id, 22 characters.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The cluster's <see cref="MemberName"/>.</summary>
    public required string ClusterName { get; init; }

    /// <summary>
    /// This node's random id, 22 characters. The data directory contains the same id
    /// (<see cref="Documents.Nodes.NodeIds"/>).
    /// </summary>
    public required string NodeId { get; init; }

    /// <summary>This node's <see cref="MemberName"/>.</summary>
    public required string NodeName { get; init; }

    /// <summary>
    /// This node's tag: a letter from A to Z, which the cluster assigned once. Clients see it in topologies.
    /// </summary>
    public required string Tag { get; init; }

    /// <summary>
    /// The last known other members and their addresses, to which this node connects after a restart.
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
    /// Whether this node is a mirror: at its join, the operator chose that the second of two nodes is a voter too. At
    /// its first start, the node copies this to its <see cref="Joining.MemberRecord"/>.
    /// </summary>
    public bool IsMirror { get; init; }

    /// <summary>This node's certificate, without the key.</summary>
    public required X509Certificate2 Certificate { get; init; }

    /// <summary>
    /// While the authority is rotated (<see cref="AuthorityRotation"/>), the certificate that the old authority signed
    /// for the same key; otherwise null.
    /// </summary>
    public X509Certificate2? EarlierCertificate { get; init; }

    /// <summary>
    /// The certificate to present to clients, without the key. During a rotation this is the one that the old authority
    /// signed, because clients trust the new authority only once their operator installs it.
    /// </summary>
    public X509Certificate2 CertificateForClients => EarlierCertificate ?? Certificate;

    /// <summary>
    /// This node's private key. It signs handshakes, and decrypts secrets that other members encrypted for this node
    /// (<see cref="SealedKey"/>).
    /// </summary>
    public required ECDsa Key { get; init; }

    /// <summary>
    /// The trusted authorities: one, or two during a rotation. The first of them signs new certificates.
    /// </summary>
    public required IReadOnlyList<X509Certificate2> Authorities { get; init; }

    /// <summary>The private key of the first authority, encrypted for this node.</summary>
    public required byte[] SealedAuthorityKey { get; init; }

    /// <summary>The number that stands for <see cref="NodeId"/> in consensus.</summary>
    public NodeId Member => Members.IdOf(NodeId);

    /// <summary>The rule for members' certificates.</summary>
    public PeerCertificateRule PeerRule => new(Authorities, ClusterId);

    /// <summary>The rule for clients' certificates.</summary>
    public ClientCertificateRule ClientRule => new(Authorities, ClusterId);

    /// <summary>Returns the certificate with its key, for a TLS stack. The caller disposes it.</summary>
    public X509Certificate2 CertificateWithKey() => Certificate.CopyWithPrivateKey(Key);

    /// <summary>Returns <see cref="CertificateForClients"/> with its key. The caller disposes it.</summary>
    public X509Certificate2 CertificateForClientsWithKey() => CertificateForClients.CopyWithPrivateKey(Key);

    /// <summary>Returns the first authority with its decrypted key. The caller disposes it.</summary>
    /// <exception cref="IdentityException">The encrypted key was made for another member, or is damaged.</exception>
    public ClusterAuthority OpenAuthority() =>
        ClusterAuthority.OpenKey(
            ClusterId,
            // A copy, because the returned authority disposes its certificate.
            X509CertificateLoader.LoadCertificate(Authorities[0].RawDataMemory.Span),
            SealedAuthorityKey,
            Key
        );

    /// <summary>
    /// Returns the same node with a new certificate for the same key. Members and clients both see this certificate.
    /// </summary>
    internal NodeIdentity With(X509Certificate2 certificate) =>
        Copy(certificate, earlierCertificate: null, Peers, Authorities, SealedAuthorityKey);

    /// <summary>Returns the same node with other peers.</summary>
    internal NodeIdentity With(IReadOnlyList<KnownPeer> peers) =>
        Copy(Certificate, EarlierCertificate, peers, Authorities, SealedAuthorityKey);

    /// <summary>Returns the same node with other authorities.</summary>
    /// <param name="authorities">The trusted authorities; the first of them signs.</param>
    /// <param name="sealedAuthorityKey">The private key of the first authority, encrypted for this node.</param>
    /// <param name="certificate">The certificate for members.</param>
    /// <param name="earlierCertificate">The certificate that clients see; null if they see
    /// <paramref name="certificate"/>.</param>
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
