namespace Rookery.Raft;

/// <summary>
/// Gathers what a step asks of the host. Messages that rest on a vote record wait for it here, so that everything in an
/// output may leave at once.
/// </summary>
internal sealed class Outbox(MemberState state)
{
    private readonly List<Message> _held = [];

    /// <summary>What the step asks for.</summary>
    public Output Output { get; private set; } = new();

    /// <summary>A step begins.</summary>
    public void Begin(Output output)
    {
        Output = output;
        output.Clear();
    }

    public Message Make(MessageKind kind, NodeId to) =>
        new()
        {
            Kind = kind,
            From = state.Self,
            To = to,
            Term = state.Term,
            Incarnation = state.Incarnation,
        };

    public Message Reply(in Message to, MessageKind kind) =>
        Make(kind, to.From) with
        {
            Sequence = to.Sequence,
            SentAtMicroseconds = to.SentAtMicroseconds,
        };

    /// <summary>Sends now, or when the vote record is durable that its term rests on.</summary>
    public void Send(in Message message)
    {
        if (state.Log.Durability.VoteIsDurable || state.Rules.MayLeaveBeforeVoteIsDurable(message.Kind))
        {
            Output.Send(message);
        }
        else
        {
            Hold(message);
        }
    }

    /// <summary>The vote record is durable: what waited for it leaves, unless its term is over.</summary>
    public void SendHeld()
    {
        foreach (var message in _held)
        {
            if (message.Term >= state.Term)
            {
                Output.Send(message);
            }
            else
            {
                Coverage.Took(RareBranch.HeldForNothing);
            }
        }

        _held.Clear();
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
}
