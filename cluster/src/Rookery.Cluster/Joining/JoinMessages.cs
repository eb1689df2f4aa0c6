namespace Rookery.Cluster.Joining;

/// <summary>What a fresh node asks.</summary>
internal sealed record JoinRequest
{
    /// <summary>The token's secret.</summary>
    public required byte[] Secret { get; init; }

    /// <summary>The random id that the node made for itself.</summary>
    public required string NodeId { get; init; }

    /// <summary>What it wants to be called.</summary>
    public required string Name { get; init; }

    /// <summary>Where it will listen for members, <c>host:port</c>.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }

    /// <summary>
    /// The newest format level that its program knows; 0 of the first programs, which know the first.
    /// </summary>
    public int NewestFormatLevel { get; init; }

    /// <summary>Its request for a certificate (PKCS #10), which proves that it has the key.</summary>
    public required byte[] CertificateRequest { get; init; }

    /// <summary>Where clients reach it, if the owner said.</summary>
    public string? PublicUrl { get; init; }
}

/// <summary>What a node that was let in needs.</summary>
internal sealed record JoinAnswer
{
    /// <summary>The cluster's random id.</summary>
    public required string ClusterId { get; init; }

    /// <summary>The cluster's name.</summary>
    public required string ClusterName { get; init; }

    /// <summary>The name of the node's seat: of an earlier request, when it has asked before.</summary>
    public required string Name { get; init; }

    /// <summary>The letter that the node was given.</summary>
    public required string Tag { get; init; }

    /// <summary>The node's certificate (DER).</summary>
    public required byte[] Certificate { get; init; }

    /// <summary>The trusted authorities (DER), the one that signs first.</summary>
    public required IReadOnlyList<byte[]> Authorities { get; init; }

    /// <summary>The key of the first authority, sealed for the node.</summary>
    public required byte[] SealedAuthorityKey { get; init; }

    /// <summary>The other members.</summary>
    public required IReadOnlyList<JoinedPeer> Members { get; init; }
}

/// <summary>Another member, for who was let in.</summary>
internal sealed record JoinedPeer
{
    /// <summary>Its random id.</summary>
    public required string NodeId { get; init; }

    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Where it listens for members.</summary>
    public required IReadOnlyList<string> Addresses { get; init; }
}

/// <summary>
/// The authorities of a cluster, for who holds a token and has to check that one of them is the one that it names.
/// </summary>
internal sealed record AuthorityList
{
    /// <summary>The certificates (DER).</summary>
    public required IReadOnlyList<byte[]> Authorities { get; init; }
}

/// <summary>Why a node is not let in.</summary>
internal enum JoinError
{
    /// <summary>The request is not one.</summary>
    Malformed,

    /// <summary>No such token was given out.</summary>
    TokenUnknown,

    /// <summary>The token ended.</summary>
    TokenExpired,

    /// <summary>The token let another node in.</summary>
    TokenUsed,

    /// <summary>The name is none.</summary>
    NameInvalid,

    /// <summary>Another member has the name.</summary>
    NameTaken,

    /// <summary>A member has the id, and another key.</summary>
    IdTaken,

    /// <summary>No letter is left.</summary>
    TooManyMembers,

    /// <summary>Another member leads; it decides.</summary>
    NotLeader,

    /// <summary>Not now.</summary>
    Unavailable,
}

/// <summary>The answer to a node that is not let in.</summary>
/// <param name="Error">Why.</param>
/// <param name="Message">A sentence that says what to do.</param>
internal sealed record JoinRefusal(JoinError Error, string Message)
{
    /// <summary>Where to ask instead, for <see cref="JoinError.NotLeader"/>.</summary>
    public IReadOnlyList<string>? Leader { get; init; }
}
