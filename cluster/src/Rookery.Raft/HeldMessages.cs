namespace Rookery.Raft;

/// <summary>What rests on a vote record waits for it here, so that everything in an output may leave at once.</summary>
public sealed partial class RaftCore
{
    private readonly List<Message> _held = [];

    /// <summary>Sends now, or when the vote record is durable that its term rests on.</summary>
    private void Send(in Message message)
    {
        if (_durability.VoteIsDurable || _rules.MayLeaveBeforeVoteIsDurable(message.Kind))
        {
            _output.Send(message);
        }
        else
        {
            Hold(message);
        }
    }

    /// <summary>
    /// Of each kind only the newest waits for a peer: a disk that hangs for an hour must not make an hour of answers.
    /// </summary>
    private void Hold(in Message message)
    {
        var (kind, to) = (message.Kind, message.To);
        Coverage.Took(RareBranch.HeldForVote);
        if (_held.RemoveAll(earlier => earlier.Kind == kind && earlier.To == to) > 0)
        {
            Coverage.Took(RareBranch.HeldReplaced);
        }

        // Held back by the own disk, it would tell of a slow network.
        _held.Add(message with { SentAtMicroseconds = 0 });
    }

    private void SendHeld()
    {
        foreach (var message in _held)
        {
            if (message.Term >= Term)
            {
                _output.Send(message);
            }
            else
            {
                Coverage.Took(RareBranch.HeldForNothing);
            }
        }

        _held.Clear();
    }
}
