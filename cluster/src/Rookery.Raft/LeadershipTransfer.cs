namespace Rookery.Raft;

/// <summary>
/// Hand-over of leadership to a peer (thesis 3.10): nothing is proposed from its beginning to its end.
/// </summary>
internal sealed class LeadershipTransfer(MemberState state, ProgressTracker tracker, Outbox outbox)
{
    private NodeId _target;
    private long _ends;
    private bool _stepsDownUnlessDone;

    public bool IsActive => !_target.IsNone;

    /// <summary>Hands over to <paramref name="node"/>; to the best of the peers for none.</summary>
    public void To(NodeId node)
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

    /// <summary>Hands over, unless it does already.</summary>
    /// <param name="target">Who shall lead.</param>
    /// <param name="stepsDownUnlessDone">Whether this node must not lead on if it comes to nothing.</param>
    public void Begin(NodeId target, bool stepsDownUnlessDone = false)
    {
        _stepsDownUnlessDone |= stepsDownUnlessDone;
        if (!IsActive)
        {
            (_target, _ends) = (target, state.Now + state.ElectionTimeoutMicroseconds);
            Finish();
        }
    }

    /// <summary>
    /// Proposals wait from the beginning of a transfer; when the target has everything durably, it campaigns without
    /// waiting for silence.
    /// </summary>
    public void Finish()
    {
        if (state.IsLeader && tracker.Find(_target) is { } peer && peer.Match == state.Log.Entries.LastIndex)
        {
            outbox.Send(outbox.Make(MessageKind.TimeoutNow, _target));
        }
    }

    /// <summary>Gives up a transfer that takes too long.</summary>
    /// <returns>Whether this node has to step down for it.</returns>
    public bool GiveUpIfLate()
    {
        if (!IsActive || state.Now < _ends)
        {
            return false;
        }

        Coverage.Took(RareBranch.TransferGivenUp);
        _target = NodeId.None;
        return _stepsDownUnlessDone;
    }

    /// <summary>This node leads no more.</summary>
    public void EndLeading()
    {
        _target = state.Rules.TransferAfterLeadership(_target);
        _stepsDownUnlessDone = false;
    }
}
