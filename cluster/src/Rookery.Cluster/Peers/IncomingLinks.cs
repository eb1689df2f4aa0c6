using System.Net;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>An accepted connection with the result of its TLS handshake.</summary>
/// <param name="Stream">The TLS stream.</param>
/// <param name="Verdict">The node that the certificate proves, or why it proves none.</param>
/// <param name="From">The remote address; null when it is unknown.</param>
internal sealed record IncomingStream(Stream Stream, PeerVerdict Verdict, IPAddress? From);

/// <summary>
/// Serves the connections that other members dialled. Keeps only the newest connection of each kind from each member.
/// Thread-safe.
/// </summary>
internal sealed class IncomingLinks(PeerHello self, LinkContext context, Action<PeerConnection> onContact)
{
    private const string TakesNoPart =
        "It takes no part in the cluster any more, or stops: `rookery status` there says why.";

    /// <summary>The time within which the other end must send its hello.</summary>
    private static readonly TimeSpan GreetingTimeout = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Node, LinkKind Kind), PeerConnection> _connections = [];
    private bool _isClosed;

    /// <summary>Serves an accepted connection until it ends.</summary>
    public async Task AcceptAsync(IncomingStream incoming, CancellationToken cancellationToken)
    {
        using var reader = new PacketReader(incoming.Stream, PeerProtocol.MaxControlPacketBytes, context.Memory);
        Action<string> log = incoming.Verdict.NodeId is null ? context.UnknownPeersLog.Report : context.Log.Report;
        try
        {
            if (await GreetAsync(incoming, reader, log, cancellationToken) is not { } remote)
            {
                return;
            }

            using var connection = new PeerConnection(
                incoming.Stream,
                reader,
                remote,
                pings: false,
                context.Time,
                context.Memory
            )
            {
                From = incoming.From,
            };
            using var stop = cancellationToken.Register(() => connection.Close(reason: null));
            if (!Add(connection))
            {
                return;
            }

            onContact(connection);
            string? end = await connection.RunAsync(new IncomingLink(context, connection, self.Member, onContact));
            Remove(connection);
            context.Refused(connection.Refusal);
            if (end is not null)
            {
                context.Log.Report(
                    $"The connection from node {context.NameOf(remote.Member) ?? remote.NodeId} at "
                        + $"{incoming.From} was closed: {end}"
                );
            }
        }
        catch (Exception hungUp)
            when (incoming.Verdict.NodeId is not null
                && (hungUp is IOException || cancellationToken.IsCancellationRequested)
            )
        {
            // Not logged: a member that dialled the wrong address hangs up when it sees this node's certificate, and
            // logs that itself.
        }
        catch (Exception trouble)
        {
            log($"A connection from {incoming.From} came to nothing: {PeerConnection.Explain(trouble)}");
        }
    }

    /// <summary>
    /// Pings where a ping is due, and closes connections that are dead or no longer admitted. Called every second.
    /// </summary>
    public void CheckConnections()
    {
        foreach (var connection in All())
        {
            connection.CheckLiveness(alwaysPing: context.Gate.Starts.IsChallenged(connection.Remote));
            if (context.Gate.Recheck(connection.Remote, connection.Answered) is { } refusal)
            {
                connection.Close(refusal.Sentence);
            }
        }
    }

    /// <summary>Returns the members that are connected now and the addresses at which to dial them.</summary>
    public IEnumerable<PeerAddress> Callers() =>
        from connection in All()
        where connection.Remote.Kind == LinkKind.Control
        let addresses = DialAddressesOf(connection)
        where addresses.Length > 0
        select new PeerAddress(connection.Remote.Member, addresses);

    /// <summary>
    /// Returns the addresses at which to dial a member that dialled this node: first its source address with the port
    /// from its hello, then the addresses that it announced. The source address is certain to be the member's, and
    /// dialling fails fast if it does not listen there.
    /// </summary>
    public static string[] DialAddressesOf(PeerConnection connection)
    {
        var (from, port) = (connection.From, connection.Remote.Port);
        string[] source =
            from is null || port == 0
                ? []
                : [new IPEndPoint(from.IsIPv4MappedToIPv6 ? from.MapToIPv4() : from, port).ToString()];
        return [.. source.Union(connection.AnnouncedAddresses, StringComparer.Ordinal)];
    }

    /// <summary>Closes all connections and accepts no more.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
        }

        foreach (var connection in All())
        {
            connection.Close(reason: null);
        }
    }

    /// <summary>Exchanges hellos, or refuses the other end.</summary>
    private async Task<PeerHello?> GreetAsync(
        IncomingStream incoming,
        PacketReader reader,
        Action<string> log,
        CancellationToken cancellationToken
    )
    {
        using var timeout = new CancellationTokenSource(GreetingTimeout, context.Time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        PeerRefusal refusal;
        try
        {
            var hello = await PeerHandshake.ReadHelloAsync(reader, linked.Token);
            var reason =
                incoming.Verdict.NodeId is not { } proven
                    ? new PeerRefusal(incoming.Verdict.Refusal ?? "It has no certificate.")
                : Volatile.Read(ref _isClosed) ? new PeerRefusal(TakesNoPart)
                : context.Gate.AdmitOrRefuse(hello, proven);
            if (reason is null)
            {
                await PeerHandshake.WriteAsync(
                    incoming.Stream,
                    new HelloBody(self with { Kind = hello.Kind }),
                    linked.Token
                );
                return hello;
            }

            refusal = reason;
        }
        catch (PeerProtocolException malformed)
        {
            refusal = new PeerRefusal(malformed.Message);
        }

        if (!Volatile.Read(ref _isClosed))
        {
            log($"A connection from {incoming.From} was refused: {refusal.Sentence}");
        }

        await PeerHandshake.WriteAsync(incoming.Stream, new RefusalBody(refusal), linked.Token);
        if (refusal.Kind == PeerRefusalKind.NoMember)
        {
            // Send this node's hello too. This node may be an old copy that knows no other members and dials none. The
            // other end can then refuse this node for good.
            await PeerHandshake.WriteAsync(
                incoming.Stream,
                new HelloBody(self with { Kind = LinkKind.Control }),
                linked.Token
            );
            context.Refused(await PeerHandshake.ReadRefusalAsync(reader, linked.Token));
        }

        return null;
    }

    private bool Add(PeerConnection connection)
    {
        PeerConnection? older;
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            var key = (connection.Remote.NodeId, connection.Remote.Kind);
            _connections.Remove(key, out older);
            _connections.Add(key, connection);
        }

        context.Gate.Starts.CountConnected(connection.Remote);
        older?.Close("It called again.");
        return true;
    }

    private void Remove(PeerConnection connection)
    {
        context.Gate.Starts.CountDisconnected(connection.Remote);
        lock (_gate)
        {
            var key = (connection.Remote.NodeId, connection.Remote.Kind);
            if (_connections.GetValueOrDefault(key) == connection)
            {
                _connections.Remove(key);
            }
        }
    }

    private PeerConnection[] All()
    {
        lock (_gate)
        {
            return [.. _connections.Values];
        }
    }
}
