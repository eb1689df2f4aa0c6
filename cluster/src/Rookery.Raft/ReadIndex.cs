namespace Rookery.Raft;

/// <summary>
/// Reads that see every write acknowledged before they began, without a write (thesis 6.4): reads that arrive during a
/// round of heartbeats share the next one. No leases: a pause breaks them.
/// </summary>
public sealed partial class RaftCore
{
    private readonly List<(NodeId From, long Number)> _waitingReads = [];
    private readonly List<(NodeId From, long Number)> _readsOfRound = [];
    private readonly List<long> _readsOfRequest = [];
    private long _readRound;
    private long _readRoundIndex;
    private long _readRequest;
    private long _readRequestedAt;

    /// <summary>
    /// So many reads wait at most, for a leader or for its word: hosts give up on reads, and ask again, for as long as
    /// there is none.
    /// </summary>
    public const int MostWaitingReads = 1024;

    private bool MayWaitForRead => _waitingReads.Count + _readsOfRound.Count + _readsOfRequest.Count < MostWaitingReads;

    private void OnRead(long number)
    {
        if (!MayWaitForRead)
        {
            _output.RefuseRead(number);
            return;
        }

        _waitingReads.Add((Self, number));
        BeginReadRound();
        AskForReads();
    }

    private void OnRemoteRead(in Message message)
    {
        // Who is not heard asks again.
        if (Role == Role.Leader && MayWaitForRead)
        {
            _waitingReads.Add((message.From, message.Sequence));
            BeginReadRound();
        }
    }

    private void BeginReadRound()
    {
        if (
            Role != Role.Leader
            || _readsOfRound.Count > 0
            || _waitingReads.Count == 0
            || !_rules.MayBeginReads(OwnTermIsCommitted)
        )
        {
            return;
        }

        _readsOfRound.AddRange(_waitingReads);
        _waitingReads.Clear();
        _readRoundIndex = CommitIndex;
        _readRound++;
        if (_peers.Count > 0)
        {
            SendHeartbeats();
        }

        FinishReadRound();
    }

    private void FinishReadRound()
    {
        if (_readsOfRound.Count == 0 || !_rules.MayServeReads(RoundIsConfirmed()))
        {
            return;
        }

        foreach (var (from, number) in _readsOfRound)
        {
            if (from == Self)
            {
                _output.Serve(number, _readRoundIndex);
            }
            else
            {
                Send(
                    Make(MessageKind.ReadReply, from) with
                    {
                        Sequence = number,
                        LastIndex = _readRoundIndex,
                        Commit = _readRoundIndex,
                    }
                );
            }
        }

        _readsOfRound.Clear();
        BeginReadRound();
    }

    private bool RoundIsConfirmed()
    {
        int confirmed = 0;
        foreach (var voter in Configuration.Voters)
        {
            confirmed += voter == Self || Find(voter)?.Sequence >= _readRound ? 1 : 0;
        }

        return confirmed >= _rules.MajorityOf(Configuration);
    }

    /// <summary>
    /// Own reads of a leader that lost its leadership are asked of the next one; others' were theirs to ask again.
    /// </summary>
    private void TakeReadsBack()
    {
        _waitingReads.AddRange(_readsOfRound);
        _readsOfRound.Clear();
        _waitingReads.RemoveAll(read => read.From != Self);
        if (_waitingReads.Count > 0)
        {
            Coverage.Took(RareBranch.ReadsTakenBack);
        }
    }

    /// <summary>A follower asks the leader for all reads that wait, one question at a time.</summary>
    private void AskForReads()
    {
        if (Role != Role.Follower || Leader.IsNone || _readsOfRequest.Count > 0 || _waitingReads.Count == 0)
        {
            return;
        }

        foreach (var (_, number) in _waitingReads)
        {
            _readsOfRequest.Add(number);
        }

        _waitingReads.Clear();
        _readRequest++;
        _readRequestedAt = _now;
        Send(Make(MessageKind.Read, Leader) with { Sequence = _readRequest });
    }

    /// <summary>
    /// A question whose answer stays out is asked again under another number: the old answer may not serve reads that
    /// came after it.
    /// </summary>
    private void AskAgainForReads()
    {
        if (_readsOfRequest.Count > 0 && _now - _readRequestedAt > ElectionTimeoutMicroseconds / 3)
        {
            Coverage.Took(RareBranch.AskedAgain);
            WithdrawQuestion();
            AskForReads();
        }
    }

    private void WithdrawQuestion()
    {
        foreach (long number in _readsOfRequest)
        {
            _waitingReads.Add((Self, number));
        }

        _readsOfRequest.Clear();
    }

    private void OnReadReply(in Message message)
    {
        if (Role != Role.Follower || message.From != Leader || message.Sequence != _readRequest)
        {
            Coverage.Took(RareBranch.LateReadReply);
            return;
        }

        CommitAsFollower(message.Commit);
        foreach (long number in _readsOfRequest)
        {
            _output.Serve(number, message.LastIndex);
        }

        _readsOfRequest.Clear();
        AskForReads();
    }
}
