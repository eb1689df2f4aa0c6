namespace Rookery.Raft;

/// <summary>
/// Detects members that applied the same entries with different results. The leader names an index in its heartbeats,
/// each member answers with its outcome hash there, and the next heartbeats carry the hash that a majority of the
/// voters has. A member with another hash halts, the leader included. While voters differ without a majority, nothing
/// is proposed. Not part of Raft, whose proof assumes that apply is deterministic.
/// </summary>
internal sealed class OutcomeComparison(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private readonly OutcomeHistory _history = new();
    private OutcomeHash _toCompare;
    private long _askedIndex;
    private long _askedAt;

    /// <summary>
    /// The outcome hash of a majority of the voters, as this leader knows it; zeros before the first.
    /// </summary>
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

    /// <summary>Drops the history, because the state was replaced by another member's.</summary>
    public void ForgetHistory() => _history.Clear();

    /// <summary>Resets the leader's state; the next leader starts its own comparison.</summary>
    public void EndLeading() => (Agreed, _askedIndex, VotersDiffer) = (default, 0, false);

    /// <summary>
    /// Returns the index at which the leader compares members. A new one is chosen when the last comparison is settled
    /// or has taken longer than an election timeout.
    /// </summary>
    public long IndexToAskFor()
    {
        bool isOpen = _askedIndex > Agreed.Index && state.Now - _askedAt <= state.ElectionTimeoutMicroseconds;
        if (!isOpen && _history.Last.Index > Agreed.Index)
        {
            (_askedIndex, _askedAt) = (_history.Last.Index, state.Now);
        }

        return _askedIndex;
    }

    /// <summary>As a leader: records a peer's outcome hash and looks for a majority.</summary>
    public void HandlePeerOutcome(Progress peer, OutcomeHash outcome)
    {
        if (outcome.Index == 0 || outcome.Index != _askedIndex || _askedIndex <= Agreed.Index)
        {
            return;
        }

        peer.Outcome = outcome;
        Span<long> hashes = stackalloc long[Configuration.MostVoters];
        int count = CollectOfVoters(hashes);
        hashes = hashes[..count];
        hashes.Sort();
        bool differedBefore = VotersDiffer;
        VotersDiffer = count > 0 && hashes[0] != hashes[^1];
        int majority = state.Configuration.Majority;
        for (int last = majority - 1; last < count; last++)
        {
            if (hashes[last] == hashes[last - majority + 1])
            {
                (Agreed, VotersDiffer) = (new OutcomeHash(_askedIndex, hashes[last]), false);
                Compare(Agreed);
                return;
            }
        }

        // Report once, not for each answer to a heartbeat.
        if (VotersDiffer && !differedBefore)
        {
            Coverage.Count(RareBranch.OutcomesDiffer);
            outbox.Output.Tell(CoreEvent.OutcomesDiffer, peer.Node);
        }
    }

    /// <summary>
    /// As a follower: compares with the majority's hash, as soon as this node has applied that entry.
    /// </summary>
    public void HandleAgreed(OutcomeHash agreed)
    {
        if (_toCompare.Index <= _history.Last.Index)
        {
            _toCompare = agreed;
            Compare(agreed);
        }
    }

    private int CollectOfVoters(Span<long> hashes)
    {
        int count = 0;
        foreach (var voter in state.Configuration.Voters)
        {
            var outcome = voter == state.Self ? _history.At(_askedIndex) : tracker.Find(voter)?.Outcome ?? default;
            if (outcome.Index == _askedIndex)
            {
                hashes[count++] = outcome.Hash;
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
            outbox.Output.Tell(CoreEvent.Diverged, state.Self);
            HasDiverged = true;
        }
    }
}
