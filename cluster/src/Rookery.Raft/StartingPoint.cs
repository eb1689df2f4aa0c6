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
    /// How long after an unclean stop a node needs the pre-votes of all voters to campaign. Its disk may have lost its
    /// last sync.
    /// </summary>
    public long CautionMicroseconds { get; init; } = 20_000_000;

    /// <summary>The shortest stall of its own journal that makes a leader transfer leadership.</summary>
    public long ShortestStallMicroseconds { get; init; } = 2_000_000;

    /// <summary>
    /// How long another member's board must have been better before the leader transfers leadership to it.
    /// </summary>
    public long PreferenceMicroseconds { get; init; } = 300_000_000;

    /// <summary>The maximum number of bytes of entries in one message. A single larger entry is sent alone.</summary>
    public int MaxMessageBytes { get; init; } = 1 << 20;
}

/// <summary>The state with which a <see cref="RaftCore"/> starts, as recovered from the node's store.</summary>
public sealed record StartingPoint
{
    /// <summary>This node.</summary>
    public required NodeId Self { get; init; }

    /// <summary>How often this store was started, including this start.</summary>
    public required long StartNumber { get; init; }

    /// <summary>The last vote record in the journal.</summary>
    public required VoteRecord Vote { get; init; }

    /// <summary>The recovered log, durable to its last entry. The core takes ownership.</summary>
    public required EntryLog Log { get; init; }

    /// <summary>The highest index known to be committed, from the manifest and the journal's commit records.</summary>
    public required long CommitIndex { get; init; }

    /// <summary>
    /// The last position that this store may have acknowledged. If the journal is damaged, this position may be after
    /// the end of <see cref="Log"/>.
    /// </summary>
    public LogPosition MayHaveAcknowledged { get; init; }

    /// <summary>Whether the process or machine ended without a clean stop before this start.</summary>
    public bool WasUnclean { get; init; }

    /// <summary>The seed of the random election timeouts. The same seed and inputs give the same outputs.</summary>
    public required int Seed { get; init; }
}
