using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Raft;

namespace Rookery.Cluster.Identity;

/// <summary>
/// Verifies members' certificates: accepts those that an authority of this cluster signed and whose URI names a node of
/// this cluster. Expiry is ignored, so that a cluster works after two years off, or with its clock at 1970. Does not
/// check whether the node is still a member. Immutable.
/// </summary>
/// <param name="authorities">The trusted authorities: one or, during a rotation, two.</param>
/// <param name="clusterId">This cluster's id.</param>
public sealed class PeerCertificateRule(IReadOnlyList<X509Certificate2> authorities, string clusterId)
{
    private const int MaxSubjectCharacters = 64;

    /// <summary>
    /// Returns the chain policy for the TLS stack, which builds a chain before it calls <see cref="Judge"/>: without
    /// the system's certificate stores and without the network.
    /// </summary>
    public X509ChainPolicy ChainPolicy(PeerRole role) => AuthorityChain.PolicyOf(authorities, UsageOf(role));

    /// <summary>Returns the node that a certificate proves, or why it is refused.</summary>
    /// <param name="presented">The certificate from the handshake; null when there was none.</param>
    /// <param name="role">The other end's role in the handshake.</param>
    public PeerVerdict Judge(X509Certificate2? presented, PeerRole role)
    {
        if (presented is null)
        {
            return PeerVerdict.Refused("The other side presented no certificate: it is not a member of a cluster.");
        }

        if (AuthorityChain.WhyRefused(presented, authorities, UsageOf(role), now: null) is { } reason)
        {
            return PeerVerdict.Refused(
                $"The certificate of {SubjectOf(presented)} {reason}: the other side is not a member of this cluster."
            );
        }

        return
            SubjectAlternativeNames.ReadFrom(presented) is { } names && NodeUri.NodeIn(names.Uri, clusterId) is { } node
            ? new PeerVerdict(node, Refusal: null)
            : PeerVerdict.Refused(
                $"The certificate of {SubjectOf(presented)} is not that of a member of this cluster."
            );
    }

    // An attacker can choose this text, and it is logged.
    private static string SubjectOf(X509Certificate2 presented)
    {
        string subject = presented.Subject;
        return string.Create(
            Math.Min(subject.Length, MaxSubjectCharacters),
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

/// <summary>The other end's role in a handshake.</summary>
public enum PeerRole
{
    /// <summary>This node connected to the other end.</summary>
    Server,

    /// <summary>The other end connected to this node.</summary>
    Client,
}

/// <summary>The identity of the other end, or why it is refused.</summary>
/// <param name="NodeId">The node id that the certificate proves, or null.</param>
/// <param name="Refusal">The reason as a sentence, or null.</param>
public readonly record struct PeerVerdict(string? NodeId, string? Refusal)
{
    /// <summary>The proven member's id in consensus; none when it is refused.</summary>
    public NodeId Member => NodeId is null ? Raft.NodeId.None : Members.IdOf(NodeId);

    internal static PeerVerdict Refused(string sentence) => new(NodeId: null, sentence);
}
