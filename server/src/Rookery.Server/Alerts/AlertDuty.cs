namespace Rookery.Server.Alerts;

/// <summary>
/// What is to be told to the webhook, and by whom. A node whose turn it is not remembers what another has told, so that
/// a new leader does not tell it again. One caller at a time.
/// </summary>
internal sealed class AlertDuty
{
    // Whoever led may have died with it: what is younger is told by the next one, too.
    private static readonly TimeSpan ToldByOthers = TimeSpan.FromSeconds(30);

    private readonly Dictionary<(string Of, string Name), Seen> _seen = [];

    /// <summary>What begins and ends.</summary>
    /// <param name="alerts">What holds now.</param>
    /// <param name="isMine">Whether this node tells of one.</param>
    /// <param name="mayBeOver">Whether one that is not said any more is over; otherwise who says it may only not know
    /// it yet.</param>
    /// <param name="now">The time.</param>
    public IReadOnlyList<(string State, MemberAlert Alert)> Take(
        IReadOnlyList<MemberAlert> alerts,
        Func<MemberAlert, bool> isMine,
        Func<MemberAlert, bool> mayBeOver,
        DateTimeOffset now
    )
    {
        var told = new List<(string, MemberAlert)>();
        var gone = _seen.Keys.ToHashSet();
        foreach (var alert in alerts)
        {
            var key = (OfWhom(alert), alert.Alert.Name);
            gone.Remove(key);
            var seen = _seen.TryGetValue(key, out var known)
                ? known with
                {
                    Alert = alert,
                }
                : new Seen(alert, now, IsTold: false);
            bool isToldHere = isMine(alert);
            if (!seen.IsTold && (isToldHere || now - seen.Since >= ToldByOthers))
            {
                seen = seen with { IsTold = true };
                if (isToldHere)
                {
                    told.Add((AlertMessage.Firing, alert));
                }
            }

            _seen[key] = seen;
        }

        foreach (var key in gone.Where(key => mayBeOver(_seen[key].Alert)))
        {
            _seen.Remove(key, out var over);
            if (over!.IsTold && isMine(over.Alert))
            {
                told.Add((AlertMessage.Resolved, over.Alert));
            }
        }

        return told;
    }

    /// <summary>What an alert is about: what is of the cluster stays the same when another leads and says it.</summary>
    private static string OfWhom(MemberAlert alert) =>
        alert.Alert.Member
        ?? (AlertCatalogue.Find(alert.Alert.Name) is { IsOfCluster: true } ? string.Empty : alert.Node);

    private sealed record Seen(MemberAlert Alert, DateTimeOffset Since, bool IsTold);
}
