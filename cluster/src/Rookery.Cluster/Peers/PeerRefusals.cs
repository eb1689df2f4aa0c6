using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Peers;

/// <summary>The outcomes of forwarded commands for which no outcome of the leader arrived.</summary>
internal static class PeerRefusals
{
    public static CommandOutcome NeverSent { get; } =
        Refuse(
            RejectionKind.NoLeader,
            "The leader cannot be reached from this node. Nothing was stored; try again, or use another node."
        );

    public static CommandOutcome OutcomeUnknown { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The connection to the leader broke after the write was sent: it may or may not have been "
                + "stored. Read before writing again, or send an Idempotency-Key."
        );

    public static CommandOutcome CanceledAfterSent { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The request was canceled after its write was sent to the leader: the write may or may not have been "
                + "stored."
        );

    public static CommandOutcome CanceledBeforeSent { get; } =
        Refuse(
            RejectionKind.Canceled,
            "The request was canceled before its write was sent to the leader. Nothing was stored."
        );

    public static CommandOutcome Overloaded { get; } =
        Refuse(
            RejectionKind.Overloaded,
            "Too many writes wait for the leader. Nothing was stored; try again in a second, or use another node."
        );

    public static CommandOutcome TooLarge { get; } =
        Refuse(RejectionKind.TooLarge, "The write is too long to be sent to the leader. Nothing was stored.");

    public static CommandOutcome AnswerTooLarge { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The write was carried out, but its answer is too long to be sent from the leader. Read what is stored "
                + "now."
        );

    public static CommandOutcome LeaderFailed { get; } =
        Refuse(
            RejectionKind.OutcomeUnknown,
            "The leader failed at this write: the write may or may not have been stored."
        );

    private static CommandOutcome Refuse(RejectionKind kind, string sentence) => new(new Rejection(kind, sentence));
}
