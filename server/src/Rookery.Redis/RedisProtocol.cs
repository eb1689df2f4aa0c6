using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;
using Rookery.Redis.Connections;
using Rookery.Server;
using Rookery.Server.Configuration;
using Rookery.Server.Observation;
using Rookery.Server.Operations;

namespace Rookery.Redis;

/// <summary>
/// Serves Redis clients (RESP, versions 2 and 3) on the documents of one database. docs/reference/redis.md lists the
/// commands and the documents of keys.
/// </summary>
public sealed class RedisProtocol : ServedProtocol
{
    private readonly RedisConfiguration _configuration;
    private readonly RedisNode _node;

    /// <summary>Creates the protocol; <see cref="ServerContext.Protocols"/> takes it.</summary>
    /// <param name="context">The server.</param>
    /// <param name="configuration">Where and with which database it serves.</param>
    public RedisProtocol(ServerContext context, RedisConfiguration configuration)
    {
        _configuration = configuration;
        _node = new RedisNode(context, configuration, this);
    }

    /// <inheritdoc/>
    public override IPEndPoint Listen => _configuration.Listen;

    /// <inheritdoc/>
    public override bool UsesTls => _configuration.UsesTls;

    /// <inheritdoc/>
    public override int MaxOfAddress => _node.Clients.MaxOfAddress;

    /// <inheritdoc/>
    public override string MemberPath => PathOfMembers;

    /// <summary>The path of <see cref="MemberPath"/>.</summary>
    internal const string PathOfMembers = MemberPrefix + "redis";

    internal RedisNode Node => _node;

    /// <inheritdoc/>
    public override Task ServeAsync(ConnectionContext connection) =>
        SocketThreads.RunOnPoolAsync(
            static on => RedisConnection.ServeAsync(on._node, on.Connection),
            (_node, Connection: connection)
        );

    /// <inheritdoc/>
    public override Task AnswerMemberAsync(HttpContext http) => _node.Relay.ReceiveAsync(http);

    /// <inheritdoc/>
    internal override ProtocolState ReadState() => _node.ReadState();

    /// <inheritdoc/>
    internal override void AddMetrics(PrometheusText text) => _node.Metrics.Add(text, _node);
}
