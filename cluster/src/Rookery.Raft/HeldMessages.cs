namespace Rookery.Raft;

/// <summary>What rests on a vote record waits for it here, so that everything in an output may leave at once.</summary>
public sealed partial class RaftCore
{
    private readonly List<Message> held = [];

    /// <summary>Sends now, or when the vote record is durable that its term rests on.</summary>
    private void Send(in Message message)
    {
        if (durability.VoteIsDurable || rules.MayLeaveBeforeVoteIsDurable(message.Kind))
        {
            output.Send(message);
        }
        else
        {
            Hold(message);
        }
    }

    /// <summary>Of each kind only the newest waits for a peer: a disk that hangs for an hour must not make an hour of answers.</summary>
    private void Hold(in Message message)
    {
        var (kind, to) = (message.Kind, message.To);
        Coverage.Took(RareBranch.HeldForVote);
        if (held.RemoveAll(earlier => earlier.Kind == kind && earlier.To == to) > 0)
        {
            Coverage.Took(RareBranch.HeldReplaced);
        }

        // Held back by the own disk, it would tell of a slow network.
        held.Add(message with { SentAtMicroseconds = 0 });
    }

    private void SendHeld()
    {
        foreach (var message in held)
        {
            if (message.Term >= Term)
            {
                output.Send(message);
            }
            else
            {
                Coverage.Took(RareBranch.HeldForNothing);
            }
        }

        held.Clear();
    }
}
