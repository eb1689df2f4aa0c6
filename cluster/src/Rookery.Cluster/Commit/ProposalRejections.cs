using Rookery.Documents.Attachments;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Commit;

/// <summary>The rejections of proposals, with the texts that clients see.</summary>
internal static class ProposalRejections
{
    public static Rejection Overtaken { get; } =
        new(
            RejectionKind.OutcomeUnknown,
            "This node lost its leadership before a majority had the write: it may or may not take effect. "
                + "Read before you write it again, or use an Idempotency-Key."
        );

    public static Rejection MembersDiffer { get; } =
        new(
            RejectionKind.NoLeader,
            "Members applied the same writes with different results, so the cluster accepts no writes until a "
                + "majority agrees. Nothing was stored; see the log of the members."
        );

    public static Rejection NoLeader { get; } =
        new(
            RejectionKind.NoLeader,
            "No member leads now, or none is known here. Nothing was stored; try again in a second, or use "
                + "another node."
        );

    public static Rejection ContentMissing(ContentHash hash) =>
        new(
            RejectionKind.ContentMissing,
            $"The leader does not have the content {hash.ToHex()} of the attachment. Nothing was stored; send it again."
        );

    public static Rejection LeaderIsSilent { get; } =
        new(
            RejectionKind.OutcomeUnknown,
            "The leader that received this write no longer answers: the write may or may not have been stored. "
                + "Read before writing again, or send an Idempotency-Key."
        );

    public static Rejection DurableButUnapplied { get; } =
        new(
            RejectionKind.OutcomeUnknown,
            "The write is durable, but an error kept this node from applying it: it takes effect when "
                + "this node fetches another member's state, or when it is restarted."
        );

    public static Rejection Abandoned { get; } =
        new(
            RejectionKind.OutcomeUnknown,
            "This node stopped before a majority had the write: it may or may not take effect. Read before you "
                + "write it again, or use an Idempotency-Key."
        );

    public static Rejection NoMemory { get; } =
        new(
            RejectionKind.Overloaded,
            "There was no memory for this write. Nothing of it was stored; send less at once, or try "
                + "again in a second."
        );
}
