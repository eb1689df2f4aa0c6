using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The connections of one start of one member. Messages sent after it ended are dropped.</summary>
internal sealed class SimulatedPeers(SteppedMember member, SimulatedWire wire) : IPeerNetwork
{
    public bool IsDead { get; set; }

    public IReadOnlyList<PeerAnswer> Answers { get; set; } = [];

    public Dictionary<NodeId, IReadOnlyList<FailedAttempt>> Attempts { get; } = [];

    public IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => Attempts.GetValueOrDefault(member) ?? [];

    /// <summary>The members without a connection for forwarded commands.</summary>
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
        // All members are always connected.
    }
}
