using System.Security.Cryptography;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The connections to the other members over mutually authenticated TLS. This node dials two to each member: one for
/// votes and heartbeats, one for frames and forwarded commands. <see cref="PeerListener"/> accepts the connections that
/// other members dial.
/// </summary>
public sealed class PeerNetwork : IPeerNetwork, IAsyncDisposable
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromSeconds(1);

    private readonly PeerHello _self;
    private readonly PeerGate _gate;
    private readonly TimeProvider _time;
    private readonly RateLimitedLog _log;
    private readonly RateLimitedLog _notes;
    private readonly UnknownPeerLog _strangerLog;
    private readonly MemoryShare? _memory;
    private readonly Lock _peersGate = new();
    private OutgoingPeer[] _peers = [];
    private LinkContext? _context;
    private IncomingLinks? _incoming;
    private ITimer? _watch;
    private bool _isStopped;

    /// <summary>Makes a network that neither dials nor accepts until <see cref="Start"/>.</summary>
    /// <param name="self">This node's hello.</param>
    /// <param name="trust">Returns the current certificates; called for each handshake.</param>
    /// <param name="admission">Decides which nodes may connect.</param>
    /// <param name="time">The clock.</param>
    /// <param name="log">Receives a sentence when a connection is refused, fails or ends. Each sentence is logged at
    /// most once a minute. At most ten a minute are logged about nodes without a member's certificate.</param>
    /// <param name="memory">The memory budget that counts send queues and received packets; null for none.</param>
    /// <param name="note">Receives expected events, such as a member that has not started yet; null to send them to
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
            self.StartId != 0
                ? self
                : self with
                {
                    StartId = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))),
                };
        _time = time;
        _log = new RateLimitedLog(log, time);
        _notes = note is null ? _log : new RateLimitedLog(note, time);
        _strangerLog = new UnknownPeerLog(log, time);
        Trust = trust;
        _gate = new PeerGate(_self, admission, node => NameOf(node), time);
    }

    /// <summary>Returns the current certificates.</summary>
    internal Func<PeerTrust> Trust { get; }

    /// <summary>
    /// Invoked, with the reason, when another member refuses this node for good. Called from any thread.
    /// </summary>
    public Action<string>? Excluded { get; set; }

    /// <summary>
    /// Returns the addresses at which this node listens for members, <c>host:port</c>, the likeliest to answer first.
    /// Called from any thread.
    /// </summary>
    public Func<IReadOnlyList<string>> OwnAddresses { get; set; } = static () => [];

    /// <summary>Returns a member's name; null when it is not known. Called from any thread.</summary>
    public Func<NodeId, string?> NameOf { get; set; } = static _ => null;

    /// <inheritdoc/>
    public IReadOnlyList<PeerAnswer> Answers => [.. Volatile.Read(ref _peers).Select(static peer => peer.Answer)];

    /// <inheritdoc/>
    public bool Reaches(NodeId member) => Find(member) is { Bulk.IsConnected: true };

    /// <inheritdoc/>
    public IReadOnlyList<FailedAttempt> AttemptsAt(NodeId member) => Find(member)?.Attempts ?? [];

    /// <summary>Begins to accept connections, and to dial once peers are set. Called once.</summary>
    /// <param name="receiver">Receives the network's events: consensus.</param>
    public void Start(IPeerReceiver receiver)
    {
        lock (_peersGate)
        {
            Invariant.Holds(_context is null, "a network is started once");
            _context = new LinkContext(
                new PeerDialer(_self, Trust, _gate, LearnAddressOf, node => NameOf(node), _time, _memory),
                _gate,
                receiver,
                _time,
                _log,
                _notes,
                _strangerLog,
                _memory,
                sentence => Excluded?.Invoke(sentence),
                () => OwnAddresses(),
                node => NameOf(node)
            );
            Volatile.Write(ref _incoming, new IncomingLinks(_self, _context, LearnAddresses));
            _watch = _time.CreateTimer(
                static network => ((PeerNetwork)network!).CheckConnections(),
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
            Invariant.Holds(_context is not null, "peers are set after the network is started");
            var wanted = _isStopped ? [] : peers.Where(peer => peer.Node != _self.Member).ToArray();
            var kept = _peers.Where(peer => Array.Exists(wanted, address => address.Node == peer.Route.Node)).ToArray();
            foreach (var removed in _peers.Except(kept))
            {
                _ = removed.StopAsync();
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
                var recorded = Array.Find(wanted, address => address.Node == peer.Route.Node)!;
                if (peer.Route.ReplaceRecorded(recorded.Addresses))
                {
                    peer.Wake();
                }
            }
        }
    }

    /// <summary>
    /// Returns why an HTTP request to the port for members is refused, as a sentence; null when it comes from a member.
    /// Applies the same checks as to a link.
    /// </summary>
    internal string? AdmitOrRefuse(HttpContext http)
    {
        if (http.Features.Get<ProvenPeer>()?.Verdict is not { NodeId: { } node })
        {
            return "This is for members of the cluster only.";
        }

        if (PeerHttp.HelloIn(http.Request) is not { } hello)
        {
            return "The request lacks the hello with which a member says who it is, and how often it was started.";
        }

        return _gate.AdmitOrRefuse(hello, node)?.Sentence;
    }

    /// <summary>
    /// Makes an HTTPS client for another member's port, which the caller disposes; null when no address is known.
    /// </summary>
    internal HttpClient? ClientOf(NodeId member) =>
        AddressesOf(member) is { Length: > 0 } addresses
            ? PeerHttp.CreateClient(Trust(), member, addresses, _self)
            : null;

    /// <summary>Returns a member's addresses, the likeliest to answer first; empty when it is not among the
    /// peers.</summary>
    internal string[] AddressesOf(NodeId node) => Find(node)?.Route.Candidates() ?? [];

    /// <summary>
    /// Returns the nodes that are connected to this one, peers or not, with the addresses at which to dial them. This
    /// node sends messages only on connections that it dialled.
    /// </summary>
    internal IReadOnlyList<PeerAddress> Callers() =>
        [.. (Volatile.Read(ref _incoming)?.Callers() ?? []).OrderBy(static caller => caller.Node)];

    /// <summary>Returns the state of the connections to each peer.</summary>
    public IReadOnlyList<PeerStatus> Status() => [.. Volatile.Read(ref _peers).Select(PeerStatus.Of)];

    /// <summary>Closes all connections and accepts no more.</summary>
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

    /// <summary>Serves an accepted connection until it ends.</summary>
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

    /// <summary>Records the addresses of a member that connected or announced them, and dials it there.</summary>
    private void LearnAddresses(PeerConnection connection)
    {
        if (Find(connection.Remote.Member) is { } peer)
        {
            // A bulk connection announces no addresses, so it must not replace those that the control connection
            // announced.
            if (
                connection.Remote.Kind == LinkKind.Control
                && IncomingLinks.DialAddressesOf(connection) is { Length: > 0 } addresses
            )
            {
                peer.Route.RecordAnnounced(addresses, areAll: connection.AnnouncedAddresses.Count > 0);
            }

            peer.Wake();
        }
    }

    /// <summary>
    /// Records that a member answered at an address where another member was expected, and dials it there.
    /// </summary>
    /// <returns>Whether the member is one of the peers.</returns>
    private bool LearnAddressOf(NodeId node, string address)
    {
        if (Find(node) is not { } peer)
        {
            return false;
        }

        if (!peer.Control.IsConnected && peer.Route.RecordReached(address))
        {
            peer.Wake();
        }

        return true;
    }

    private void CheckConnections()
    {
        foreach (var peer in Volatile.Read(ref _peers))
        {
            RunAndLogFailure(peer.CheckConnections);
        }

        RunAndLogFailure(() => Volatile.Read(ref _incoming)?.CheckConnections());
    }

    /// <summary>
    /// Runs one check, and logs its failure, for example because records cannot be read. An exception that left the
    /// timer's callback would end the process.
    /// </summary>
    private void RunAndLogFailure(Action check)
    {
        try
        {
            check();
        }
        catch (Exception failure) when (failure is not InvariantViolationException)
        {
            _log.Report($"Connections to members could not be checked: {failure.Message}");
        }
    }
}
