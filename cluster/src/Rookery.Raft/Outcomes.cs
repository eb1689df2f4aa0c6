namespace Rookery.Raft;

/// <summary>
/// Whether members that applied the same entries came to the same state. The leader names an index in its heartbeats, each member answers with its chain there, and the
/// next heartbeats carry what a majority of the voters has: who has another halts, the leader too. While there is no majority, nothing is proposed. Not part of Raft,
/// whose argument takes for granted that apply is deterministic.
/// </summary>
public sealed partial class RaftCore
{
    private readonly OutcomeHistory outcomes = new();
    private OutcomeHash agreedOutcome;
    private OutcomeHash outcomeToCompare;
    private long outcomeAskedIndex;
    private long outcomeAskedAt;
    private bool outcomesDiffer;

    private void OnApplied(OutcomeHash outcome)
    {
        ConsensusException.Unless(outcome.Index <= ApplyThrough, "only what is committed and durable is applied");
        outcomes.Add(outcome);
        if (outcome.Index == outcomeToCompare.Index)
        {
            Coverage.Took(RareBranch.OutcomeComparedLater);
            CompareOutcome(outcomeToCompare);
        }
    }

    /// <summary>As a leader: the index at which members shall be compared; a new one when the last is settled, or was not for an election timeout.</summary>
    private long OutcomeToAskFor()
    {
        bool isOpen = outcomeAskedIndex > agreedOutcome.Index && now - outcomeAskedAt <= ElectionTimeoutMicroseconds;
        if (!isOpen && outcomes.Last.Index > agreedOutcome.Index)
        {
            (outcomeAskedIndex, outcomeAskedAt) = (outcomes.Last.Index, now);
        }

        return outcomeAskedIndex;
    }

    private void TakeOutcome(Progress peer, OutcomeHash outcome)
    {
        if (outcome.Index == 0 || outcome.Index != outcomeAskedIndex || outcomeAskedIndex <= agreedOutcome.Index)
        {
            return;
        }

        peer.Outcome = outcome;
        Span<long> hashes = stackalloc long[Configuration.MostVoters];
        int count = OutcomesOfVoters(hashes);
        hashes = hashes[..count];
        hashes.Sort();
        bool differedBefore = outcomesDiffer;
        outcomesDiffer = count > 0 && hashes[0] != hashes[^1];
        for (int last = Configuration.Majority - 1; last < count; last++)
        {
            if (hashes[last] == hashes[last - Configuration.Majority + 1])
            {
                Agree(new OutcomeHash(outcomeAskedIndex, hashes[last]));
                return;
            }
        }

        // Once, not with each answer to a heartbeat.
        if (outcomesDiffer && !differedBefore)
        {
            Coverage.Took(RareBranch.OutcomesDiffer);
            output.Tell(CoreEvent.OutcomesDiffer, peer.Node);
        }
    }

    private int OutcomesOfVoters(Span<long> hashes)
    {
        int count = 0;
        foreach (var voter in Configuration.Voters)
        {
            var outcome = voter == Self ? outcomes.At(outcomeAskedIndex) : Find(voter)?.Outcome ?? default;
            if (outcome.Index == outcomeAskedIndex)
            {
                hashes[count++] = outcome.Hash;
            }
        }

        return count;
    }

    private void Agree(OutcomeHash outcome)
    {
        (agreedOutcome, outcomesDiffer) = (outcome, false);
        CompareOutcome(outcome);
    }

    /// <summary>What a majority has, compared as soon as the own state has come there.</summary>
    private void HearAgreedOutcome(OutcomeHash agreed)
    {
        if (outcomeToCompare.Index <= outcomes.Last.Index)
        {
            outcomeToCompare = agreed;
            CompareOutcome(agreed);
        }
    }

    private void CompareOutcome(OutcomeHash agreed)
    {
        var own = outcomes.At(agreed.Index);
        if (own.Index > 0 && !rules.IsSameOutcome(own, agreed))
        {
            Coverage.Took(RareBranch.Diverged);
            output.Tell(CoreEvent.Diverged, Self);
            Follow(Term, NodeId.None);
            HasFailed = true;
        }
    }

    private void ForgetOutcomes()
    {
        (agreedOutcome, outcomeAskedIndex, outcomesDiffer) = (default, 0, false);
    }
}
