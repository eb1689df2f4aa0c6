namespace Rookery.Raft;

/// <summary>
/// Whether members that applied the same entries came to the same state. The leader names an index in its heartbeats,
/// each member answers with its chain there, and the next heartbeats carry what a majority of the voters has: who has
/// another halts, the leader too. While there is no majority, nothing is proposed. Not part of Raft, whose argument
/// takes for granted that apply is deterministic.
/// </summary>
public sealed partial class RaftCore
{
    private readonly OutcomeHistory _outcomes = new();
    private OutcomeHash _agreedOutcome;
    private OutcomeHash _outcomeToCompare;
    private long _outcomeAskedIndex;
    private long _outcomeAskedAt;
    private bool _outcomesDiffer;

    private void OnApplied(OutcomeHash outcome)
    {
        ConsensusException.Unless(outcome.Index <= ApplyThrough, "only what is committed and durable is applied");
        _outcomes.Add(outcome);
        if (outcome.Index == _outcomeToCompare.Index)
        {
            Coverage.Took(RareBranch.OutcomeComparedLater);
            CompareOutcome(_outcomeToCompare);
        }
    }

    /// <summary>
    /// As a leader: the index at which members shall be compared; a new one when the last is settled, or was not for an
    /// election timeout.
    /// </summary>
    private long OutcomeToAskFor()
    {
        bool isOpen =
            _outcomeAskedIndex > _agreedOutcome.Index && _now - _outcomeAskedAt <= ElectionTimeoutMicroseconds;
        if (!isOpen && _outcomes.Last.Index > _agreedOutcome.Index)
        {
            (_outcomeAskedIndex, _outcomeAskedAt) = (_outcomes.Last.Index, _now);
        }

        return _outcomeAskedIndex;
    }

    private void TakeOutcome(Progress peer, OutcomeHash outcome)
    {
        if (outcome.Index == 0 || outcome.Index != _outcomeAskedIndex || _outcomeAskedIndex <= _agreedOutcome.Index)
        {
            return;
        }

        peer.Outcome = outcome;
        Span<long> hashes = stackalloc long[Configuration.MostVoters];
        int count = OutcomesOfVoters(hashes);
        hashes = hashes[..count];
        hashes.Sort();
        bool differedBefore = _outcomesDiffer;
        _outcomesDiffer = count > 0 && hashes[0] != hashes[^1];
        for (int last = Configuration.Majority - 1; last < count; last++)
        {
            if (hashes[last] == hashes[last - Configuration.Majority + 1])
            {
                Agree(new OutcomeHash(_outcomeAskedIndex, hashes[last]));
                return;
            }
        }

        // Once, not with each answer to a heartbeat.
        if (_outcomesDiffer && !differedBefore)
        {
            Coverage.Took(RareBranch.OutcomesDiffer);
            _output.Tell(CoreEvent.OutcomesDiffer, peer.Node);
        }
    }

    private int OutcomesOfVoters(Span<long> hashes)
    {
        int count = 0;
        foreach (var voter in Configuration.Voters)
        {
            var outcome = voter == Self ? _outcomes.At(_outcomeAskedIndex) : Find(voter)?.Outcome ?? default;
            if (outcome.Index == _outcomeAskedIndex)
            {
                hashes[count++] = outcome.Hash;
            }
        }

        return count;
    }

    private void Agree(OutcomeHash outcome)
    {
        (_agreedOutcome, _outcomesDiffer) = (outcome, false);
        CompareOutcome(outcome);
    }

    /// <summary>What a majority has, compared as soon as the own state has come there.</summary>
    private void HearAgreedOutcome(OutcomeHash agreed)
    {
        if (_outcomeToCompare.Index <= _outcomes.Last.Index)
        {
            _outcomeToCompare = agreed;
            CompareOutcome(agreed);
        }
    }

    private void CompareOutcome(OutcomeHash agreed)
    {
        var own = _outcomes.At(agreed.Index);
        if (own.Index > 0 && !_rules.IsSameOutcome(own, agreed))
        {
            Coverage.Took(RareBranch.Diverged);
            _output.Tell(CoreEvent.Diverged, Self);
            BecomeFollower(Term, NodeId.None);
            HasFailed = true;
        }
    }

    private void ForgetOutcomes()
    {
        (_agreedOutcome, _outcomeAskedIndex, _outcomesDiffer) = (default, 0, false);
    }
}
