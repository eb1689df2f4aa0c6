namespace Rookery.Raft;

/// <summary>
/// Linearizable reads without a write (thesis 6.4). Reads that arrive during a round of heartbeats share the next
/// round. No leases are used, because a paused process would violate them.
/// </summary>
internal sealed class ReadIndex(
    MemberState state,
    ProgressTracker tracker,
    Heartbeats heartbeats,
    Follower follower,
    Outbox outbox
)
{
    // An unanswered request is repeated this often in an election timeout.
    private const int RequestsPerTimeout = 3;

    private readonly List<(NodeId From, long Number)> _waiting = [];
    private readonly List<(NodeId From, long Number)> _inRound = [];
    private readonly List<long> _inRequest = [];

    // The read index of the running round: the commit index when the round began.
    private long _roundIndex;
    private long _requestedAt;

    // The upper half of a request's number is the number of the store's start. Otherwise the reply to a request of an
    // earlier start could serve a stale read.
    private long _request = state.StartNumber << 32;

    private bool HasRoom => _waiting.Count + _inRound.Count + _inRequest.Count < RaftCore.MaxWaitingReads;

    /// <summary>Handles a read of this node's host.</summary>
    public void HandleHostRead(long number)
    {
        if (!HasRoom)
        {
            outbox.Output.RefuseRead(number);
            return;
        }

        _waiting.Add((state.Self, number));
        BeginRound();
        AskLeader();
    }

    /// <summary>
    /// Handles a follower's read request. Drops the request when there is no room; the follower repeats it.
    /// </summary>
    public void HandleFollowerRead(in Message message)
    {
        if (state.IsLeader && HasRoom)
        {
            _waiting.Add((message.From, message.Sequence));
            BeginRound();
        }
    }

    /// <summary>
    /// Begins a round for the waiting reads, if no round is running and this leader has committed an entry of its term.
    /// </summary>
    public void BeginRound()
    {
        if (
            !state.IsLeader
            || _inRound.Count > 0
            || _waiting.Count == 0
            || !state.Rules.MayBeginReads(state.OwnTermIsCommitted)
        )
        {
            return;
        }

        _inRound.AddRange(_waiting);
        _waiting.Clear();
        _roundIndex = state.Log.CommitIndex;
        heartbeats.BeginRound();
        FinishRound();
    }

    /// <summary>Serves the reads of the round once a majority has confirmed it.</summary>
    public void FinishRound()
    {
        if (_inRound.Count == 0 || !state.Rules.MayServeReads(tracker.MajorityConfirmed(heartbeats.Round)))
        {
            return;
        }

        foreach (var (from, number) in _inRound)
        {
            if (from == state.Self)
            {
                outbox.Output.Serve(number, _roundIndex);
            }
            else
            {
                outbox.Send(
                    outbox.Make(MessageKind.ReadReply, from) with
                    {
                        Sequence = number,
                        LastIndex = _roundIndex,
                        Commit = _roundIndex,
                    }
                );
            }
        }

        _inRound.Clear();
        BeginRound();
    }

    /// <summary>
    /// Keeps this node's own reads for the next leader. Drops the followers' reads; followers repeat them.
    /// </summary>
    public void EndLeading()
    {
        _waiting.AddRange(_inRound);
        _inRound.Clear();
        _waiting.RemoveAll(read => read.From != state.Self);
        if (_waiting.Count > 0)
        {
            Coverage.Count(RareBranch.ReadsTakenBack);
        }
    }

    /// <summary>Moves the requested reads back to the waiting reads, because the leader may have changed.</summary>
    public void WithdrawRequest()
    {
        foreach (long number in _inRequest)
        {
            _waiting.Add((state.Self, number));
        }

        _inRequest.Clear();
    }

    /// <summary>Requests a read index from the leader for all waiting reads, one request at a time.</summary>
    public void AskLeader()
    {
        if (state.Role != Role.Follower || state.Leader.IsNone || _inRequest.Count > 0 || _waiting.Count == 0)
        {
            return;
        }

        foreach (var (_, number) in _waiting)
        {
            _inRequest.Add(number);
        }

        _waiting.Clear();
        _request++;
        _requestedAt = state.Now;
        outbox.Send(outbox.Make(MessageKind.Read, state.Leader) with { Sequence = _request });
    }

    /// <summary>
    /// Repeats an unanswered request under a new number: a late reply to the old request must not serve reads that
    /// arrived after that request.
    /// </summary>
    public void RepeatLateRequest()
    {
        if (_inRequest.Count > 0 && state.Now - _requestedAt > state.ElectionTimeoutMicroseconds / RequestsPerTimeout)
        {
            Coverage.Count(RareBranch.AskedAgain);
            WithdrawRequest();
            AskLeader();
        }
    }

    public void HandleReadReply(in Message message)
    {
        if (state.Role != Role.Follower || message.From != state.Leader || message.Sequence != _request)
        {
            Coverage.Count(RareBranch.LateReadReply);
            return;
        }

        follower.Commit(message.Commit);
        foreach (long number in _inRequest)
        {
            outbox.Output.Serve(number, message.LastIndex);
        }

        _inRequest.Clear();
        AskLeader();
    }
}
