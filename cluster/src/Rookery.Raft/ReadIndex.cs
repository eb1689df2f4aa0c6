namespace Rookery.Raft;

/// <summary>
/// Reads that see every write acknowledged before they began, without a write (thesis 6.4): reads that arrive during a round of heartbeats share the next
/// one. No leases: a pause breaks them.
/// </summary>
public sealed partial class RaftCore
{
    private readonly List<(NodeId From, long Number)> waitingReads = [];
    private readonly List<(NodeId From, long Number)> readsOfRound = [];
    private readonly List<long> readsOfRequest = [];
    private long readRound;
    private long readRoundIndex;
    private long readRequest;
    private long readRequestedAt;

    /// <summary>So many reads wait at most, for a leader or for its word: hosts give up on reads, and ask again, for as long as there is none.</summary>
    public const int MostWaitingReads = 1024;

    private bool MayWaitForRead => waitingReads.Count + readsOfRound.Count + readsOfRequest.Count < MostWaitingReads;

    private void OnRead(long number)
    {
        if (!MayWaitForRead)
        {
            output.RefuseRead(number);
            return;
        }

        waitingReads.Add((Self, number));
        BeginReadRound();
        AskForReads();
    }

    private void OnRemoteRead(in Message message)
    {
        // Who is not heard asks again.
        if (Role == Role.Leader && MayWaitForRead)
        {
            waitingReads.Add((message.From, message.Sequence));
            BeginReadRound();
        }
    }

    private void BeginReadRound()
    {
        if (Role != Role.Leader || readsOfRound.Count > 0 || waitingReads.Count == 0 || !rules.MayBeginReads(OwnTermIsCommitted))
        {
            return;
        }

        readsOfRound.AddRange(waitingReads);
        waitingReads.Clear();
        readRoundIndex = CommitIndex;
        readRound++;
        if (peers.Count > 0)
        {
            SendHeartbeats();
        }

        FinishReadRound();
    }

    private void FinishReadRound()
    {
        if (readsOfRound.Count == 0 || !rules.MayServeReads(RoundIsConfirmed()))
        {
            return;
        }

        foreach (var (from, number) in readsOfRound)
        {
            if (from == Self)
            {
                output.Serve(number, readRoundIndex);
            }
            else
            {
                Send(Make(MessageKind.ReadReply, from) with { Sequence = number, LastIndex = readRoundIndex, Commit = readRoundIndex });
            }
        }

        readsOfRound.Clear();
        BeginReadRound();
    }

    private bool RoundIsConfirmed()
    {
        int confirmed = 0;
        foreach (var voter in Configuration.Voters)
        {
            confirmed += voter == Self || Find(voter)?.Sequence >= readRound ? 1 : 0;
        }

        return confirmed >= rules.MajorityOf(Configuration);
    }

    /// <summary>Own reads of a leader that lost its office are asked of the next one; others' were theirs to ask again.</summary>
    private void TakeReadsBack()
    {
        waitingReads.AddRange(readsOfRound);
        readsOfRound.Clear();
        waitingReads.RemoveAll(read => read.From != Self);
        if (waitingReads.Count > 0)
        {
            Coverage.Took(RareBranch.ReadsTakenBack);
        }
    }

    /// <summary>A follower asks the leader for all reads that wait, one question at a time.</summary>
    private void AskForReads()
    {
        if (Role != Role.Follower || Leader.IsNone || readsOfRequest.Count > 0 || waitingReads.Count == 0)
        {
            return;
        }

        foreach (var (_, number) in waitingReads)
        {
            readsOfRequest.Add(number);
        }

        waitingReads.Clear();
        readRequest++;
        readRequestedAt = now;
        Send(Make(MessageKind.Read, Leader) with { Sequence = readRequest });
    }

    /// <summary>A question whose answer stays out is asked again under another number: the old answer may not serve reads that came after it.</summary>
    private void AskAgainForReads()
    {
        if (readsOfRequest.Count > 0 && now - readRequestedAt > ElectionTimeoutMicroseconds / 3)
        {
            Coverage.Took(RareBranch.AskedAgain);
            WithdrawQuestion();
            AskForReads();
        }
    }

    private void WithdrawQuestion()
    {
        foreach (long number in readsOfRequest)
        {
            waitingReads.Add((Self, number));
        }

        readsOfRequest.Clear();
    }

    private void OnReadReply(in Message message)
    {
        if (Role != Role.Follower || message.From != Leader || message.Sequence != readRequest)
        {
            Coverage.Took(RareBranch.LateReadReply);
            return;
        }

        CommitAsFollower(message.Commit);
        foreach (long number in readsOfRequest)
        {
            output.Serve(number, message.LastIndex);
        }

        readsOfRequest.Clear();
        AskForReads();
    }
}
