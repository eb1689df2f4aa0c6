namespace Rookery.Documents.Records;

/// <summary>Prefixes of the keys of <see cref="ClusterRecord"/>s.</summary>
public static class ClusterRecordPrefix
{
    /// <summary>Members, by node id.</summary>
    public const string Member = "member/";

    /// <summary>Tokens that permit a node to join, by hash.</summary>
    public const string JoinToken = "token/";

    /// <summary>The cluster's certificate authority; its private key is wrapped for each member.</summary>
    public const string Authority = "authority/";

    /// <summary>The cluster's desired configuration, as its administrator set it.</summary>
    public const string Desired = "desired/";

    /// <summary>Bearer tokens of clients, by hash.</summary>
    public const string Access = "access/";

    /// <summary>
    /// One record, which the creation of each token or certificate replaces. So concurrent creations conflict, and
    /// cannot exceed the limit of all credentials together. It is outside <see cref="Access"/>, where any record shows
    /// that the node was claimed.
    /// </summary>
    public const string CredentialQuota = "credential-room";

    /// <summary>Certificates of clients, by thumbprint.</summary>
    public const string ClientCertificate = "certificate/";

    /// <summary>The members as clients see them: one record.</summary>
    public const string Topology = "topology";

    /// <summary>
    /// Records that a restore drops. A restored cluster starts with one new voter and no other members. It must accept
    /// no old join token, and cannot unwrap the authority's key, which was wrapped for the old members. Clients and
    /// their rights are kept.
    /// </summary>
    internal static IReadOnlyList<string> BoundToMembers { get; } = [Member, JoinToken, Authority, Desired];
}
