using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Commit;

/// <summary>
/// Answers the callers of proposals, releases the bytes that <see cref="Admission"/> admitted for them, and counts
/// unanswered proposals. Callable from any thread. Each proposal is answered exactly once.
/// </summary>
internal sealed class ProposalAnswers(Admission admission, bool continuesInline)
{
    private int _unanswered;

    /// <summary>The number of proposals that are not answered yet.</summary>
    public int Unanswered => Volatile.Read(ref _unanswered);

    /// <summary>Counts one more proposal to answer.</summary>
    public void AddUnanswered() => Interlocked.Increment(ref _unanswered);

    /// <summary>Answers every caller of an entry with the outcome of its command.</summary>
    public void Answer(CachedEntry entry)
    {
        Interlocked.Add(ref _unanswered, -entry.ProposalCount);
        entry.Answer(admission, continuesInline);
    }

    /// <summary>Refuses every caller of an entry.</summary>
    public void Refuse(CachedEntry entry, Rejection rejection)
    {
        Interlocked.Add(ref _unanswered, -entry.ProposalCount);
        entry.Refuse(rejection, admission, continuesInline);
    }

    /// <summary>Refuses the caller of a proposal that is in no entry.</summary>
    public void Refuse(Proposal proposal, Rejection rejection)
    {
        admission.Leave(proposal.Bytes);
        AnswerReleased(proposal, new CommandOutcome(rejection));
    }

    /// <summary>Refuses every caller in <paramref name="waiting"/>.</summary>
    public void RefuseAll(Queue<Proposal> waiting, Rejection rejection)
    {
        while (waiting.TryDequeue(out var proposal))
        {
            Refuse(proposal, rejection);
        }
    }

    /// <summary>Releases the admitted bytes of a proposal that is forwarded. The leader admits them again.</summary>
    public void ReleaseAdmission(Proposal proposal) => admission.Leave(proposal.Bytes);

    /// <summary>Answers the caller of a proposal whose admitted bytes were already released.</summary>
    public void AnswerReleased(Proposal proposal, in CommandOutcome outcome)
    {
        Interlocked.Decrement(ref _unanswered);
        proposal.Complete(outcome, continuesInline);
    }
}
