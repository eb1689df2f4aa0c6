using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// Asks other members about contents of attachments. Implemented over HTTPS (<see cref="ContentClient"/>), and by
/// simulations in tests. Every method throws an <see cref="IOException"/> if the member cannot be asked, refuses, or is
/// silent for too long.
/// </summary>
public interface IContentPeers
{
    /// <summary>Reads a piece of a content: see <see cref="ReplicatedContents.Read"/>.</summary>
    Task<ContentPiece> ReadAsync(
        NodeId member,
        ContentName name,
        long from,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    );

    /// <summary>
    /// Lists contents that the member's rows name (<see cref="ReplicatedContents.List"/>), and the members of the
    /// cluster that it knows.
    /// </summary>
    Task<ContentListing> ListAsync(NodeId member, ContentName? after, CancellationToken cancellationToken);

    /// <summary>
    /// Tells a member that an entry will name these contents. The member fetches those that it lacks. It answers when
    /// it has all of them, and otherwise after a second.
    /// </summary>
    Task<OfferAnswer> OfferAsync(NodeId member, IReadOnlyList<ContentName> names, CancellationToken cancellationToken);
}

/// <summary>A part of a member's list of contents, and the members that it knows.</summary>
/// <param name="Names">The contents.</param>
/// <param name="AppliedIndex">An index that the member had applied when it read the list.</param>
/// <param name="Members">The members of the newest configuration in the member's log.</param>
public sealed record ContentListing(IReadOnlyList<ContentName> Names, long AppliedIndex, IReadOnlyList<NodeId> Members);

/// <summary>A member's answer to an offer of contents.</summary>
/// <param name="Missing">Number of contents that are not durable at the member.</param>
/// <param name="ReceivedBytes">Bytes of the offered contents that the member has. They show its progress.</param>
/// <param name="QueueBytes">While an offered content waits until others are fetched: bytes that the member has received
/// of all contents since its start. 0 while none waits.</param>
/// <param name="Trouble">Why the member could not fetch a content; null if nothing failed.</param>
public sealed record OfferAnswer(int Missing, long ReceivedBytes, long QueueBytes, string? Trouble);
