using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Rookery.Server.Observation;
using Rookery.Server.Operations;

namespace Rookery.Server;

/// <summary>
/// A protocol besides HTTP that a project above this one serves on an endpoint of its own
/// (<see cref="ServerContext.Protocols"/>).
/// </summary>
public abstract class ServedProtocol
{
    /// <summary>Prefix of <see cref="MemberPath"/>.</summary>
    protected const string MemberPrefix = MemberRequests.Prefix;

    /// <summary>Address and port to listen on; port 0 for any free one.</summary>
    public abstract IPEndPoint Listen { get; }

    /// <summary>Whether connections use TLS with the node's certificate.</summary>
    public abstract bool UsesTls { get; }

    /// <summary>Connections that one remote address may have at once; loopback may have more.</summary>
    public abstract int MaxOfAddress { get; }

    /// <summary>Path of requests of other members on the port for members, which authenticates them.</summary>
    public abstract string MemberPath { get; }

    /// <summary>Returns the port that the server listens on; null before it listens.</summary>
    public Func<int>? Port { get; internal set; }

    /// <summary>Limits the connections of each remote address; null before the server listens.</summary>
    internal ConnectionsByAddress? Connections { get; set; }

    /// <summary>Serves a connection until it ends. Called after the TLS handshake.</summary>
    public abstract Task ServeAsync(ConnectionContext connection);

    /// <summary>Answers a request of another member to <see cref="MemberPath"/>.</summary>
    public abstract Task AnswerMemberAsync(HttpContext http);

    /// <summary>Reads what the protocol serves now.</summary>
    internal abstract ProtocolState ReadState();

    /// <summary>Adds the metrics of the protocol.</summary>
    internal abstract void AddMetrics(PrometheusText text);
}
