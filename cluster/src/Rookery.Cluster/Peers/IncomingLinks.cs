using System.Net;
using Rookery.Cluster.Identity;

namespace Rookery.Cluster.Peers;

/// <summary>A connection that came in, with what its TLS handshake has shown.</summary>
/// <param name="Stream">The TLS stream.</param>
/// <param name="Verdict">Whom its certificate proves.</param>
/// <param name="From">Where it comes from.</param>
internal sealed record IncomingStream(Stream Stream, PeerVerdict Verdict, IPAddress? From);

/// <summary>The connections that other members dialled: the newest of each member and kind. Thread-safe.</summary>
internal sealed class IncomingLinks(PeerHello self, LinkContext context, Action<PeerConnection> called)
{
    private const string TakesNoPart =
        "It takes no part in the cluster any more, or stops: `rookery status` there says why.";

    /// <summary>How long a stranger may take to say hello.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Node, LinkKind Kind), PeerConnection> _connections = [];
    private bool _isClosed;

    /// <summary>Carries a connection until it ends.</summary>
    public async Task AcceptAsync(IncomingStream incoming, CancellationToken cancellationToken)
    {
        using var reader = new PacketReader(incoming.Stream, PeerProtocol.MaxControlPacketBytes, context.Memory);
        Action<string> tell = incoming.Verdict.NodeId is null ? context.OfStrangers.Tell : context.Log.Tell;
        try
        {
            if (await GreetAsync(incoming, reader, tell, cancellationToken) is not { } remote)
            {
                return;
            }

            using var connection = new PeerConnection(
                incoming.Stream,
                reader,
                remote,
                asks: false,
                context.Time,
                context.Memory
            )
            {
                From = incoming.From,
            };
            using var stop = cancellationToken.Register(() => connection.Close(null));
            if (!Add(connection))
            {
                return;
            }

            called(connection);
            string? end = await connection.RunAsync(new IncomingLink(context, connection, self.Member, called));
            Remove(connection);
            context.Refused(connection.Refusal);
            if (end is not null)
            {
                context.Log.Tell(
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
            // A member that looked for another here hangs up when it sees this node's certificate, and tells by itself
            // what went wrong. The end of the connection is seen by the read, or by who cancels it.
        }
        catch (Exception trouble)
        {
            tell($"A connection from {incoming.From} came to nothing: {PeerConnection.Explain(trouble)}");
        }
    }

    /// <summary>Looks after all. Called every second.</summary>
    public void Watch()
    {
        foreach (var connection in All())
        {
            connection.Watch(asks: false);
            if (context.Gate.RefuseLater(connection.Remote, answered: 0) is { } refusal)
            {
                connection.Close(refusal.Sentence);
            }
        }
    }

    /// <summary>The members that are connected now, and where they can be called.</summary>
    public IEnumerable<PeerAddress> Callers() =>
        from connection in All()
        where connection.Remote.Kind == LinkKind.Control
        let places = PlacesOf(connection)
        where places.Length > 0
        select new PeerAddress(connection.Remote.Member, places);

    /// <summary>
    /// Where who calls can be called: at the address that it calls from, which it has for certain and which says at
    /// once when nobody listens there, and then where it says that it listens.
    /// </summary>
    public static string[] PlacesOf(PeerConnection connection)
    {
        var (from, port) = (connection.From, connection.Remote.Port);
        string[] source =
            from is null || port == 0
                ? []
                : [new IPEndPoint(from.IsIPv4MappedToIPv6 ? from.MapToIPv4() : from, port).ToString()];
        return [.. source.Union(connection.Places, StringComparer.Ordinal)];
    }

    /// <summary>Ends all, and takes no more.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _isClosed = true;
        }

        foreach (var connection in All())
        {
            connection.Close(null);
        }
    }

    /// <summary>Both ends say hello, or this one says why not.</summary>
    private async Task<PeerHello?> GreetAsync(
        IncomingStream incoming,
        PacketReader reader,
        Action<string> tell,
        CancellationToken cancellationToken
    )
    {
        using var patience = new CancellationTokenSource(Patience, context.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patience.Token, cancellationToken);
        PeerRefusal refusal;
        try
        {
            var hello = await PeerHandshake.ReadHelloAsync(reader, either.Token);
            var reason =
                incoming.Verdict.NodeId is not { } proven
                    ? new PeerRefusal(incoming.Verdict.Refusal ?? "It has no certificate.")
                : Volatile.Read(ref _isClosed) ? new PeerRefusal(TakesNoPart)
                : context.Gate.Refuse(hello, proven);
            if (reason is null)
            {
                await PeerHandshake.WriteAsync(
                    incoming.Stream,
                    new HelloBody(self with { Kind = hello.Kind }),
                    either.Token
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
            tell($"A connection from {incoming.From} was refused: {refusal.Sentence}");
        }

        await PeerHandshake.WriteAsync(incoming.Stream, new RefusalBody(refusal), either.Token);
        if (refusal.Kind == PeerRefusalKind.NoMember)
        {
            // A card from when this node was alone knows no members, and dials nobody who could tell it what it is.
            await PeerHandshake.WriteAsync(
                incoming.Stream,
                new HelloBody(self with { Kind = LinkKind.Control }),
                either.Token
            );
            context.Refused(await PeerHandshake.ReadRefusalAsync(reader, either.Token));
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

        context.Gate.Starts.Connected(connection.Remote);
        older?.Close("It called again.");
        return true;
    }

    private void Remove(PeerConnection connection)
    {
        context.Gate.Starts.Disconnected(connection.Remote);
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
