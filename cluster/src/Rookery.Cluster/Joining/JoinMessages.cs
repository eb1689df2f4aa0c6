namespace Rookery.Cluster.Joining;

/// <summary>The request of a node to join.</summary>
internal sealed record JoinRequest
{
    /// <summary>The secret of the <see cref="JoinToken"/>, 16 bytes.</summary>
    public required byte[] Secret { get; init; }

    /// <summary>The random id that the node made for itself, 22 characters.</summary>
    public required string NodeId { get; init; }

    /// <summary>The name that the node requests, a <see cref="Identity.MemberName"/>.</summary>
    public required string Name { get; init; }

    /// <summary>The addresses at which the node will listen for members, <c>host:port</c>.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>
    /// The newest format level that the node's version supports. The first versions, which support only the first
    /// level, send 0.
    /// </summary>
    public int NewestFormatLevel { get; init; }

    /// <summary>The certificate request (PKCS #10), which proves that the node has the private key.</summary>
    public required byte[] CertificateRequest { get; init; }

    /// <summary>The URL at which clients reach the node, as configured by the operator; null for none.</summary>
    public string? PublicUrl { get; init; }
}

/// <summary>The answer to an admitted node.</summary>
internal sealed record JoinAnswer
{
    /// <summary>The cluster's random id.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The cluster's name.</summary>
    public required string ClusterName { get; init; }

    /// <summary>
    /// The node's name in the cluster: the requested name or, for a repeated request, the name of the first request.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>The node's tag, a letter from A to Z.</summary>
    public required string Tag { get; init; }

    /// <summary>The node's certificate (DER).</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>The trusted authorities (DER). The first of them signs new certificates.</summary>
    public required IReadOnlyList<byte[]> Authorities { get; init; }

    /// <summary>
    /// The private key of the first authority, encrypted for the node (<see cref="Identity.SealedKey"/>).
    /// </summary>
    public required byte[] SealedAuthorityKey { get; init; }

    /// <summary>The other members.</summary>
    public required IReadOnlyList<JoinedPeer> Members { get; init; }
}

/// <summary>A member to which an admitted node connects.</summary>
internal sealed record JoinedPeer
{
    /// <summary>The member's random id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The member's name.</summary>
    public required string Name { get; init; }

    /// <summary>The addresses at which the member listens for members, <c>host:port</c>.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }
}

/// <summary>The authorities of a cluster, from which a joining node selects the one that its token pins.</summary>
internal sealed record AuthorityList
{
    /// <summary>The certificates (DER).</summary>
    public required IReadOnlyList<byte[]> Authorities { get; init; }
}

/// <summary>The reasons to refuse a node.</summary>
internal enum JoinError
{
    /// <summary>The request is malformed.</summary>
    Malformed,

    /// <summary>The cluster has not issued this token.</summary>
    TokenUnknown,

    /// <summary>The token has expired.</summary>
    TokenExpired,

    /// <summary>The token has already admitted another node.</summary>
    TokenUsed,

    /// <summary>The name is invalid.</summary>
    NameInvalid,

    /// <summary>Another member has the name.</summary>
    NameTaken,

    /// <summary>A member has the id with another key.</summary>
    IdTaken,

    /// <summary>Every tag, A to Z, belongs to a member.</summary>
    TooManyMembers,

    /// <summary>The called member is not the leader. The node asks the leader.</summary>
    NotLeader,

    /// <summary>No member leads, or another change of the members is running. The node tries again.</summary>
    Unavailable,
}

/// <summary>The answer to a node that is not admitted.</summary>
/// <param name="Error">The reason.</param>
/// <param name="Message">A sentence that says what to do.</param>
internal sealed record JoinRefusal(JoinError Error, string Message)
{
    /// <summary>
    /// The addresses of the leader, <c>host:port</c>, for <see cref="JoinError.NotLeader"/>; null for other errors.
    /// </summary>
    public IReadOnlyList<string>? Leader { get; init; }
}
