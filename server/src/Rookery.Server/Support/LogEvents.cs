using Microsoft.Extensions.Logging;

namespace Rookery.Server.Support;

/// <summary>
/// What the log tells, by number: whoever watches it goes by these and not by sentences. docs/reference/log-events.md
/// lists them; a test holds both together.
/// </summary>
public static class LogEvents
{
    private static readonly List<LogEvent> Known = [];

    /// <summary>All of them, by number.</summary>
    public static IReadOnlyList<LogEvent> All => Known;

    /// <summary>The node serves documents.</summary>
    public static EventId Serving { get; } = Add(1001, "serving", LogLevel.Information, "The node serves documents.");

    /// <summary>Diagnosis mode.</summary>
    public static EventId Diagnosis { get; } =
        Add(1002, "diagnosis", LogLevel.Error, "The node cannot use its data and serves none: diagnosis mode.");

    /// <summary>It has joined.</summary>
    public static EventId Joined { get; } =
        Add(1003, "joined", LogLevel.Information, "The node has joined its cluster.");

    /// <summary>It was let in and has not joined yet.</summary>
    public static EventId JoinWaits { get; } =
        Add(1004, "join_waits", LogLevel.Warning, "The node was let into a cluster and has not joined it yet.");

    /// <summary>It was let in and stays what it is.</summary>
    public static EventId JoinDeclined { get; } =
        Add(1005, "join_declined", LogLevel.Warning, "The node was let into a cluster and stays what it is.");

    /// <summary>What was noted of a cluster that it formed cannot be read.</summary>
    public static EventId JoinUnreadable { get; } =
        Add(1006, "join_unreadable", LogLevel.Error, "What the node noted of a cluster that let it in cannot be read.");

    /// <summary>Storage found damage or cannot write.</summary>
    public static EventId StorageTrouble { get; } =
        Add(1101, "storage_trouble", LogLevel.Error, "Journal or storage found damage, or could not write.");

    /// <summary>An index found damage or cannot go on.</summary>
    public static EventId IndexTrouble { get; } =
        Add(1102, "index_trouble", LogLevel.Warning, "An index found damage, or cannot go on.");

    /// <summary>A sync of the journal took over a second.</summary>
    public static EventId SlowSync { get; } =
        Add(1103, "slow_sync", LogLevel.Warning, "A sync of the journal took longer than a second.");

    /// <summary>Heat or power.</summary>
    public static EventId BoardTrouble { get; } =
        Add(1201, "board_trouble", LogLevel.Warning, "The board is hot, slowed down, or its supply does not hold.");

    /// <summary>The board is well again.</summary>
    public static EventId BoardWell { get; } =
        Add(1202, "board_well", LogLevel.Information, "The board has been well for five minutes.");

    /// <summary>Somebody looks for the board.</summary>
    public static EventId BoardSought { get; } =
        Add(1203, "board_sought", LogLevel.Information, "Somebody looks for this board, and its light blinks.");

    /// <summary>Something is wrong in the cluster.</summary>
    public static EventId ClusterTrouble { get; } =
        Add(
            1301,
            "cluster_trouble",
            LogLevel.Warning,
            "Something is wrong in the cluster, or between this node and the others."
        );

    /// <summary>Something happened in the cluster.</summary>
    public static EventId ClusterNote { get; } =
        Add(
            1302,
            "cluster_note",
            LogLevel.Information,
            "Something happened in the cluster: members, leaders, certificates."
        );

    /// <summary>By order of an owner.</summary>
    public static EventId ClusterOrder { get; } =
        Add(1303, "cluster_order", LogLevel.Information, "An owner changed the cluster.");

    /// <summary>A token to join with was made.</summary>
    public static EventId JoinToken { get; } =
        Add(1304, "join_token", LogLevel.Information, "A token was made that lets one node join.");

    /// <summary>mDNS does not tell of this node.</summary>
    public static EventId Unannounced { get; } =
        Add(1305, "unannounced", LogLevel.Warning, "Others do not find this node by mDNS.");

    /// <summary>Nobody owns the node.</summary>
    public static EventId Unclaimed { get; } =
        Add(1401, "unclaimed", LogLevel.Warning, "The node has no owner yet, and how it is claimed.");

    /// <summary>It was claimed.</summary>
    public static EventId Claimed { get; } = Add(1402, "claimed", LogLevel.Information, "The node was claimed.");

    /// <summary>A token was made.</summary>
    public static EventId TokenMade { get; } = Add(1403, "token_made", LogLevel.Information, "A token was made.");

    /// <summary>A token was withdrawn.</summary>
    public static EventId TokenWithdrawn { get; } =
        Add(1404, "token_withdrawn", LogLevel.Information, "A token was withdrawn.");

    /// <summary>An admin's token was replaced.</summary>
    public static EventId TokenReplaced { get; } =
        Add(1405, "token_replaced", LogLevel.Warning, "An admin's token was replaced on the node's machine.");

