using System.Net;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Redis.Changes;
using Rookery.Redis.Connections;
using Rookery.Redis.Messages;
using Rookery.Redis.Protocol;
using Rookery.Server;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Observation;

namespace Rookery.Redis;

/// <summary>What all Redis connections of this node share. Thread-safe.</summary>
internal sealed class RedisNode
{
    // Room around a document: names, other arguments, and escapes of its text.
    private const int BytesAroundDocument = 64 << 10;

    private readonly RedisConfiguration _configuration;

    // The endpoint resets connections beyond its limit. This part of the limit is kept for connections that are told
    // why they are refused.
    private const int ShareForRefusals = 16;

    private readonly ServedProtocol _protocol;

    public RedisNode(ServerContext context, RedisConfiguration configuration, ServedProtocol protocol)
    {
        (Context, _configuration, _protocol) = (context, configuration, protocol);
        Limits = new RequestLimits(Math.Min(context.Options.DocumentBytesLimit, context.Options.BatchBytesLimit));
        Memory = context.Memory.AddShare("redis", context.Memory.TotalBytes / 8);
        int connections = context.Options.ConnectionsLimit;
        Clients = new ClientList(connections - (connections / ShareForRefusals));
        Channels = new Channels();
        Relay = new MemberRelay(this);
        Changes = new ChangeWatch(this);
        StartedAt = context.Time.GetTimestamp();
    }

    public ServerContext Context { get; }

    /// <summary>Time between two checks of the rights of clients that listen or wait.</summary>
    public TimeSpan AccessInterval { get; set; } = FeedAccess.Interval;

    /// <summary>Bounds of requests.</summary>
    public RequestLimits Limits { get; }

    /// <summary>Largest command of the log that the protocol builds, in bytes.</summary>
    public int MaxLogCommandBytes => Limits.MaxCommandBytes + BytesAroundDocument;

    /// <summary>Memory of requests and of messages that clients have not received yet.</summary>
    public MemoryShare Memory { get; }

    public RedisMetrics Metrics { get; } = new();

    public ClientList Clients { get; }

    public Channels Channels { get; }

    public MemberRelay Relay { get; }

    public ChangeWatch Changes { get; }

    /// <summary>When the protocol was created, as <see cref="TimeProvider.GetTimestamp"/> counts.</summary>
    public long StartedAt { get; }

    /// <summary>Name of the database.</summary>
    public string DatabaseName => _configuration.Database;

    /// <summary>Whether clients come from other machines, over TLS.</summary>
    public bool UsesTls => _configuration.UsesTls;

    public int Port => _protocol.Port?.Invoke() ?? _configuration.Listen.Port;

    /// <summary>Connections refused since the start because there were too many, of all clients or of one
    /// address.</summary>
    public long RefusedConnections => Metrics.Refused + (_protocol.Connections?.Refused ?? 0);

    public IConsensus Consensus => Context.Node.Consensus;

    /// <summary>Reads what clients do now.</summary>
    public ProtocolState ReadState() =>
        new()
        {
            Address = new IPEndPoint(_configuration.Listen.Address, Port),
            UsesTls = UsesTls,
            Database = DatabaseName,
            Uptime = Context.Time.GetElapsedTime(StartedAt),
            Clients = Clients.Count,
            MaxClients = Clients.Max,
            Subscribers = Clients.Subscribers,
            Blocked = Changes.Waiting,
            Commands = Metrics.CommandsByFamily,
            Errors = Metrics.Errors,
            Refused = RefusedConnections,
            UnknownOutcomes = Metrics.UnknownOutcomes,
            SlowClients = Metrics.SlowClients,
        };

    /// <summary>The database if it exists on this node. The node must be open.</summary>
    public Database? TryFindDatabase() =>
        Context.Node.Databases.TryGet(DatabaseName, out var database) ? database : null;

    /// <summary>Creates the database if it does not exist.</summary>
    /// <returns>Why it cannot be created; null if it exists now.</returns>
    public async ValueTask<Rejection?> PrepareDatabaseAsync()
    {
        if (TryFindDatabase() is null)
        {
            var created = await Consensus.ProposeAsync(
                CommandEncoder.CreateDatabase(DatabaseName, HistoryId.Create()),
                CancellationToken.None
            );
            if (created.Rejection is { Kind: not RejectionKind.DatabaseExists } rejection)
            {
                return rejection;
            }

            // A follower applies the creation later than the leader.
            if (!await Consensus.ReadBarrierAsync())
            {
                return Server.Raven.RavenRoute.NoBarrierRejection(Context);
            }
        }

        return null;
    }
}
