using System.Security.Cryptography;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the other members over mutually authenticated TLS: two to each, one small for votes and
/// heartbeats, one for frames and forwarded commands. Incoming ones come from
/// <see cref="PeerListener"/>.
/// </summary>
public sealed class PeerNetwork : IPeerNetwork, IAsyncDisposable
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromSeconds(1);

    private readonly PeerHello _self;
    private readonly PeerGate _gate;
    private readonly TimeProvider _time;
    private readonly RepeatedLog _log;
    private readonly RepeatedLog _notes;
    private readonly StrangerLog _ofStrangers;
    private readonly MemoryShare? _memory;
    private readonly Lock _peersGate = new();
    private OutgoingPeer[] _peers = [];
    private LinkContext? _context;
    private IncomingLinks? _incoming;
    private ITimer? _watch;
    private bool _isStopped;

    /// <summary>A network that is silent until <see cref="Start"/>.</summary>
    /// <param name="self">How this node introduces itself.</param>
    /// <param name="trust">Certificates, asked for at each handshake.</param>
    /// <param name="admission">Whom to have connections with.</param>
    /// <param name="time">The clock.</param>
    /// <param name="log">Told in a sentence why a connection was refused, failed or ended; each sentence at most once a
    /// minute, and ten of who proves nobody.</param>
    /// <param name="memory">Counts what waits to be sent, and what came and is not handled yet; null for
    /// nowhere.</param>
    /// <param name="note">Told instead of what is usual: that a member is not there yet; null for
    /// <paramref name="log"/>.</param>
    public PeerNetwork(
        PeerHello self,
        Func<PeerTrust> trust,
        IPeerAdmission admission,
        TimeProvider time,
        Action<string> log,
        MemoryBudget? memory = null,
        Action<string>? note = null
    )
    {
        _memory = memory?.AddShare("peers", memory.TotalBytes / 4);
        _self =
            self.Run != 0
                ? self
                : self with
                {
                    Run = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))),
                };
        _time = time;
        _log = new RepeatedLog(log, time);
        _notes = note is null ? _log : new RepeatedLog(note, time);
        _ofStrangers = new StrangerLog(log, time);
        Trust = trust;
        _gate = new PeerGate(_self, admission, node => NameOf(node), time);
    }

    /// <summary>Certificates of now.</summary>
    internal Func<PeerTrust> Trust { get; }

    /// <summary>
    /// Told when another member says that this node's data must not take part any more, and why. From any thread.
    /// </summary>
    public Action<string>? Excluded { get; set; }

    /// <summary>
    /// Where this node listens for members now, <c>host:port</c>, the likeliest first. From any thread.
    /// </summary>
    public Func<IReadOnlyList<string>> Places { get; set; } = static () => [];

    /// <summary>What a member is called; null when that is not known. From any thread.</summary>
    public Func<NodeId, string?> NameOf { get; set; } = static _ => null;

    /// <inheritdoc/>
    public IReadOnlyList<PeerAnswer> Answers => [.. Volatile.Read(ref _peers).Select(static peer => peer.Answer)];

    /// <inheritdoc/>
    public bool Reaches(NodeId member) => Find(member) is { Bulk.IsConnected: true };

    /// <inheritdoc/>
    public IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => Find(member)?.Attempts ?? [];

    /// <summary>Begins to take connections, and to dial once peers are named. Called once.</summary>
    /// <param name="receiver">Consensus.</param>
    public void Start(IPeerReceiver receiver)
    {
        lock (_peersGate)
        {
            Invariant.Holds(_context is null, "a network is started once");
            _context = new LinkContext(
                new PeerDialer(_self, Trust, _gate, Met, node => NameOf(node), _time, _memory),
                _gate,
                receiver,
                _time,
                _log,
                _notes,
                _ofStrangers,
                _memory,
                sentence => Excluded?.Invoke(sentence),
                () => Places(),
                node => NameOf(node)
            );
            Volatile.Write(ref _incoming, new IncomingLinks(_self, _context, Called));
            _watch = _time.CreateTimer(
                static network => ((PeerNetwork)network!).Watch(),
                this,
                WatchInterval,
                WatchInterval
            );
        }
    }

    /// <inheritdoc/>
    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames) =>
        Find(message.To)?.For(message.Kind).Send(message, frames);

    /// <inheritdoc/>
    public ValueTask<CommandOutcome> ForwardAsync(
        NodeId leader,
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        if (Find(leader) is { } peer)
        {
            return peer.Bulk.ForwardAsync(command, cancellationToken);
        }

        return new ValueTask<CommandOutcome>(PeerRefusals.NeverSent);
    }

    /// <inheritdoc/>
    public void SetPeers(IReadOnlyList<PeerAddress> peers)
    {
        lock (_peersGate)
        {
            Invariant.Holds(_context is not null, "peers are named to a network that was started");
            var wanted = _isStopped ? [] : peers.Where(peer => peer.Node != _self.Member).ToArray();
            var kept = _peers.Where(peer => Array.Exists(wanted, address => address.Node == peer.Route.Node)).ToArray();
            foreach (var gone in _peers.Except(kept))
            {
                _ = gone.StopAsync();
            }

            Volatile.Write(
                ref _peers,
                [
                    .. wanted.Select(address =>
                        Array.Find(kept, peer => peer.Route.Node == address.Node) ?? new OutgoingPeer(_context, address)
                    ),
                ]
            );
            foreach (var peer in kept)
            {
                if (peer.Route.Update(Array.Find(wanted, address => address.Node == peer.Route.Node)!.Addresses))
                {
                    peer.Wake();
                }
            }
        }
    }

    /// <summary>
    /// Why a request to the port for members is not answered as a member's, in a sentence; null when it is: by the same
    /// questions as a connection of its own.
    /// </summary>
    internal string? Refuse(HttpContext http) =>
        http.Features.Get<ProvenPeer>()?.Verdict is not { NodeId: { } node }
            ? "This is for members of the cluster only."
        : PeerHttp.HelloIn(http.Request) is not { } hello ? "A member says who it is, and how often it was started."
        : _gate.Refuse(hello, node)?.Sentence;

    /// <summary>
    /// A client of another member's port for members, which the caller disposes; null when it is not known where that
    /// is.
    /// </summary>
    internal HttpClient? ClientOf(NodeId member) =>
        AddressesOf(member) is { Length: > 0 } addresses
            ? PeerHttp.CreateClient(Trust(), member, addresses, _self)
            : null;

    /// <summary>Where a member may be, the likeliest first; none for one that is not among the peers.</summary>
    internal string[] AddressesOf(NodeId node) => Find(node)?.Route.Candidates() ?? [];

    /// <summary>
    /// Who is connected to this node, peers or not, and where to call back: this node answers only on connections that
    /// it dialled.
    /// </summary>
    internal IReadOnlyList<PeerAddress> Callers() =>
        [.. (Volatile.Read(ref _incoming)?.Callers() ?? []).OrderBy(static caller => caller.Node)];

    /// <summary>How the connections to each peer do.</summary>
    public IReadOnlyList<PeerStatus> Status() => [.. Volatile.Read(ref _peers).Select(PeerStatus.Of)];

    /// <summary>Ends all connections and takes no more.</summary>
    public async ValueTask DisposeAsync()
    {
        OutgoingPeer[] stopping;
        lock (_peersGate)
        {
            _isStopped = true;
            stopping = _peers;
            Volatile.Write(ref _peers, []);
        }

        if (_watch is not null)
        {
            await _watch.DisposeAsync();
        }

        Volatile.Read(ref _incoming)?.Close();
        await Task.WhenAll(stopping.Select(peer => peer.StopAsync()));
    }

    /// <summary>Carries a connection that came in, until it ends.</summary>
    internal Task AcceptAsync(IncomingStream stream, CancellationToken cancellationToken) =>
        Volatile.Read(ref _incoming)?.AcceptAsync(stream, cancellationToken) ?? Task.CompletedTask;

    private OutgoingPeer? Find(NodeId node)
    {
        foreach (var peer in Volatile.Read(ref _peers))
        {
            if (peer.Route.Node == node)
            {
                return peer;
            }
        }

        return null;
    }

    /// <summary>A member called, or said where it listens: it lives, and there it can be called.</summary>
    private void Called(PeerConnection connection)
    {
        if (Find(connection.Remote.Member) is { } peer)
        {
            // The other connection says nothing of the places where it listens: it would take back what this one said.
            if (
                connection.Remote.Kind == LinkKind.Control
                && IncomingLinks.PlacesOf(connection) is { Length: > 0 } places
            )
            {
                peer.Route.Seen(places, areAll: connection.Places.Count > 0);
            }

            peer.Wake();
        }
    }

    /// <summary>A member answers where another was looked for: there it can be called.</summary>
    /// <returns>Whether it is one of the peers.</returns>
    private bool Met(NodeId node, string address)
    {
        if (Find(node) is not { } peer)
        {
            return false;
        }

        if (!peer.Control.IsConnected && peer.Route.Reached(address))
        {
            peer.Wake();
        }

        return true;
    }

    private void Watch()
    {
        foreach (var peer in Volatile.Read(ref _peers))
        {
            Guard(peer.Watch);
        }

        Guard(() => Volatile.Read(ref _incoming)?.Watch());
    }

    /// <summary>
    /// Records that cannot be read, for instance, are nothing that the whole node should end for, as it would by what
    /// leaves a timer, nor that the other connections should not be looked after for.
    /// </summary>
    private void Guard(Action watch)
    {
        try
        {
            watch();
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            _log.Tell($"Connections could not be looked after: {failure.Message}");
        }
    }
}
