using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The connections of one start of one member. Messages sent after it ended are dropped.</summary>
internal sealed class SimulatedPeers(SteppedMember member, SimulatedWire wire) : IPeerNetwork
{
    /// <summary>Whether the process has ended.</summary>
    public bool IsDead { get; set; }

    /// <summary>The answers of other members to its attempts to connect, which the test sets.</summary>
    public IReadOnlyList<PeerAnswer> Answers { get; set; } = [];

    /// <summary>The failed attempts to connect to each member, which the test sets.</summary>
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