    /// <summary>A client certificate was signed.</summary>
    public static EventId CertificateSigned { get; } =
        Add(1406, "certificate_signed", LogLevel.Information, "A client's certificate was signed.");

    /// <summary>A client certificate was withdrawn.</summary>
    public static EventId CertificateWithdrawn { get; } =
        Add(1407, "certificate_withdrawn", LogLevel.Information, "A client's certificate was withdrawn.");

    /// <summary>Commands on the machine cannot reach the node.</summary>
    public static EventId LocalAccessFailed { get; } =
        Add(
            1408,
            "local_access_failed",
            LogLevel.Error,
            "Commands on this machine cannot reach the node without a token."
        );

    /// <summary>A request failed by a fault of the node.</summary>
    public static EventId RequestFailed { get; } =
        Add(1501, "request_failed", LogLevel.Error, "A request failed by a fault of the node, with its stack.");

    /// <summary>An address has too many connections.</summary>
    public static EventId TooManyConnections { get; } =
        Add(1502, "too_many_connections", LogLevel.Warning, "An address has as many connections as one may have.");

    /// <summary>A backup was given up.</summary>
    public static EventId BackupGivenUp { get; } =
        Add(1503, "backup_given_up", LogLevel.Warning, "A backup was given up, because its client took nothing.");

    /// <summary>Work behind a request failed.</summary>
    public static EventId WorkFailed { get; } =
        Add(1504, "work_failed", LogLevel.Error, "Work that goes on behind a request failed, with its stack.");

    /// <summary>The HTTP server itself.</summary>
    public static EventId HttpServer { get; } =
        Add(1505, "http_server", LogLevel.Warning, "What the HTTP server itself says.");

    /// <summary>The node could not sample itself.</summary>
    public static EventId SampleFailed { get; } =
        Add(1506, "sample_failed", LogLevel.Warning, "The node could not sample itself, with the stack.");

    /// <summary>Another member is not watched any more.</summary>
    public static EventId WatchFailed { get; } =
        Add(1507, "watch_failed", LogLevel.Error, "Another member is not watched any more, with the stack.");

    /// <summary>A stop cut requests off.</summary>
    public static EventId StopCutOff { get; } =
        Add(1508, "stop_cut_off", LogLevel.Warning, "The node stopped, and cut off requests that had no answer.");

    /// <summary>A stop did not end in time.</summary>
    public static EventId StopOverdue { get; } =
        Add(1509, "stop_overdue", LogLevel.Error, "The stop did not end within a minute, and what it waited for.");

    /// <summary>A stop was not noted.</summary>
    public static EventId StopUnnoted { get; } =
        Add(1510, "stop_unnoted", LogLevel.Warning, "The disk did not take the note of a clean stop.");

    /// <summary>An answer that its client did not take was broken off.</summary>
    public static EventId SlowReader { get; } =
        Add(1511, "slow_reader", LogLevel.Warning, "An answer that its client did not take was broken off.");

    /// <summary>An alert began.</summary>
    public static EventId AlertBegan { get; } =
        Add(1601, "alert_began", LogLevel.Warning, "An alert holds, with its name and what to do.");

    /// <summary>An alert ended.</summary>
    public static EventId AlertEnded { get; } = Add(1602, "alert_ended", LogLevel.Information, "An alert is over.");

    /// <summary>The webhook does not take messages.</summary>
    public static EventId WebhookFails { get; } =
        Add(1603, "webhook_fails", LogLevel.Warning, "The webhook does not take messages; they are tried again.");

    /// <summary>The webhook takes them again.</summary>
    public static EventId WebhookWorks { get; } =
        Add(1604, "webhook_works", LogLevel.Information, "The webhook takes messages again.");

    /// <summary>Alerts cannot be judged or sent.</summary>
    public static EventId AlertsFail { get; } =
        Add(
            1605,
            "alerts_fail",
            LogLevel.Error,
            "Alerts could not be judged, or not be handed to the webhook, by a fault of the node's own; said once."
        );

    /// <summary>The webhook is never told of an alert.</summary>
    public static EventId AlertGivenUp { get; } =
        Add(
            1606,
            "alert_given_up",
            LogLevel.Warning,
            "The webhook is not told of an alert: it refused the message as wrong, or newer ones wait for it."
        );

    private static EventId Add(int number, string name, LogLevel level, string meaning)
    {
        var id = new EventId(number, name);
        Known.Add(new LogEvent(id, level, meaning));
        return id;
    }
}

/// <summary>One kind of line in the log.</summary>
/// <param name="Id">Its number and name.</param>
/// <param name="Level">How grave it is.</param>
/// <param name="Meaning">What it tells, in a sentence.</param>
public sealed record LogEvent(EventId Id, LogLevel Level, string Meaning);
