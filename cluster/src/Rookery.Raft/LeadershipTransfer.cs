namespace Rookery.Raft;

/// <summary>Leadership transfer to a peer (thesis 3.10). Proposals are refused while a transfer runs.</summary>
internal sealed class LeadershipTransfer(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private NodeId _target;
    private long _ends; // in microseconds, as MemberState.Now
    private bool _stepsDownUnlessDone;

    public bool IsActive => !_target.IsNone;

    /// <summary>
    /// Transfers leadership to <paramref name="node"/>, or to the best voter for <see cref="NodeId.None"/>.
    /// </summary>
    public void TransferTo(NodeId node)
    {
        if (!state.IsLeader)
        {
            return;
        }

        var target = node.IsNone ? tracker.BestSuccessor() : node;
        if (target != state.Self && state.Configuration.IsVoter(target))
        {
            Begin(target);
        }
    }

    /// <summary>Begins a transfer, unless one is running.</summary>
    /// <param name="target">The member that is to lead.</param>
    /// <param name="stepsDownUnlessDone">Whether this node must step down if the transfer fails.</param>
    public void Begin(NodeId target, bool stepsDownUnlessDone = false)
    {
        _stepsDownUnlessDone |= stepsDownUnlessDone;
        if (!IsActive)
        {
            _target = target;
            _ends = state.Now + state.ElectionTimeoutMicroseconds;
            StartCampaignIfCaughtUp();
        }
    }

    /// <summary>Tells the target to campaign at once, if it has the whole log durably.</summary>
    public void StartCampaignIfCaughtUp()
    {
        if (state.IsLeader && tracker.Find(_target) is { } peer && peer.Match == state.Log.Entries.LastIndex)
        {
            outbox.Send(outbox.Make(MessageKind.TimeoutNow, _target));
        }
    }

    /// <summary>Abandons a transfer that takes too long.</summary>
    /// <returns>Whether this node must step down because of that.</returns>
    public bool AbandonIfLate()
    {
        if (!IsActive || state.Now < _ends)
        {
            return false;
        }

        Coverage.Count(RareBranch.TransferGivenUp);
        _target = NodeId.None;
        return _stepsDownUnlessDone;
    }

    /// <summary>Ends the transfer, because this node no longer leads.</summary>
    public void EndLeading()
    {
        _target = state.Rules.TransferAfterLeadership(_target);
        _stepsDownUnlessDone = false;
    }
}
