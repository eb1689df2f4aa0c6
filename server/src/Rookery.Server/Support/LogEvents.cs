using Microsoft.Extensions.Logging;

namespace Rookery.Server.Support;

/// <summary>
/// The numbered events of the log, so that programs need not parse messages. docs/reference/log-events.md lists them; a
/// test compares both.
/// </summary>
public static class LogEvents
{
    private static readonly List<LogEvent> Known = [];

    /// <summary>All events, by number.</summary>
    public static IReadOnlyList<LogEvent> All => Known;

    /// <summary>The node serves documents.</summary>
    public static EventId Serving { get; } = Add(1001, "serving", LogLevel.Information, "The node serves documents.");

    /// <summary>The node is in diagnosis mode.</summary>
    public static EventId Diagnosis { get; } =
        Add(1002, "diagnosis", LogLevel.Error, "The node cannot use its data and serves none: diagnosis mode.");

    /// <summary>The node joined its cluster.</summary>
    public static EventId Joined { get; } =
        Add(1003, "joined", LogLevel.Information, "The node has joined its cluster.");

    /// <summary>The node was admitted to a cluster and has not joined yet.</summary>
    public static EventId JoinWaits { get; } =
        Add(1004, "join_waits", LogLevel.Warning, "The node was admitted to a cluster and has not joined it yet.");

    /// <summary>The node was admitted to a cluster but keeps its own.</summary>
    public static EventId JoinDeclined { get; } =
        Add(1005, "join_declined", LogLevel.Warning, "The node was admitted to a cluster but keeps its own data.");

    /// <summary>The node's record of the cluster that admitted it cannot be read.</summary>
    public static EventId JoinUnreadable { get; } =
        Add(
            1006,
            "join_unreadable",
            LogLevel.Error,
            "The node's record of the cluster that admitted it cannot be read."
        );

    /// <summary>Journal or storage found damage or cannot write.</summary>
    public static EventId StorageTrouble { get; } =
        Add(1101, "storage_trouble", LogLevel.Error, "Journal or storage found damage, or could not write.");

    /// <summary>An index found damage or cannot continue.</summary>
    public static EventId IndexTrouble { get; } =
        Add(1102, "index_trouble", LogLevel.Warning, "An index found damage, or cannot continue.");

    /// <summary>A sync of the journal took longer than a second.</summary>
    public static EventId SlowSync { get; } =
        Add(1103, "slow_sync", LogLevel.Warning, "A sync of the journal took longer than a second.");

    /// <summary>The board is hot, throttled, or undersupplied.</summary>
    public static EventId BoardTrouble { get; } =
        Add(1201, "board_trouble", LogLevel.Warning, "The board is hot, throttled, or undersupplied.");

    /// <summary>The board is in order again.</summary>
    public static EventId BoardWell { get; } =
        Add(1202, "board_well", LogLevel.Information, "The board has been in order for five minutes.");

    /// <summary>The board's light blinks, because a user looks for the board.</summary>
    public static EventId BoardSought { get; } =
        Add(1203, "board_sought", LogLevel.Information, "Someone looks for this board, and its light blinks.");

    /// <summary>The cluster has a problem that its members report.</summary>
    public static EventId ClusterTrouble { get; } =
        Add(
            1301,
            "cluster_trouble",
            LogLevel.Warning,
            "Something is wrong in the cluster, or between this node and the others."
        );

    /// <summary>A change in the cluster: members, leader, certificates.</summary>
    public static EventId ClusterNote { get; } =
        Add(
            1302,
            "cluster_note",
            LogLevel.Information,
            "Something happened in the cluster: members, leaders, certificates."
        );

    /// <summary>An administrator changed the cluster.</summary>
    public static EventId ClusterOrder { get; } =
        Add(1303, "cluster_order", LogLevel.Information, "An administrator changed the cluster.");

    /// <summary>A join token was created.</summary>
    public static EventId JoinToken { get; } =
        Add(1304, "join_token", LogLevel.Information, "A token was created that lets one node join.");

    /// <summary>The node is not announced by mDNS.</summary>
    public static EventId Unannounced { get; } =
        Add(1305, "unannounced", LogLevel.Warning, "The node is not announced by mDNS.");

    /// <summary>The node has no owner yet.</summary>
    public static EventId Unclaimed { get; } =
        Add(1401, "unclaimed", LogLevel.Warning, "The node has no owner yet; the line says how to claim it.");

    /// <summary>The node was claimed.</summary>
    public static EventId Claimed { get; } = Add(1402, "claimed", LogLevel.Information, "The node was claimed.");

    /// <summary>An access token was created.</summary>
    public static EventId TokenMade { get; } = Add(1403, "token_made", LogLevel.Information, "A token was created.");

    /// <summary>An access token was revoked.</summary>
    public static EventId TokenRevoked { get; } =
        Add(1404, "token_withdrawn", LogLevel.Information, "A token was revoked.");

    /// <summary>An admin token was replaced.</summary>
    public static EventId TokenReplaced { get; } =
        Add(1405, "token_replaced", LogLevel.Warning, "An admin's token was replaced on the node's machine.");

    /// <summary>A client certificate was signed.</summary>
    public static EventId CertificateSigned { get; } =
        Add(1406, "certificate_signed", LogLevel.Information, "A client's certificate was signed.");

