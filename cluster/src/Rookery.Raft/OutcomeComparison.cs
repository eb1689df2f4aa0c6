namespace Rookery.Raft;

/// <summary>
/// Detects members that applied the same entries with different results. The leader's heartbeats name an index. Each
/// member replies with its outcome hash at that index. The next heartbeats carry the hash of a majority of the voters,
/// and a member with another hash halts. While voters differ and no majority agrees, proposals are refused. Not part of
/// Raft, whose proof assumes that apply is deterministic.
/// </summary>
internal sealed class OutcomeComparison(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private readonly OutcomeHistory _history = new();

    // On a follower: the majority's hash that is compared once this node has applied that entry.
    private OutcomeHash _toCompare;

    // On a leader: the index at which members are compared now (0 for none), and since when.
    private long _askedIndex;
    private long _askedAt;

    /// <summary>The last outcome hash on which a majority of the voters agreed; zeros before the first.</summary>
    public OutcomeHash Agreed { get; private set; }

    /// <summary>Whether voters differ and no majority of them agrees yet.</summary>
    public bool VotersDiffer { get; private set; }

    /// <summary>Whether this node's state differs from a majority's: it must stop.</summary>
    public bool HasDiverged { get; private set; }

    /// <summary>Returns this node's outcome hash at <paramref name="index"/>; zeros when unknown.</summary>
    public OutcomeHash At(long index) => _history.At(index);

    public void RecordApplied(OutcomeHash outcome)
    {
        ConsensusException.Unless(
            outcome.Index <= state.Log.ApplyThrough,
            "only committed and durable entries are applied"
        );
        _history.Add(outcome);
        if (outcome.Index == _toCompare.Index)
        {
            Coverage.Count(RareBranch.OutcomeComparedLater);
            Compare(_toCompare);
        }
    }

    /// <summary>Clears the history, because another member's state replaced this node's.</summary>
    public void ForgetHistory() => _history.Clear();

    /// <summary>Resets the state of a leader's comparison.</summary>
    public void EndLeading()
    {
        Agreed = default;
        _askedIndex = 0;
        VotersDiffer = false;
    }

    /// <summary>
    /// Ends the difference of voters when this leader has become the only voter. The voter that differed may leave
    /// before its next reply, and then no reply would end it.
    /// </summary>
    public void HandleVotersChanged() => VotersDiffer &= state.Configuration.Majority > 1;

    /// <summary>
    /// Returns the index at which the leader compares members. A new one is chosen when the last comparison is settled
    /// or has taken longer than an election timeout.
    /// </summary>
    public long IndexToCompare()
    {
        bool isOpen = _askedIndex > Agreed.Index && state.Now - _askedAt <= state.ElectionTimeoutMicroseconds;
        if (!isOpen && _history.Last.Index > Agreed.Index)
        {
            _askedIndex = _history.Last.Index;
            _askedAt = state.Now;
        }

        return _askedIndex;
    }

    /// <summary>On a leader: records a peer's outcome hash and checks whether a majority agrees.</summary>
    public void HandlePeerOutcome(Progress peer, OutcomeHash outcome)
    {
        if (outcome.Index == 0 || outcome.Index != _askedIndex || _askedIndex <= Agreed.Index)
        {
            return;
        }

        peer.Outcome = outcome;
        Span<long> hashes = stackalloc long[Configuration.MaxVoters];
        hashes = hashes[..CollectOfVoters(hashes)];
        if (HashOfMajority(hashes) is { } hash)
        {
            Agreed = new OutcomeHash(_askedIndex, hash);
            VotersDiffer = false;
            Compare(Agreed);
            return;
        }

        bool differedBefore = VotersDiffer;
        VotersDiffer = hashes.Length > 0 && hashes[0] != hashes[^1];

        // Report once, not for each answer to a heartbeat.
        if (VotersDiffer && !differedBefore)
        {
            Coverage.Count(RareBranch.OutcomesDiffer);
            outbox.Output.Report(CoreEvent.OutcomesDiffer, peer.Node);
        }
    }

    /// <summary>
    /// On a follower: compares this node's hash with the majority's, now or once this node has applied that entry.
    /// </summary>
    public void HandleAgreed(OutcomeHash agreed)
    {
        if (_toCompare.Index <= _history.Last.Index)
        {
            _toCompare = agreed;
            Compare(agreed);
        }
    }

    /// <summary>Sorts the hashes, and returns the one that a majority of the voters has; null for none.</summary>
    private long? HashOfMajority(Span<long> hashes)
    {
        hashes.Sort();
        int majority = state.Configuration.Majority;

        // The hashes are sorted, so equal ones are neighbours.
        for (int last = majority - 1; last < hashes.Length; last++)
        {
            if (hashes[last] == hashes[last - majority + 1])
            {
                return hashes[last];
            }
        }

        return null;
    }

    private int CollectOfVoters(Span<long> hashes)
    {
        int count = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            var outcome = voter == state.Self ? _history.At(_askedIndex) : tracker.Find(voter)?.Outcome ?? default;
            if (outcome.Index == _askedIndex)
            {
                hashes[count] = outcome.Hash;
                count++;
            }
        }

        return count;
    }

    private void Compare(OutcomeHash agreed)
    {
        var own = _history.At(agreed.Index);
        if (own.Index > 0 && !state.Rules.IsSameOutcome(own, agreed))
        {
            Coverage.Count(RareBranch.Diverged);
            outbox.Output.Report(CoreEvent.Diverged, state.Self);
            HasDiverged = true;
        }
    }
}
