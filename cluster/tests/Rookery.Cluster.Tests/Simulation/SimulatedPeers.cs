using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>One start of one member on the wire: what it says after it died is heard by nobody.</summary>
internal sealed class SimulatedPeers(SteppedMember member, SimulatedWire wire) : IPeerNetwork
{
    public bool IsDead { get; set; }

    public IReadOnlyList<PeerAnswer> Answers { get; set; } = [];

    public Dictionary<NodeId, IReadOnlyList<FailedAttempt>> Attempts { get; } = [];

    public IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => Attempts.GetValueOrDefault(member) ?? [];

    /// <summary>To whom there is no connection for what is forwarded.</summary>
    public HashSet<NodeId> Unreached { get; } = [];

    public bool Reaches(NodeId member) => !Unreached.Contains(member);

    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (!IsDead)
        {
            wire.Send(message, frames);
        }
    }

    public ValueTask<CommandOutcome> ForwardAsync(
        NodeId leader,
        CommandBuffer command,
        CancellationToken cancellationToken
    ) =>
        new(
            wire.ForwardAsync(member, leader, command, isDead: IsDead || Unreached.Contains(leader), cancellationToken)
        );

    public void SetPeers(IReadOnlyList<PeerAddress> peers)
    {
        // Everybody is connected to everybody.
    }
}