    /// <summary>A client certificate was revoked.</summary>
    public static EventId CertificateRevoked { get; } =
        Add(1407, "certificate_withdrawn", LogLevel.Information, "A client's certificate was revoked.");

    /// <summary>Commands on this machine cannot reach the node without a token.</summary>
    public static EventId LocalAccessFailed { get; } =
        Add(
            1408,
            "local_access_failed",
            LogLevel.Error,
            "Commands on this machine cannot reach the node without a token."
        );

    /// <summary>A request failed because of a fault of the node.</summary>
    public static EventId RequestFailed { get; } =
        Add(1501, "request_failed", LogLevel.Error, "A request failed by a fault of the node, with its stack.");

    /// <summary>An address has reached its limit of connections.</summary>
    public static EventId TooManyConnections { get; } =
        Add(1502, "too_many_connections", LogLevel.Warning, "An address has reached its limit of connections.");

    /// <summary>A backup was aborted.</summary>
    public static EventId BackupGivenUp { get; } =
        Add(1503, "backup_given_up", LogLevel.Warning, "A backup was aborted, because its client read nothing.");

    /// <summary>Background work of a request failed.</summary>
    public static EventId WorkFailed { get; } =
        Add(1504, "work_failed", LogLevel.Error, "Background work of a request failed, with its stack.");

    /// <summary>A message of the HTTP server.</summary>
    public static EventId HttpServer { get; } =
        Add(1505, "http_server", LogLevel.Warning, "A message of the HTTP server itself.");

    /// <summary>The node could not take a sample of itself.</summary>
    public static EventId SampleFailed { get; } =
        Add(1506, "sample_failed", LogLevel.Warning, "The node could not sample itself, with the stack.");

    /// <summary>Another member is no longer polled.</summary>
    public static EventId WatchFailed { get; } =
        Add(1507, "watch_failed", LogLevel.Error, "Another member is no longer polled, with the stack.");

    /// <summary>A stop cut off unanswered requests.</summary>
    public static EventId StopCutOff { get; } =
        Add(1508, "stop_cut_off", LogLevel.Warning, "The node stopped, and cut off requests that had no answer.");

    /// <summary>A stop did not end in time.</summary>
    public static EventId StopOverdue { get; } =
        Add(
            1509,
            "stop_overdue",
            LogLevel.Error,
            "The stop did not end within a minute; the line says what it waited for."
        );

    /// <summary>The clean stop could not be recorded on disk.</summary>
    public static EventId StopUnnoted { get; } =
        Add(1510, "stop_unnoted", LogLevel.Warning, "The clean stop could not be recorded on disk.");

    /// <summary>An answer was cut off because its client did not read it.</summary>
    public static EventId SlowReader { get; } =
        Add(1511, "slow_reader", LogLevel.Warning, "An answer was cut off, because its client did not read it.");

    /// <summary>A thread of the node failed, and the process ends.</summary>
    public static EventId FatalFailure { get; } =
        Add(1512, "fatal_failure", LogLevel.Error, "A thread of the node failed, and the process ends.");

    /// <summary>The status line could not be updated.</summary>
    public static EventId StatusFailed { get; } =
        Add(
            1513,
            "status_failed",
            LogLevel.Warning,
            "The status line could not be updated; logged once, until it works again."
        );

    /// <summary>The node was told to stop while it started, and its start was broken off.</summary>
    public static EventId StartInterrupted { get; } =
        Add(
            1514,
            "start_interrupted",
            LogLevel.Information,
            "The node was told to stop while it started, and its start was broken off."
        );

    /// <summary>An alert began.</summary>
    public static EventId AlertBegan { get; } =
        Add(1601, "alert_began", LogLevel.Warning, "An alert began, with its name and what to do.");

    /// <summary>An alert ended.</summary>
    public static EventId AlertEnded { get; } = Add(1602, "alert_ended", LogLevel.Information, "An alert is over.");

    /// <summary>The webhook does not accept messages.</summary>
    public static EventId WebhookFails { get; } =
        Add(1603, "webhook_fails", LogLevel.Warning, "The webhook does not accept messages; they are retried.");

    /// <summary>The webhook accepts messages again.</summary>
    public static EventId WebhookWorks { get; } =
        Add(1604, "webhook_works", LogLevel.Information, "The webhook accepts messages again.");

    /// <summary>Alerts cannot be evaluated or sent.</summary>
    public static EventId AlertsFail { get; } =
        Add(
            1605,
            "alerts_fail",
            LogLevel.Error,
            "Alerts could not be evaluated or queued for the webhook because of a fault of the node; logged once."
        );

    /// <summary>A message to the webhook was dropped.</summary>
    public static EventId AlertGivenUp { get; } =
        Add(
            1606,
            "alert_given_up",
            LogLevel.Warning,
            "A message to the webhook was dropped: the webhook refused it, the queue was full, or Rookery had an error."
        );

    private static EventId Add(int number, string name, LogLevel level, string meaning)
    {
        var id = new EventId(number, name);
        Known.Add(new LogEvent(id, level, meaning));
        return id;
    }
}

/// <summary>One kind of line in the log.</summary>
/// <param name="Id">Number and name.</param>
/// <param name="Level">Severity.</param>
/// <param name="Meaning">The meaning in one sentence, as in docs/reference/log-events.md.</param>
public sealed record LogEvent(EventId Id, LogLevel Level, string Meaning);
