using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the other members, as consensus sees them: messages may be lost, late or doubled, never changed.
/// Real over TLS, simulated in tests.
/// </summary>
public interface IPeerNetwork
{
    /// <summary>
    /// Sends a message soon, or drops it. Never blocks and never throws, because consensus calls it under its lock:
    /// what is sent is copied before it returns. A message that would wait behind more than the connection's bound is
    /// dropped; the receiver's silence tells consensus to send it again.
    /// </summary>
    /// <param name="message">The message, with its receiver.</param>
    /// <param name="frames">For <see cref="MessageKind.Append"/>, the entries behind its position through its last
    /// index, payloads as they are in the journal.</param>
    void Send(in Message message, ReadOnlySpan<JournalFrame> frames);

    /// <summary>
    /// Carries a command to <paramref name="leader"/>, to be proposed there in the term that the command names. The
    /// command stays the caller's, who keeps it until this has ended. Refusals are values: when the connection broke
    /// after the command was sent, <see cref="RejectionKind.OutcomeUnknown"/>; when it was never sent,
    /// <see cref="RejectionKind.NoLeader"/>.
    /// </summary>
    ValueTask<CommandOutcome> ForwardAsync(NodeId leader, CommandBuffer command, CancellationToken cancellationToken);

    /// <summary>Whether there is a connection for what is forwarded to a member.</summary>
    bool Reaches(NodeId member) => true;

    /// <summary>What each member that is to be connected to last said to this node.</summary>
    IReadOnlyList<PeerAnswer> Answers => [];

    /// <summary>
    /// Where a member was looked for last, and why in vain; none while there is a connection to it, and before all its
    /// addresses were tried once.
    /// </summary>
    IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => [];

    /// <summary>
    /// Names the members to be connected to, and where they were last seen. Connections to others end.
    /// </summary>
    void SetPeers(IReadOnlyList<PeerAddress> peers);
}

/// <summary>Where a member may be reached.</summary>
/// <param name="Node">Who it is: the identity that its certificate must prove.</param>
/// <param name="Addresses"><c>host:port</c>, the likeliest first; names and addresses are hints and may change at any
/// time.</param>
public sealed record PeerAddress(NodeId Node, IReadOnlyList<string> Addresses);

/// <summary>What a member said to the last attempt to connect to it.</summary>
/// <param name="Node">Who.</param>
/// <param name="LetsIn">Whether it has a connection of this node now.</param>
/// <param name="Refusal">Why it does not let this node in; null when it does, or was not reached.</param>
public sealed record PeerAnswer(NodeId Node, bool LetsIn, PeerRefusal? Refusal);

/// <summary>An attempt to connect to a member that came to nothing.</summary>
/// <param name="Address"><c>host:port</c>.</param>
/// <param name="Why">A sentence.</param>
/// <param name="IsStranger">Whether somebody is there whose certificate is not that of a member.</param>
public sealed record FailedAttempt(string Address, string Why, bool IsStranger);

/// <summary>What the network tells consensus of. Called from the connections' own threads.</summary>
public interface IPeerReceiver
{
    /// <summary>A message came. Its frames' payloads are checked for integrity, and valid until this returns.</summary>
    void Received(in Message message, ReadOnlySpan<JournalFrame> frames);

    /// <summary>The connection to a member broke: what was on the way may be lost.</summary>
    void Unreachable(NodeId node);

    /// <summary>
    /// Another member forwards a command of one of its clients. Ownership of the command passes.
    /// <see cref="RejectionKind.NoLeader"/> says that it came into no log and will come into none.
    /// </summary>
    ValueTask<CommandOutcome> ProposeForwardedAsync(CommandBuffer command, CancellationToken cancellationToken);
}
