using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Raft;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Who a member is: its ids and names, its key and certificate, and whom it trusts. On disk in
/// <see cref="IdentityDirectory"/>. Immutable; what changes is written anew.
/// </summary>
public sealed class NodeIdentity : IDisposable
{
    /// <summary>The cluster's random id.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The cluster's <see cref="MemberName"/>.</summary>
    public required string ClusterName { get; init; }

    /// <summary>This node's random id; the same as in its data.</summary>
    public required string NodeId { get; init; }

    /// <summary>This node's <see cref="MemberName"/>.</summary>
    public required string NodeName { get; init; }

    /// <summary>This node's letter, given once; clients see it in topologies.</summary>
    public required string Tag { get; init; }

    /// <summary>The other members when it last looked, to be found again after a start.</summary>
    public IReadOnlyList<KnownPeer> Peers { get; init; } = [];

    /// <summary>
    /// Where the owner said at the join that members reach this node, <c>host:port</c>; beside where it listens, which
    /// it knows by itself.
    /// </summary>
    public IReadOnlyList<string> SaidAddresses { get; init; } = [];

    /// <summary>Where the owner said at the join that clients reach this node, or null.</summary>
    public string? SaidUrl { get; init; }

    /// <summary>
    /// Whether the owner chose at the join that this node, the second of two, votes too. Its first start says so.
    /// </summary>
    public bool IsMirror { get; init; }

    /// <summary>This node's certificate, without the key.</summary>
    public required X509Certificate2 Certificate { get; init; }

    /// <summary>
    /// While an authority is being replaced: the certificate that the old one signed, for the same key.
    /// </summary>
    public X509Certificate2? EarlierCertificate { get; init; }

    /// <summary>
    /// What clients are shown, without the key. Members learn of another authority by themselves; clients trust the one
    /// that they were given until their owner has replaced it.
    /// </summary>
    public X509Certificate2 CertificateForClients => EarlierCertificate ?? Certificate;

    /// <summary>This node's private key: it signs handshakes and opens what is sealed for this node.</summary>
    public required ECDsa Key { get; init; }

    /// <summary>The cluster's authorities, the one that signs first: one or, during a rotation, two.</summary>
    public required IReadOnlyList<X509Certificate2> Authorities { get; init; }

    /// <summary>The key of the first authority, sealed for this node.</summary>
    public required byte[] SealedAuthorityKey { get; init; }

    /// <summary>This node as consensus knows it.</summary>
    public NodeId Member => Members.IdOf(NodeId);

    /// <summary>Whom this node takes for members.</summary>
    public PeerCertificateRule PeerRule => new(Authorities, ClusterId);

    /// <summary>Which client certificates hold here.</summary>
    public ClientCertificateRule ClientRule => new(Authorities, ClusterId);

    /// <summary>The certificate with its key, for a TLS stack. The caller disposes it.</summary>
    public X509Certificate2 CertificateWithKey() => Certificate.CopyWithPrivateKey(Key);

    /// <summary>The same of <see cref="CertificateForClients"/>.</summary>
    public X509Certificate2 CertificateForClientsWithKey() => CertificateForClients.CopyWithPrivateKey(Key);

    /// <summary>The authority that signs, with its key.</summary>
    /// <exception cref="IdentityException">The sealed key is missing or damaged.</exception>
    public ClusterAuthority OpenAuthority() =>
        ClusterAuthority.OpenKey(
            ClusterId,
            X509CertificateLoader.LoadCertificate(Authorities[0].RawDataMemory.Span),
            SealedAuthorityKey,
            Key
        );

    /// <summary>The same node with a new certificate for the same key, for everybody.</summary>
    internal NodeIdentity With(X509Certificate2 certificate) =>
        Copy(certificate, null, Peers, Authorities, SealedAuthorityKey);

    /// <summary>The same node with other peers.</summary>
    internal NodeIdentity With(IReadOnlyList<KnownPeer> peers) =>
        Copy(Certificate, EarlierCertificate, peers, Authorities, SealedAuthorityKey);

    /// <summary>The same node with other authorities, the one that signs first.</summary>
    internal NodeIdentity With(
        IReadOnlyList<X509Certificate2> authorities,
        byte[] sealedAuthorityKey,
        X509Certificate2 certificate,
        X509Certificate2? earlierCertificate
    ) => Copy(certificate, earlierCertificate, Peers, authorities, sealedAuthorityKey);

    /// <summary>The same node, chosen to be a mirror.</summary>
    internal NodeIdentity AsMirror() =>
        Copy(Certificate, EarlierCertificate, Peers, Authorities, SealedAuthorityKey, isMirror: true);

    /// <summary>
    /// Why key, certificate, ids and authorities do not belong together, in a sentence; null when they do.
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
            SaidAddresses = SaidAddresses,
            SaidUrl = SaidUrl,
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
