using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Answers the callers of proposals, gives back the room that these took, and counts those that are not answered yet.
/// From any thread; a proposal is answered once, by who has it.
/// </summary>
internal sealed class ProposalAnswers(Admission admission, bool areInline)
{
    private int _queued;

    /// <summary>Proposals that are not answered yet.</summary>
    public int Queued => Volatile.Read(ref _queued);

    /// <summary>One more is to be answered.</summary>
    public void Expect() => Interlocked.Increment(ref _queued);

    /// <summary>Answers every caller of a frame with the outcomes of its commands.</summary>
    public void Answer(LogFrame frame)
    {
        Interlocked.Add(ref _queued, -frame.Count);
        frame.Answer(admission, areInline);
    }

    /// <summary>Answers every caller of a frame with a refusal.</summary>
    public void Refuse(LogFrame frame, Rejection rejection)
    {
        Interlocked.Add(ref _queued, -frame.Count);
        frame.Refuse(rejection, admission, areInline);
    }

    /// <summary>Answers the caller of a proposal that is in no frame with a refusal.</summary>
    public void Refuse(Proposal proposal, Rejection rejection)
    {
        admission.Leave(proposal.Bytes);
        AnswerElsewhere(proposal, new CommandOutcome(rejection));
    }

    /// <summary>Answers every caller that waits with a refusal.</summary>
    public void RefuseAll(Queue<Proposal> waiting, Rejection rejection)
    {
        while (waiting.TryDequeue(out var proposal))
        {
            Refuse(proposal, rejection);
        }
    }

    /// <summary>Gives back the room of a proposal that is passed on: it is admitted again where it goes.</summary>
    public void GiveRoomBack(Proposal proposal) => admission.Leave(proposal.Bytes);

    /// <summary>Answers the caller of a proposal whose room was given back before.</summary>
    public void AnswerElsewhere(Proposal proposal, in CommandOutcome outcome)
    {
        Interlocked.Decrement(ref _queued);
        proposal.Complete(outcome, areInline);
    }
}
