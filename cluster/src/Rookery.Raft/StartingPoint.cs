namespace Rookery.Raft;

/// <summary>Timeouts and limits of the core. Times are in microseconds.</summary>
public sealed record CoreOptions
{
    /// <summary>The election timeout before a leader has published a measured one.</summary>
    public long FirstElectionTimeoutMicroseconds { get; init; } = 1_500_000;

    /// <summary>The shortest election timeout that a leader publishes.</summary>
    public long ShortestElectionTimeoutMicroseconds { get; init; } = 1_000_000;

    /// <summary>The longest election timeout that a leader publishes.</summary>
    public long LongestElectionTimeoutMicroseconds { get; init; } = 10_000_000;

    /// <summary>
    /// How long after an unclean stop a node campaigns only with the pre-votes of all voters, because its disk may have
    /// lied about the last sync.
    /// </summary>
    public long CautionMicroseconds { get; init; } = 20_000_000;

    /// <summary>The shortest stall of the own journal that makes a leader transfer leadership.</summary>
    public long ShortestStallMicroseconds { get; init; } = 2_000_000;

    /// <summary>
    /// How long another member's board must have been better before the leader transfers leadership to it.
    /// </summary>
    public long PreferenceMicroseconds { get; init; } = 300_000_000;

    /// <summary>The most bytes of entries in one message; a single larger entry is sent alone.</summary>
    public int MostMessageBytes { get; init; } = 1 << 20;
}

/// <summary>The state with which a core starts: the node and what recovery found.</summary>
public sealed record StartingPoint
{
    /// <summary>This node.</summary>
    public required NodeId Self { get; init; }

    /// <summary>The number of starts of this store, this one included.</summary>
    public required long Incarnation { get; init; }

    /// <summary>The last vote record in the journal.</summary>
    public required VoteRecord Vote { get; init; }

    /// <summary>The recovered log, durable to its last entry. The core takes ownership.</summary>
    public required EntryLog Log { get; init; }

    /// <summary>The highest index known to be committed, from the manifest and the journal's commit records.</summary>
    public required long CommitIndex { get; init; }

    /// <summary>
    /// The last position that this store may have acknowledged; after the end of <see cref="Log"/> when the journal is
    /// damaged.
    /// </summary>
    public LogPosition VotedBy { get; init; }

    /// <summary>Whether the last stop was unclean.</summary>
    public bool WasUnclean { get; init; }

    /// <summary>The seed of the random election timeouts. The same seed and inputs give the same outputs.</summary>
    public required int Seed { get; init; }
}
