namespace Rookery.Raft;

/// <summary>
/// Makes a leader transfer leadership when its store stalls, or when another voter's board has been better for a while.
/// </summary>
internal sealed class StoreWatch(
    MemberState state,
    ProgressTracker tracker,
    LeadershipTransfer transfer,
    Election election,
    Outbox outbox
)
{
    private long _betterBoardSince;

    // Initially long ago. Half the minimum, so that a time minus this value does not overflow.
    private long _stallHandledAt = long.MinValue / 2;

    /// <summary>Records that this node became leader.</summary>
    public void Begin() => _betterBoardSince = state.Now;

    /// <summary>Handles a health measurement.</summary>
    /// <returns>Whether this leader must step down at once.</returns>
    public bool HandleHealth(StoreHealth measured)
    {
        state.Health = measured;
        if (
            !state.IsLeader
            || !state.IsStalled(measured)
            || state.Now - _stallHandledAt < Election.BanMicroseconds
            || EveryVoterStalls()
        )
        {
            return false;
        }

        _stallHandledAt = state.Now;
        election.BanAfterStall();
        outbox.Output.Report(CoreEvent.LeaderStoreStalled, state.Self);
        var successor = tracker.BestSuccessor();
        if (successor.IsNone)
        {
            Coverage.Count(RareBranch.StallStepsDown);
            return true;
        }

        Coverage.Count(RareBranch.StallHandsOver);
        transfer.Begin(successor, stepsDownUnlessDone: true);
        return false;
    }

    /// <summary>
    /// Transfers leadership to a better voter: after some minutes when its board is better, at once when this node
    /// cannot apply.
    /// </summary>
    public void PreferBetterBoard()
    {
        int ownPenalty = state.Health.BoardPenalty;
        bool betterExists = false;
        foreach (var peer in tracker)
        {
            betterExists |=
                state.Configuration.IsVoter(peer.Node)
                && peer.HasReportedHealth
                && peer.Health.BoardPenalty < ownPenalty
                && state.Now - peer.LastContact < state.ElectionTimeoutMicroseconds;
        }

        if (!betterExists)
        {
            _betterBoardSince = state.Now;
        }
        else if (
            (
                ownPenalty == StoreHealth.CannotApply
                || state.Now - _betterBoardSince >= state.Options.PreferenceMicroseconds
            )
            && tracker.BestSuccessor(mustHaveReportedHealth: true) is { IsNone: false } successor
            && tracker.Find(successor)!.Health.BoardPenalty < ownPenalty
        )
        {
            Coverage.Count(RareBranch.HandedToBetterBoard);
            _betterBoardSince = state.Now;
            transfer.Begin(successor);
        }
    }

    private bool EveryVoterStalls()
    {
        bool isAlone = true;
        foreach (var peer in tracker)
        {
            if (state.Configuration.IsVoter(peer.Node))
            {
                isAlone = false;
                if (!state.IsStalled(peer.Health))
                {
                    return false;
                }
            }
        }

        if (!isAlone)
        {
            Coverage.Count(RareBranch.StallOfAll);
        }

        return true;
    }
}
