namespace Rookery.Cluster.Forming;

/// <summary>The state of a node that forms a cluster.</summary>
internal enum FormingStep
{
    /// <summary>Looks for other nodes. Has no vow.</summary>
    Open,

    /// <summary>Is a candidate to found the cluster, and collects vows.</summary>
    Candidate,

    /// <summary>Has vowed to join a candidate.</summary>
    Vowed,

    /// <summary>Has founded the cluster: received all vows, and admits the nodes that made them.</summary>
    Founded,

    /// <summary>Received a join token from the founder, and joins.</summary>
    Admitted,

    /// <summary>Forms no cluster, or no longer.</summary>
    Out,
}

/// <summary>The request that a forming node sends to another.</summary>
internal sealed record FormingCall
{
    /// <summary>The proof that the caller knows the phrase.</summary>
    public byte[] Proof { get; init; } = [];

    /// <summary>The caller's id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The caller's name.</summary>
    public required string Name { get; init; }

    /// <summary>The number of nodes that the caller expects.</summary>
    public required int Expect { get; init; }

    /// <summary>
    /// The candidacy of the called node to which the caller has vowed; null when the caller has not vowed to the called
    /// node.
    /// </summary>
    public string? Vow { get; init; }
}

/// <summary>The answer to a <see cref="FormingCall"/>.</summary>
internal sealed record FormingAnswer
{
    /// <summary>The proof that the answerer knows the phrase.</summary>
    public byte[] Proof { get; init; } = [];

    /// <summary>The answerer's id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The answerer's name.</summary>
    public required string Name { get; init; }

    /// <summary>The number of nodes that the answerer expects.</summary>
    public required int Expect { get; init; }

    /// <summary>The answerer's state.</summary>
    public required FormingStep Step { get; init; }

    /// <summary>
    /// Random id of a candidacy: the answerer's own, or the candidacy that the answerer has vowed to join; null for
    /// none.
    /// </summary>
    public string? Candidacy { get; init; }

    /// <summary>The id of the node that the answerer has vowed to; null for none.</summary>
    public string? Founder { get; init; }

    /// <summary>The number of vows that a candidate has.</summary>
    public int Vows { get; init; }

    /// <summary>Why the caller's vow does not count, in a sentence; null when it counts.</summary>
    public string? Trouble { get; init; }

    /// <summary>The ids of the nodes that a founder admits.</summary>
    public IReadOnlyList<string> Members { get; init; } = [];

    /// <summary>The join token for the caller; null for none.</summary>
    public string? Token { get; init; }
}
