namespace Rookery.Raft;

/// <summary>
/// Collects the output of a step. Holds messages back until the vote record that they depend on is durable, so the host
/// may send all messages of an output at once.
/// </summary>
internal sealed class Outbox(MemberState state)
{
    private readonly List<Message> _held = [];

    /// <summary>The output of the current step.</summary>
    public Output Output { get; private set; } = new();

    /// <summary>Begins a step.</summary>
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
            StartNumber = state.StartNumber,
        };

    public Message Reply(in Message to, MessageKind kind) =>
        Make(kind, to.From) with
        {
            Sequence = to.Sequence,
            SentAtMicroseconds = to.SentAtMicroseconds,
        };

    /// <summary>Adds a message to the output, or holds it back until the vote record of its term is durable.</summary>
    public void Send(in Message message)
    {
        if (state.Log.Durability.VoteIsDurable || state.Rules.MaySendBeforeVoteIsDurable(message.Kind))
        {
            Output.Send(message);
        }
        else
        {
            HoldMessage(message);
        }
    }

    /// <summary>Sends the held messages of the current term, because the vote record is durable.</summary>
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
                Coverage.Count(RareBranch.HeldForNothing);
            }
        }

        _held.Clear();
    }

    /// <summary>
    /// Holds a message back. Only the newest message of each kind is held for each peer, so that memory stays bounded
    /// while a disk hangs.
    /// </summary>
    private void HoldMessage(in Message message)
    {
        var (kind, to) = (message.Kind, message.To);
        Coverage.Count(RareBranch.HeldForVote);
        if (_held.RemoveAll(earlier => earlier.Kind == kind && earlier.To == to) > 0)
        {
            Coverage.Count(RareBranch.HeldReplaced);
        }

        // 0, because the delay by the disk must not count as a network round trip.
        _held.Add(message with { SentAtMicroseconds = 0 });
    }
}
