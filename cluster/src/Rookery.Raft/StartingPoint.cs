namespace Rookery.Raft;

/// <summary>How long an election takes and the like: everything in microseconds.</summary>
public sealed record CoreOptions
{
    /// <summary>The election timeout before a leader has published one it measured.</summary>
    public long FirstElectionTimeoutMicroseconds { get; init; } = 1_500_000;

    /// <summary>The shortest election timeout a leader publishes.</summary>
    public long ShortestElectionTimeoutMicroseconds { get; init; } = 1_000_000;

    /// <summary>The longest one.</summary>
    public long LongestElectionTimeoutMicroseconds { get; init; } = 10_000_000;

    /// <summary>
    /// For how long a node that stopped uncleanly campaigns only if no voter at all has a longer log: its card may have
    /// lied about the last sync.
    /// </summary>
    public long CautionMicroseconds { get; init; } = 20_000_000;

    /// <summary>The least time without a sign of life from the own journal that makes a leader hand over.</summary>
    public long ShortestStallMicroseconds { get; init; } = 2_000_000;

    /// <summary>How long the board of another must have been better before the leader hands over to it.</summary>
    public long PreferenceMicroseconds { get; init; } = 300_000_000;

    /// <summary>The most bytes of entries in one message; one larger entry goes alone.</summary>
    public int MostMessageBytes { get; init; } = 1 << 20;
}

/// <summary>What a core is started with: who it is, and what recovery found.</summary>
public sealed record StartingPoint
{
    /// <summary>This node.</summary>
    public required NodeId Self { get; init; }

    /// <summary>How often this store was started, this time included.</summary>
    public required long Incarnation { get; init; }

    /// <summary>The vote record that the journal ends with.</summary>
    public required VoteRecord Vote { get; init; }

    /// <summary>The log as recovery left it: durable to its last entry. The core takes it over.</summary>
    public required EntryLog Log { get; init; }

    /// <summary>What is known to be committed: what the manifest holds, and what the journal notes.</summary>
    public required long CommitIndex { get; init; }

    /// <summary>
    /// The end of the log that this store may have acknowledged: behind the end of <see cref="Log"/> when the journal
    /// is damaged.
    /// </summary>
    public LogPosition VotedBy { get; init; }

    /// <summary>Whether the last stop was not a clean one.</summary>
    public bool WasUnclean { get; init; }

    /// <summary>
    /// Seeds the draws of election timeouts. A run with the same seed and the same inputs has the same outputs.
    /// </summary>
    public required int Seed { get; init; }
}
