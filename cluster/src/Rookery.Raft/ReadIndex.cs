namespace Rookery.Raft;

/// <summary>
/// Reads that see every write acknowledged before they began, without a write (thesis 6.4): reads that arrive during a
/// round of heartbeats share the next one. No leases: a pause breaks them.
/// </summary>
internal sealed class ReadIndex(
    MemberState state,
    ProgressTracker tracker,
    Heartbeats heartbeats,
    Follower follower,
    Outbox outbox
)
{
    private readonly List<(NodeId From, long Number)> _waiting = [];
    private readonly List<(NodeId From, long Number)> _ofRound = [];
    private readonly List<long> _ofRequest = [];
    private long _roundIndex;
    private long _requestedAt;

    // An answer to a question of an earlier start must not answer one of this: a read would see the past.
    private long _request = state.Incarnation << 32;

    private bool HasRoom => _waiting.Count + _ofRound.Count + _ofRequest.Count < RaftCore.MostWaitingReads;

    /// <summary>A read of this node's host.</summary>
    public void Take(long number)
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

    /// <summary>A follower asks for reads of its own. Who is not heard asks again.</summary>
    public void TakeOfFollower(in Message message)
    {
        if (state.IsLeader && HasRoom)
        {
            _waiting.Add((message.From, message.Sequence));
            BeginRound();
        }
    }

    /// <summary>A leader begins a round for the reads that wait, one round at a time.</summary>
    public void BeginRound()
    {
        if (
            !state.IsLeader
            || _ofRound.Count > 0
            || _waiting.Count == 0
            || !state.Rules.MayBeginReads(state.OwnTermIsCommitted)
        )
        {
            return;
        }

        _ofRound.AddRange(_waiting);
        _waiting.Clear();
        _roundIndex = state.Log.CommitIndex;
        heartbeats.BeginRound();
        FinishRound();
    }

    /// <summary>Serves the reads of the round when a majority confirmed it.</summary>
    public void FinishRound()
    {
        if (_ofRound.Count == 0 || !state.Rules.MayServeReads(tracker.MajorityConfirmed(heartbeats.Round)))
        {
            return;
        }

        foreach (var (from, number) in _ofRound)
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

        _ofRound.Clear();
        BeginRound();
    }

    /// <summary>
    /// Own reads of a leader that lost its leadership are asked of the next one; others' were theirs to ask again.
    /// </summary>
    public void EndLeading()
    {
        _waiting.AddRange(_ofRound);
        _ofRound.Clear();
        _waiting.RemoveAll(read => read.From != state.Self);
        if (_waiting.Count > 0)
        {
            Coverage.Took(RareBranch.ReadsTakenBack);
        }
    }

    /// <summary>The leader may be another: what it was asked waits again.</summary>
    public void WithdrawQuestion()
    {
        foreach (long number in _ofRequest)
        {
            _waiting.Add((state.Self, number));
        }

        _ofRequest.Clear();
    }

    /// <summary>A follower asks the leader for all reads that wait, one question at a time.</summary>
    public void AskLeader()
    {
        if (state.Role != Role.Follower || state.Leader.IsNone || _ofRequest.Count > 0 || _waiting.Count == 0)
        {
            return;
        }

        foreach (var (_, number) in _waiting)
        {
            _ofRequest.Add(number);
        }

        _waiting.Clear();
        _request++;
        _requestedAt = state.Now;
        outbox.Send(outbox.Make(MessageKind.Read, state.Leader) with { Sequence = _request });
    }

    /// <summary>
    /// A question whose answer stays out is asked again under another number: the old answer may not serve reads that
    /// came after it.
    /// </summary>
    public void AskAgainIfLate()
    {
        if (_ofRequest.Count > 0 && state.Now - _requestedAt > state.ElectionTimeoutMicroseconds / 3)
        {
            Coverage.Took(RareBranch.AskedAgain);
            WithdrawQuestion();
            AskLeader();
        }
    }

    public void TakeAnswer(in Message message)
    {
        if (state.Role != Role.Follower || message.From != state.Leader || message.Sequence != _request)
        {
            Coverage.Took(RareBranch.LateReadReply);
            return;
        }

        follower.Commit(message.Commit);
        foreach (long number in _ofRequest)
        {
            outbox.Output.Serve(number, message.LastIndex);
        }

        _ofRequest.Clear();
        AskLeader();
    }
}
