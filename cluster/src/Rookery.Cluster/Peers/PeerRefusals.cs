using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Peers;

/// <summary>The outcomes of forwarded commands for which no outcome of the leader arrived.</summary>
internal static class PeerRefusals
{
    public static CommandOutcome NeverSent { get; } =
        Refuse(
            RejectionKind.NoLeader,
            "The node that leads cannot be reached from this one. Nothing was stored; try again, or another node."
        );

    public static CommandOutcome OutcomeUnknown { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The connection to the node that leads broke after the write was sent: it may or may not have been "
                + "stored. Read before writing again, or send an Idempotency-Key."
        );

    public static CommandOutcome GivenUpAfterSent { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The request was given up after its write was sent to the node that leads: it may or may not have "
                + "been stored."
        );

    public static CommandOutcome Withdrawn { get; } =
        Refuse(
            RejectionKind.Canceled,
            "The request was given up before its write was sent to the node that leads. Nothing was stored."
        );

    public static CommandOutcome Overloaded { get; } =
        Refuse(
            RejectionKind.Overloaded,
            "Too many writes wait for the node that leads. Nothing of this one was stored; try again in a "
                + "second, or at another node."
        );

    public static CommandOutcome TooLarge { get; } =
        Refuse(
            RejectionKind.TooLarge,
            "The write is longer than one that can be sent to the node that leads. Nothing was stored."
        );

    public static CommandOutcome AnswerTooLarge { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The write was carried out, but its answer is too long to be sent from the node that leads. Read "
                + "what is stored now."
        );

    public static CommandOutcome Broken { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The node that leads failed at this write: it may or may not have been stored."
        );

    private static CommandOutcome Refuse(RejectionKind kind, string sentence) => new(new Rejection(kind, sentence));
}
