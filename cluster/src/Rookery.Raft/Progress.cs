namespace Rookery.Raft;

/// <summary>How a leader replicates to one peer.</summary>
internal enum ProgressState
{
    /// <summary>Looking for the place where the logs agree: one message without entries at a time.</summary>
    Probe,

    /// <summary>The place is known: entries go out ahead of their answers.</summary>
    Replicate,

    /// <summary>Its entries are gone here: it fetches a manifest.</summary>
    Manifest,
}

/// <summary>What a leader knows of one peer.</summary>
internal sealed class Progress(NodeId node, long next, long now)
{
    /// <summary>The most messages on the way to a peer.</summary>
    public const int MostMessages = 64;

    /// <summary>The most bytes on the way to a peer; one larger entry may go alone.</summary>
    public const int MostBytes = 4 << 20;

    /// <summary>
    /// Learners that caught up with all there was at the beginning of so many rounds in a row may become voters (thesis
    /// 4.2.1).
    /// </summary>
    public const int RoundsToCatchUp = 3;

    private readonly Queue<(long Last, long Bytes)> _inFlight = new();
    private long _bytesInFlight;
    private long _roundTarget = -1;
    private long _roundBegan;
    private int _quickRounds;

    public NodeId Node { get; } = node;

    public ProgressState State { get; private set; }

    /// <summary>Entries through here are durable there.</summary>
    public long Match { get; private set; }

    /// <summary>The next entry to send.</summary>
    public long Next { get; private set; } = next;

    /// <summary>Its newest start that is known.</summary>
    public long Incarnation { get; set; }

    /// <summary>The start in which it confirmed <see cref="Match"/>.</summary>
    public long MatchIncarnation { get; private set; }

    /// <summary>Whether it is counted in the configuration in force.</summary>
    public bool IsVoter { get; set; }

    /// <summary>When it last answered.</summary>
    public long LastContact { get; set; } = now;

    /// <summary>The newest round of reads that it confirmed.</summary>
    public long Sequence { get; set; }

    /// <summary>The commit index it was told last.</summary>
    public long CommitSent { get; set; }

    /// <summary>
    /// Entries from here on wait for the commit of the one that takes its vote away: with it, it might have the longest
    /// log and be barred from leadership.
    /// </summary>
    public long HoldBackFrom { get; set; } = long.MaxValue;

    /// <summary>
    /// The first entry that cannot be read here, and that it fetches in a manifest: before it has that one, it need not
    /// be sent any. 0 when it fetches for another reason.
    /// </summary>
    public long FetchesThrough { get; set; }

    /// <summary>It has no part any more; it is told so, and then forgotten.</summary>
    public bool IsRemoved { get; set; }

    /// <summary>Since when nothing that was sent was confirmed.</summary>
    public long WaitingSince { get; private set; } = now;

    public StoreHealth Health { get; set; }

    /// <summary>
    /// Whether it has told this leader how its store does: until then it may be one that cannot apply.
    /// </summary>
    public bool HasToldHealth { get; set; }

    /// <summary>What it came to by applying, where it was asked last.</summary>
    public OutcomeHash Outcome { get; set; }

    /// <summary>
    /// How far its clock is from this node's monotonic time, and what it is worth; null before it told.
    /// </summary>
    public (long Difference, bool IsSure)? Clock { get; set; }

    /// <summary>When it told that.</summary>
    public long ClockReadAt { get; set; }

    public RoundTrips RoundTrips { get; } = new();

    public bool IsCaughtUp => _quickRounds >= RoundsToCatchUp;

    /// <summary>Whether another message may go out.</summary>
    public bool HasRoom =>
        State switch
        {
            ProgressState.Replicate => _inFlight.Count < MostMessages && _bytesInFlight < MostBytes,
            ProgressState.Probe => _inFlight.Count == 0,
            _ => false,
        };

    public bool IsWaiting => _inFlight.Count > 0 || State == ProgressState.Manifest;

    /// <summary>A message with entries through <paramref name="last"/> goes out.</summary>
    public void Sent(long last, long bytes, long now)
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

    /// <summary>It has entries through <paramref name="match"/>, durably.</summary>
    /// <returns>Whether that is news.</returns>
    public bool Acknowledged(long match, long now)
    {
        bool isNews = match > Match;
        MatchIncarnation = match >= Match ? Incarnation : MatchIncarnation;
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
            // A late answer to an earlier question is none to this one: who was started again since would be told of no
            // commit up to here before the next write.
            Become(ProgressState.Replicate, Match + 1, now);
        }

        Next = Math.Max(Next, Match + 1);
        return isNews;
    }

    /// <summary>Begins anew behind what is known to be there.</summary>
    public void ProbeFrom(long next, long now) => Become(ProgressState.Probe, Math.Max(next, Match + 1), now);

    /// <summary>It lost what it had acknowledged: nothing is known of it until it confirms again.</summary>
    public void Lost(long next, long now)
    {
        Match = 0;
        Become(ProgressState.Probe, next, now);
    }

    public void OfferManifest(long now)
    {
        Become(ProgressState.Manifest, Next, now);
        FetchesThrough = 0;
    }

    /// <summary>Counts the rounds in which it caught up with all that the log had at their beginning.</summary>
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

        (_roundTarget, _roundBegan) = (lastIndex, now);
    }

    private void Become(ProgressState state, long next, long now)
    {
        _inFlight.Clear();
        _bytesInFlight = 0;
        (State, Next, WaitingSince) = (state, next, now);
    }
}
