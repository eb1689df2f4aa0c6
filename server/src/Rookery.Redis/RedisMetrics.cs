using Rookery.Documents.Redis;
using Rookery.Server.Operations;

namespace Rookery.Redis;

/// <summary>Counts what Redis clients do. Thread-safe.</summary>
internal sealed class RedisMetrics
{
    private readonly long[] _commands = new long[Enum.GetValues<RedisCommandGroup>().Length];
    private long _accepted;
    private long _refused;
    private long _bursts;
    private long _burstCommands;
    private long _errors;
    private long _publications;
    private long _lostPublications;
    private long _lostNotifications;
    private long _slowSubscribers;
    private long _slowReaders;
    private long _unknownOutcomes;

    /// <summary>Commands executed since the start.</summary>
    public long Commands
    {
        get
        {
            long sum = 0;
            for (int i = 0; i < _commands.Length; i++)
            {
                sum += Volatile.Read(ref _commands[i]);
            }

            return sum;
        }
    }

    /// <summary>Connections accepted since the start.</summary>
    public long Accepted => Volatile.Read(ref _accepted);

    /// <summary>Connections refused since the start because the node had as many as it serves.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Replies since the start that are errors.</summary>
    public long Errors => Volatile.Read(ref _errors);

    /// <summary>Commands since the start whose outcome the node could not tell.</summary>
    public long UnknownOutcomes => Volatile.Read(ref _unknownOutcomes);

    /// <summary>Clients disconnected since the start because they did not read their messages or replies.</summary>
    public long SlowClients => Volatile.Read(ref _slowSubscribers) + Volatile.Read(ref _slowReaders);

    /// <summary>Commands since the start by family, without families that had none.</summary>
    public IReadOnlyList<(string Family, long Count)> CommandsByFamily =>
        [
            .. Enum.GetValues<RedisCommandGroup>()
                .Select(group => (NameOf(group), Volatile.Read(ref _commands[(int)group])))
                .Where(static family => family.Item2 > 0),
        ];

    public void CountCommand(RedisCommandGroup group) => Interlocked.Increment(ref _commands[(int)group]);

    public void CountConnection() => Interlocked.Increment(ref _accepted);

    public void CountRefusal() => Interlocked.Increment(ref _refused);

    public void CountError() => Interlocked.Increment(ref _errors);

    /// <summary>Counts an entry of the log and the commands in it.</summary>
    public void CountBurst(int commands)
    {
        Interlocked.Increment(ref _bursts);
        Interlocked.Add(ref _burstCommands, commands);
    }

    public void CountPublication() => Interlocked.Increment(ref _publications);

    /// <summary>Counts messages that another member did not receive.</summary>
    public void CountLostPublications(int count) => Interlocked.Add(ref _lostPublications, count);

    /// <summary>Counts a subscriber that was disconnected because it may have missed notifications.</summary>
    public void CountLostNotifications() => Interlocked.Increment(ref _lostNotifications);

    /// <summary>Counts a subscriber that was disconnected because it reads too slowly.</summary>
    public void CountSlowSubscriber() => Interlocked.Increment(ref _slowSubscribers);

    /// <summary>Counts a client that was disconnected because it does not read its replies.</summary>
    public void CountSlowReader() => Interlocked.Increment(ref _slowReaders);

    /// <summary>Counts commands whose outcome the node cannot tell.</summary>
    public void CountUnknownOutcomes(int commands) => Interlocked.Add(ref _unknownOutcomes, commands);

    /// <summary>Adds the metrics to a page.</summary>
    public void Add(PrometheusText text, RedisNode node)
    {
        text.Gauge("rookery_redis_connections", "Connections of Redis clients.").Sample(node.Clients.Count);
        text.Counter("rookery_redis_connections_total", "Connections of Redis clients that were accepted.")
            .Sample(Accepted);
        text.Counter(
                "rookery_redis_connections_refused_total",
                "Connections of Redis clients that were refused: too many of all clients, or of one address."
            )
            .Sample(node.RefusedConnections);
        text.Counter("rookery_redis_commands_total", "Commands of Redis clients, by family.");
        foreach (var (family, count) in CommandsByFamily)
        {
            text.Sample(count, ("family", family));
        }

        text.Counter(
                "rookery_redis_unknown_outcomes_total",
                "Commands of Redis clients of which the node could not tell whether they were carried out."
            )
            .Sample(UnknownOutcomes);
        text.Counter("rookery_redis_errors_total", "Replies to Redis clients that are errors.").Sample(Errors);
        text.Counter("rookery_redis_bursts_total", "Entries of the log with commands of Redis clients.")
            .Sample(Volatile.Read(ref _bursts));
        text.Counter("rookery_redis_burst_commands_total", "Commands of Redis clients in these entries.")
            .Sample(Volatile.Read(ref _burstCommands));
        text.Gauge("rookery_redis_subscriptions", "Channels and patterns to which clients of this node subscribe.")
            .Sample(node.Channels.Count);
        text.Counter("rookery_redis_publications_total", "Messages that clients of this node published.")
            .Sample(Volatile.Read(ref _publications));
        text.Counter(
                "rookery_redis_publications_lost_total",
                "Published messages that were not passed on to another member, which was not reached or too slow."
            )
            .Sample(Volatile.Read(ref _lostPublications));
        text.Counter(
                "rookery_redis_lost_notifications_total",
                "Subscribers that were disconnected because keyspace notifications may have been lost."
            )
            .Sample(Volatile.Read(ref _lostNotifications));
        text.Counter(
                "rookery_redis_slow_subscribers_total",
                "Subscribers that were disconnected because they did not read their messages."
            )
            .Sample(Volatile.Read(ref _slowSubscribers));
        text.Counter(
                "rookery_redis_slow_readers_total",
                "Redis clients that were disconnected because they did not read their replies."
            )
            .Sample(Volatile.Read(ref _slowReaders));
    }

    private static string NameOf(RedisCommandGroup group) => group.ToString().ToLowerInvariant();
}
