namespace Rookery.Server.Alerts;

/// <summary>
/// Decides which alerts this node sends to the webhook. Also tracks the alerts that other nodes send, so that a new
/// leader does not send them again. Not thread-safe.
/// </summary>
internal sealed class AlertOutbox
{
    // The previous leader may have failed before it sent an alert, so a new leader sends alerts younger than this.
    private static readonly TimeSpan NewAlertAge = TimeSpan.FromSeconds(30);

    private readonly Dictionary<(string Subject, string Name), ReportedAlert> _reported = [];

    /// <summary>Returns the alerts to send: those that began and those that ended.</summary>
    /// <param name="alerts">The alerts that are active now.</param>
    /// <param name="isMine">Whether this node sends an alert.</param>
    /// <param name="hasEnded">Whether an alert that is no longer reported has ended. If not, its reporter has just
    /// started and may not have judged it yet.</param>
    /// <param name="now">The time.</param>
    /// <param name="quietSince">Begin of the quiet hours, if only critical alerts are sent now; null otherwise. The
    /// others wait: those that are still active afterwards are sent then, by the node that sends them then.</param>
    public IReadOnlyList<(string State, MemberAlert Alert)> Update(
        IReadOnlyList<MemberAlert> alerts,
        Func<MemberAlert, bool> isMine,
        Func<MemberAlert, bool> hasEnded,
        DateTimeOffset now,
        DateTimeOffset? quietSince = null
    )
    {
        bool isQuiet = quietSince is not null;
        var toSend = new List<(string, MemberAlert)>();
        var endedKeys = _reported.Keys.ToHashSet();
        foreach (var alert in alerts)
        {
            var key = (SubjectOf(alert), alert.Alert.Name);
            endedKeys.Remove(key);
            var entry = _reported.TryGetValue(key, out var known)
                ? known with
                {
                    Alert = alert,
                }
                : new ReportedAlert(alert, now, IsSent: false);
            bool isSentHere = isMine(alert);
            bool isCritical = alert.Alert.Severity is AlertSeverity.Critical;
            bool isHeld = isQuiet && !isCritical;
            if (isHeld && !entry.IsSent && (isSentHere || BeganAt(alert) >= quietSince))
            {
                // The node that must send it may fail when the quiet hours end, as when an alert begins.
                entry = entry with
                {
                    Since = now,
                };
            }
            else if (!isHeld && entry.IsEndHeld)
            {
                // A critical alert that ended in quiet hours begins anew. Any other one has not ended for its receiver,
                // who was not told of the end.
                entry = entry with
                {
                    IsEndHeld = false,
                    IsSent = !isCritical,
                    Since = now,
                };
            }

            // An alert that became active before the quiet hours was sent by another node, even if this node learns of
            // the alert only within them.
            bool wasSentElsewhere = !isSentHere && now - entry.Since >= NewAlertAge;
            if (!entry.IsSent && ((isSentHere && !isHeld) || wasSentElsewhere))
            {
                entry = entry with { IsSent = true };
                if (isSentHere)
                {
                    toSend.Add((AlertMessage.Firing, alert));
                }
            }

            _reported[key] = entry;
        }

        foreach (var key in endedKeys.Where(key => hasEnded(_reported[key].Alert)))
        {
            var ended = _reported[key];

            // The leader has probably sent the alert just before, or this node did before it was restarted. If the
            // leader fails, the next one must send the end.
            bool isSentElsewhere =
                BeganAt(ended.Alert) < quietSince
                || (!isMine(ended.Alert) && ended.Alert.Alert.Severity is AlertSeverity.Critical);
            if (isQuiet && (ended.IsSent || isSentElsewhere))
            {
                _reported[key] = ended with { IsSent = true, IsEndHeld = true };
                continue;
            }

            _reported.Remove(key);
            if (ended.IsSent && isMine(ended.Alert))
            {
                toSend.Add((AlertMessage.Resolved, ended.Alert));
            }
        }

        return toSend;
    }

    /// <summary>Forgets all alerts: those that are active when there is a webhook again are new to it.</summary>
    public void Clear() => _reported.Clear();

    // When the alert became active, by the clock of the node that reports it.
    private static DateTimeOffset BeganAt(MemberAlert alert) =>
        alert.Alert.Since + (AlertCatalogue.Find(alert.Alert.Name)?.For ?? TimeSpan.Zero);

    /// <summary>
    /// Returns the tag of the node that the alert is about; empty for the cluster. An alert about the cluster stays the
    /// same alert if another leader reports it.
    /// </summary>
    private static string SubjectOf(MemberAlert alert) =>
        alert.Alert.Member
        ?? (AlertCatalogue.Find(alert.Alert.Name) is { IsOfCluster: true } ? string.Empty : alert.Node);

    /// <summary>An alert of a member, and what is known of its sending.</summary>
    /// <param name="Alert">The alert, as last reported.</param>
    /// <param name="Since">When this node first saw the alert, or could have sent it first.</param>
    /// <param name="IsSent">Whether this node or another node has sent the alert.</param>
    /// <param name="IsEndHeld">Whether the alert ended in quiet hours, and its end was not sent.</param>
    private sealed record ReportedAlert(MemberAlert Alert, DateTimeOffset Since, bool IsSent, bool IsEndHeld = false);
}
