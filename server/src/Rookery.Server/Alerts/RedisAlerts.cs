namespace Rookery.Server.Alerts;

/// <summary>The alerts about Redis clients, of <see cref="AlertCatalogue"/>.</summary>
internal static class RedisAlerts
{
    public static IReadOnlyList<AlertDefinition> All { get; } =
    [
        new()
        {
            Name = "redis_unknown",
            Severity = AlertSeverity.Warning,
            Expression = "increase(rookery_redis_unknown_outcomes_total[5m]) > 0",
            For = TimeSpan.FromMinutes(10),
            Sentence =
                "Redis clients get replies of unknown outcome again and again: their writes may or may not be stored.",
            Summary =
                "{{ $labels.instance }} cannot tell Redis clients again and again whether their writes are stored.",
            Fix =
                "Leaders change or members lose each other: compare their contact and sync p99 in `rookery cluster "
                + "node ls`, and look into the log. A client must read a key before it repeats such a write.",
            Judge = static facts =>
                facts.Redis is { UnknownOutcomes: > 0 and var count }
                    ? $"In the last five minutes this node could not tell Redis clients of {Commands(count)} whether "
                        + $"{(count == 1 ? "it was" : "they were")} carried out."
                    : null,
        },
        new()
        {
            Name = "redis_refused",
            Severity = AlertSeverity.Warning,
            Expression = "increase(rookery_redis_connections_refused_total[5m]) > 0",
            For = TimeSpan.FromMinutes(5),
            KeepFiring = TimeSpan.FromMinutes(5),
            Sentence = "A node refuses Redis clients, because it, or one of their addresses, has too many connections.",
            Summary = "{{ $labels.instance }} refuses connections of Redis clients: there are too many.",
            Fix =
                "`redis-cli CLIENT LIST` shows who keeps connections. Let each program share one connection, or a "
                + "small pool, or give the node more memory (--memory), which raises the limit.",
            Judge = static facts =>
                facts.Redis is { Refused: > 0 } redis
                    ? $"In the last five minutes this node refused {Connections(redis.Refused)} of Redis clients: it "
                        + $"serves {redis.MaxClients} at once, and fewer of one address."
                    : null,
        },
        new()
        {
            Name = "redis_slow_clients",
            Severity = AlertSeverity.Warning,
            Expression =
                "increase(rookery_redis_slow_subscribers_total[5m]) + "
                + "increase(rookery_redis_slow_readers_total[5m]) > 0",
            KeepFiring = TimeSpan.FromMinutes(10),
            Sentence = "A node disconnected Redis clients that did not read: subscribers among them missed messages.",
            Summary = "{{ $labels.instance }} disconnected Redis clients that did not read.",
            Fix =
                "Such a client reads too slowly for what it asks or subscribes to. Let it read in a thread of its own, "
                + "subscribe to fewer channels, or ask for less at once.",
            Judge = static facts =>
                facts.Redis is { SlowClients: > 0 and var count }
                    ? $"In the last five minutes this node disconnected {count} Redis client"
                        + $"{(count == 1 ? string.Empty : "s")} that did not read replies or messages."
                    : null,
        },
    ];

    private static string Commands(long count) => $"{count} command{(count == 1 ? string.Empty : "s")}";

    private static string Connections(long count) => $"{count} connection{(count == 1 ? string.Empty : "s")}";
}
