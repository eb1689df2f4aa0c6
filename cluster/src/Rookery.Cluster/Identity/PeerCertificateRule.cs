using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Raft;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Whom a member takes for a member: who presents a certificate that an authority of this cluster signed and whose URI
/// names this cluster and a node. Its age does not count: a cluster that was off for two years comes back, and one
/// whose clock stands in 1970 too. Whether that node still belongs to the cluster is said by the members, not by the
/// certificate. Immutable.
/// </summary>
/// <param name="authorities">The authorities trusted: one or, during a rotation, two.</param>
/// <param name="clusterId">This cluster.</param>
public sealed class PeerCertificateRule(IReadOnlyList<X509Certificate2> authorities, string clusterId)
{
    private const int MostSubjectCharacters = 64;

    /// <summary>
    /// For the TLS stack, which builds a chain before it asks <see cref="Judge"/>: without stores of the system and
    /// without the network.
    /// </summary>
    public X509ChainPolicy ChainPolicy(PeerRole role) => AuthorityChain.PolicyOf(authorities, UsageOf(role));

    /// <summary>Who presents this certificate, or why he is refused.</summary>
    /// <param name="presented">What came in the handshake, or null for nothing.</param>
    /// <param name="role">What the other side is in it.</param>
    public PeerVerdict Judge(X509Certificate2? presented, PeerRole role)
    {
        if (presented is null)
        {
            return PeerVerdict.Refused("The other side presented no certificate: it is no member of a cluster.");
        }

        if (AuthorityChain.WhyRefused(presented, authorities, UsageOf(role), now: null) is { } reason)
        {
            return PeerVerdict.Refused(
                $"The certificate of {SubjectOf(presented)} {reason}: the other side is no member of this cluster."
            );
        }

        return SubjectAlternativeNames.In(presented) is { } names && NodeUri.NodeIn(names.Uri, clusterId) is { } node
            ? new PeerVerdict(node, null)
            : PeerVerdict.Refused(
                $"The certificate of {SubjectOf(presented)} is not that of a member of this cluster."
            );
    }

    // Strangers write there what they like, and it comes into the log.
    private static string SubjectOf(X509Certificate2 presented)
    {
        string subject = presented.Subject;
        return string.Create(
            Math.Min(subject.Length, MostSubjectCharacters),
            subject,
            static (shown, whole) =>
            {
                for (int i = 0; i < shown.Length; i++)
                {
                    shown[i] = whole[i] is >= ' ' and <= '~' ? whole[i] : '?';
                }
            }
        );
    }

    private static Oid UsageOf(PeerRole role) =>
        role == PeerRole.Server ? ClusterAuthority.Server : ClusterAuthority.Client;
}

/// <summary>What the other side is in a handshake.</summary>
public enum PeerRole
{
    /// <summary>It was connected to.</summary>
    Server,

    /// <summary>It connected.</summary>
    Client,
}

/// <summary>Who the other side is, or why it is refused.</summary>
/// <param name="NodeId">The node id that its certificate proves, or null.</param>
/// <param name="Refusal">The sentence, or null.</param>
public readonly record struct PeerVerdict(string? NodeId, string? Refusal)
{
    /// <summary>The proven member as consensus knows it; nobody when it is refused.</summary>
    public NodeId Member => NodeId is null ? Raft.NodeId.None : Members.IdOf(NodeId);

    internal static PeerVerdict Refused(string sentence) => new(null, sentence);
}
