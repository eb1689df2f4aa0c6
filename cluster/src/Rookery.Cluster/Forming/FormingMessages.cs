namespace Rookery.Cluster.Forming;

/// <summary>How far a node is.</summary>
internal enum FormingStep
{
    /// <summary>It looks for others, and is bound to nobody.</summary>
    Open,

    /// <summary>It would found, and collects vows.</summary>
    Candidate,

    /// <summary>It has vowed to a candidate.</summary>
    Vowed,

    /// <summary>It had all vows, and lets those in that it has noted.</summary>
    Founded,

    /// <summary>It was given a token, and joins.</summary>
    Admitted,

    /// <summary>It takes no part, or no more.</summary>
    Out,
}

/// <summary>What a node that forms says to another.</summary>
internal sealed record FormingCall
{
    /// <summary>That it knows the phrase.</summary>
    public byte[] Proof { get; init; } = [];

    /// <summary>The caller's id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The caller's name.</summary>
    public required string Name { get; init; }

    /// <summary>How many nodes it expects.</summary>
    public required int Expect { get; init; }

    /// <summary>The candidacy that it has vowed to, if that is one of who is called.</summary>
    public string? Vow { get; init; }
}

/// <summary>What it is answered.</summary>
internal sealed record FormingAnswer
{
    /// <summary>That the answerer knows the phrase.</summary>
    public byte[] Proof { get; init; } = [];

    /// <summary>The answerer's id.</summary>
    public required string NodeId { get; init; }

    /// <summary>The answerer's name.</summary>
    public required string Name { get; init; }

    /// <summary>How many nodes it expects.</summary>
    public required int Expect { get; init; }

    /// <summary>How far it is.</summary>
    public required FormingStep Step { get; init; }

    /// <summary>The candidacy that it is or founded by, or has vowed to.</summary>
    public string? Candidacy { get; init; }

    /// <summary>To whom it has vowed.</summary>
    public string? Founder { get; init; }

    /// <summary>Of a candidate: how many have vowed to it.</summary>
    public int Vows { get; init; }

    /// <summary>Why the caller's vow does not count, in a sentence.</summary>
    public string? Trouble { get; init; }

    /// <summary>Of a founder: whom it lets in.</summary>
    public IReadOnlyList<string> Members { get; init; } = [];

    /// <summary>What lets the caller in.</summary>
    public string? Token { get; init; }
}
