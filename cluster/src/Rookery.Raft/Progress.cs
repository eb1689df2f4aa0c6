namespace Rookery.Raft;

/// <summary>The mode in which a leader replicates to a peer.</summary>
internal enum ProgressState
{
    /// <summary>The leader searches for the last common entry. It sends one message at a time, without
    /// entries.</summary>
    Probe,

    /// <summary>The last common entry is known: entries are pipelined.</summary>
    Replicate,

    /// <summary>The entries that the peer misses are compacted, so the peer fetches a snapshot.</summary>
    Snapshot,
}

/// <summary>
/// A leader's record of one peer: its replication progress, contact, health and clock. Times are in microseconds of the
/// host's monotonic time.
/// </summary>
internal sealed class Progress(NodeId node, long next, long now)
{
    /// <summary>The maximum number of messages in flight to a peer.</summary>
    public const int MaxMessagesInFlight = 64;

    /// <summary>The maximum number of bytes in flight to a peer. A single larger entry may be sent alone.</summary>
    public const int MaxBytesInFlight = 4 << 20;

    /// <summary>
    /// The number of consecutive rounds in which a learner must catch up before it may become a voter (thesis 4.2.1). A
    /// round is over when the learner has everything that the log had at the round's beginning.
    /// </summary>
    public const int RoundsToCatchUp = 3;

    private readonly Queue<(long Last, long Bytes)> _inFlight = new();
    private long _bytesInFlight;

    // The current round of catching up: the index that ends it (-1 before the first) and when it began; and how many
    // rounds in a row took less than an election timeout.
    private long _roundTarget = -1;
    private long _roundBegan;
    private int _quickRounds;

    public NodeId Node { get; } = node;

    public ProgressState State { get; private set; }

    /// <summary>The highest index that is durable on the peer.</summary>
    public long Match { get; private set; }

    /// <summary>The index of the next entry to send.</summary>
    public long Next { get; private set; } = next;

    /// <summary>The number of the newest known start of the peer's store.</summary>
    public long StartNumber { get; set; }

    /// <summary>The number of the start of the peer's store that acknowledged <see cref="Match"/>.</summary>
    public long MatchStartNumber { get; private set; }

    /// <summary>Whether the peer is a voter of the newest configuration.</summary>
    public bool IsVoter { get; set; }

    /// <summary>When the peer last answered.</summary>
    public long LastContact { get; set; } = now;

    /// <summary>The newest read round that the peer confirmed.</summary>
    public long Sequence { get; set; }

    /// <summary>The commit index that was last sent to the peer.</summary>
    public long CommitSent { get; set; }

    /// <summary>
    /// The index of the configuration that ends the peer's vote or membership. This entry and later ones are sent to
    /// the peer only after this entry is committed. Otherwise the peer could hold the most up-to-date log and yet be
    /// unable to lead.
    /// </summary>
    public long HoldBackFrom { get; set; } = long.MaxValue;

    /// <summary>
    /// The index of an entry that this leader cannot read, so the peer gets it from a snapshot. Later entries are sent
    /// again once the peer has that entry. 0 when the peer fetches for another reason.
    /// </summary>
    public long FetchesThrough { get; set; }

    /// <summary>
    /// Whether the newest configuration removes the peer. The peer still receives that configuration before this object
    /// is dropped.
    /// </summary>
    public bool IsRemoved { get; set; }

    /// <summary>Since when messages have been in flight without a new acknowledgement.</summary>
    public long WaitingSince { get; private set; } = now;

    public StoreHealth Health { get; set; }

    /// <summary>
    /// Whether the peer has reported its health to this leader. A peer that has not may be unable to apply.
    /// </summary>
    public bool HasReportedHealth { get; set; }

    /// <summary>The peer's outcome hash at the last compared index.</summary>
    public OutcomeHash Outcome { get; set; }

    /// <summary>
    /// The difference of the peer's clock to this node's monotonic time, and whether that clock is synchronised; null
    /// before its first report.
    /// </summary>
    public (long Difference, bool IsSure)? Clock { get; set; }

    /// <summary>When the peer's clock was reported.</summary>
    public long ClockReadAt { get; set; }

    public RoundTrips RoundTrips { get; } = new();

    public bool IsCaughtUp => _quickRounds >= RoundsToCatchUp;

    /// <summary>Whether another message may be sent.</summary>
    public bool HasRoom =>
        State switch
        {
            ProgressState.Replicate => _inFlight.Count < MaxMessagesInFlight && _bytesInFlight < MaxBytesInFlight,
            ProgressState.Probe => _inFlight.Count == 0,
            _ => false,
        };

    public bool IsWaiting => _inFlight.Count > 0 || State == ProgressState.Snapshot;

    /// <summary>Records that a message with entries through <paramref name="last"/> was sent.</summary>
    public void RecordSent(long last, long bytes, long now)
    {
        if (_inFlight.Count == 0)
        {
            WaitingSince = now;
        }

        _inFlight.Enqueue((last, bytes));
        _bytesInFlight += bytes;
        if (State == ProgressState.Replicate)
        {
            Next = last + 1;
        }
    }

    /// <summary>Records that entries through <paramref name="match"/> are durable on the peer.</summary>
    /// <returns>Whether <see cref="Match"/> increased.</returns>
    public bool RecordAcknowledged(long match, long now)
    {
        bool isHigher = match > Match;
        MatchStartNumber = match >= Match ? StartNumber : MatchStartNumber;
        Match = Math.Max(Match, match);
        if (State == ProgressState.Replicate)
        {
            while (_inFlight.TryPeek(out var first) && first.Last <= Match)
            {
                _bytesInFlight -= _inFlight.Dequeue().Bytes;
                WaitingSince = now;
            }
        }
        else if (State == ProgressState.Probe && match >= Next - 1)
        {
            // Only a reply to the current probe counts. If a late reply to an earlier probe counted, a peer that
            // restarted after it would not learn the commit index before the next write.
            Become(ProgressState.Replicate, Match + 1, now);
        }

        Next = Math.Max(Next, Match + 1);
        return isHigher;
    }

    /// <summary>Starts probing at <paramref name="next"/>, but never at or below <see cref="Match"/>.</summary>
    public void ProbeFrom(long next, long now) => Become(ProgressState.Probe, Math.Max(next, Match + 1), now);

    /// <summary>Resets <see cref="Match"/>, because the peer lost entries that it had acknowledged.</summary>
    public void ResetAfterLoss(long next, long now)
    {
        Match = 0;
        Become(ProgressState.Probe, next, now);
    }

    public void OfferSnapshot(long now)
    {
        Become(ProgressState.Snapshot, Next, now);
        FetchesThrough = 0;
    }

    /// <summary>Counts consecutive rounds in which the peer caught up within an election timeout.</summary>
    public void CountRound(long lastIndex, long now, long electionTimeout)
    {
        if (_roundTarget >= 0 && Match < _roundTarget)
        {
            if (now - _roundBegan > electionTimeout)
            {
                _quickRounds = 0;
            }

            return;
        }

        if (_roundTarget >= 0)
        {
            _quickRounds = now - _roundBegan <= electionTimeout ? _quickRounds + 1 : 0;
        }

        _roundTarget = lastIndex;
        _roundBegan = now;
    }

    private void Become(ProgressState state, long next, long now)
    {
        _inFlight.Clear();
        _bytesInFlight = 0;
        State = state;
        Next = next;
        WaitingSince = now;
    }
}
