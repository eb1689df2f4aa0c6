namespace Rookery.Documents.Records;

/// <summary>What the keys of <see cref="ClusterRecord"/>s begin with, by what they are about.</summary>
public static class ClusterRecordPrefix
{
    /// <summary>Members, by node id.</summary>
    public const string Member = "member/";

    /// <summary>Tokens with which a node may join, by hash.</summary>
    public const string JoinToken = "token/";

    /// <summary>The cluster's certificate authority; its key is wrapped for each member.</summary>
    public const string Authority = "authority/";

    /// <summary>What the owner wants the cluster to become.</summary>
    public const string Desired = "desired/";

    /// <summary>Bearer tokens of clients, by hash.</summary>
    public const string Access = "access/";

    /// <summary>Certificates of clients, by thumbprint.</summary>
    public const string ClientCertificate = "certificate/";

    /// <summary>What clients are told of the members: one record.</summary>
    public const string Topology = "topology";

    /// <summary>
    /// What a restored cluster does not take over. It starts as one new voter: it has no members yet, joins nobody by a
    /// token given out for others, and could not unwrap the key of an authority that was wrapped for them. Whom clients
    /// are, and what they may, it keeps.
    /// </summary>
    internal static IReadOnlyList<string> BoundToMembers { get; } = [Member, JoinToken, Authority, Desired];
}
