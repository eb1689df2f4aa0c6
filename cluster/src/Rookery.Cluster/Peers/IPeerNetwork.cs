using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the other members, as consensus uses them. Messages may be lost, delayed or duplicated, but not
/// changed. Implemented over TLS (<see cref="PeerNetwork"/>), and by simulations in tests.
/// </summary>
public interface IPeerNetwork
{
    /// <summary>
    /// Queues a copy of a message, or drops the message if the queue is full or no connection is open. Consensus sends
    /// it again when the receiver does not answer. Never blocks and never throws, because consensus calls it under its
    /// lock.
    /// </summary>
    /// <param name="message">The message, with its receiver.</param>
    /// <param name="frames">For <see cref="MessageKind.Append"/>: the entries after the message's position through its
    /// last index, with payloads encoded as in the journal.</param>
    void Send(in Message message, ReadOnlySpan<JournalFrame> frames);

    /// <summary>
    /// Forwards a command to <paramref name="leader"/>, which proposes it if it leads in the term that the command
    /// names. The caller still owns the command, and must not dispose it before this ends. Failures are returned as
    /// rejections: <see cref="RejectionKind.OutcomeUnknown"/> when the connection broke after the command was sent,
    /// <see cref="RejectionKind.NoLeader"/> when it was never sent.
    /// </summary>
    ValueTask<CommandOutcome> ForwardAsync(NodeId leader, CommandBuffer command, CancellationToken cancellationToken);

    /// <summary>Whether the connection that forwards commands to a member is open.</summary>
    bool Reaches(NodeId member) => true;

    /// <summary>Each peer's last answer to this node's attempts to connect.</summary>
    IReadOnlyList<PeerAnswer> Answers => [];

    /// <summary>
    /// Returns the failed attempts of the last round in which all addresses of a member were dialled. Empty while a
    /// connection is open, and before the first round ended.
    /// </summary>
    IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => [];

    /// <summary>
    /// Sets the members to connect to and their last known addresses. Connections to other nodes end.
    /// </summary>
    void SetPeers(IReadOnlyList<PeerAddress> peers);
}

/// <summary>The addresses at which a member may be reached.</summary>
/// <param name="Node">The member. Its certificate must prove this identity.</param>
/// <param name="Addresses"><c>host:port</c>, the likeliest to answer first. They are hints and may change at any
/// time.</param>
public sealed record PeerAddress(NodeId Node, IReadOnlyList<string> Addresses);

/// <summary>A member's answer to the last attempt to connect to it.</summary>
/// <param name="Node">The member.</param>
/// <param name="LetsIn">Whether a connection to it is open now.</param>
/// <param name="Refusal">Why the member refuses this node; null when it accepts it or was not reached.</param>
public sealed record PeerAnswer(NodeId Node, bool LetsIn, PeerRefusal? Refusal);

/// <summary>A failed attempt to connect to a member.</summary>
/// <param name="Address"><c>host:port</c>.</param>
/// <param name="Why">The cause, as a sentence.</param>
/// <param name="IsStranger">Whether the address answered with a certificate that is not a member's.</param>
public sealed record FailedAttempt(string Address, string Why, bool IsStranger);

/// <summary>Receives events of the network. Called on the connections' threads.</summary>
public interface IPeerReceiver
{
    /// <summary>
    /// Handles a received message. The payloads of its frames passed their checksums and are valid until this returns.
    /// </summary>
    void Received(in Message message, ReadOnlySpan<JournalFrame> frames);

    /// <summary>Handles the loss of the connection to a member. Messages in flight may be lost.</summary>
    void Unreachable(NodeId node);

    /// <summary>
    /// Proposes a command that another member forwards for one of its clients, and takes ownership of the command.
    /// <see cref="RejectionKind.NoLeader"/> means that the command is in no log and will be in none.
    /// </summary>
    ValueTask<CommandOutcome> ProposeForwardedAsync(CommandBuffer command, CancellationToken cancellationToken);
}
