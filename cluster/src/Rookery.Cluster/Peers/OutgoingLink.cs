using System.Net.Sockets;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Peers;

/// <summary>The services that all links of a node share.</summary>
internal sealed record LinkContext(
    PeerDialer Dialer,
    PeerGate Gate,
    IPeerReceiver Receiver,
    TimeProvider Time,
    RateLimitedLog Log,
    RateLimitedLog Notes,
    UnknownPeerLog UnknownPeersLog,
    MemoryShare? Memory,
    Action<string> Excluded,
    Func<IReadOnlyList<string>> OwnAddresses,
    Func<NodeId, string?> NameOf
)
{
    /// <summary>
    /// Handles another member's refusal of this node: invokes <see cref="Excluded"/> if it is for good.
    /// </summary>
    public void Refused(PeerRefusal? refusal)
    {
        if (refusal?.Kind == PeerRefusalKind.ForGood)
        {
            Excluded(refusal.Sentence);
        }
    }
}

/// <summary>
/// The outgoing connection of one kind to one member, dialled again whenever it breaks. Each member dials the other,
/// and sends its messages only on connections that it dialled. So members need not agree which of them dials, and a
/// member with a new address is connected as soon as it reaches the other members. The cost is two more TLS connections
/// for each pair of members.
/// </summary>
internal sealed class OutgoingLink : IAsyncDisposable
{
    /// <summary>
    /// After a connection that lasted longer than this, the delay between attempts is reset to the shortest.
    /// </summary>
    private static readonly TimeSpan StableAfter = TimeSpan.FromSeconds(2);

    /// <summary>
    /// For this long after the first attempt, failures to reach a member are logged only as notes, because the member
    /// may still be starting.
    /// </summary>
    private static readonly TimeSpan StartPeriod = TimeSpan.FromMinutes(1);

    /// <summary>The maximum number of messages logged about one member between two connections.</summary>
    private const int MaxReported = 100;

    private readonly LinkContext _context;
    private readonly PeerRoute _route;
    private readonly LinkKind _kind;

    private readonly CancellationTokenSource _stopping = new();
    private readonly Backoff _backoff = new(Random.Shared);
    private readonly Task _running;
    private readonly long _startedAt;
    private TaskCompletionSource _wake = NewWake();
    private OpenConnection? _open;
    private long _droppedBefore;
    private bool _wasReached;
    private bool _wasRefused;
    private IReadOnlyList<FailedAttempt> _attempts = [];

    // The failures logged since the last connection. Each distinct failure is logged once, because a member may be off
    // for months while its failures alternate ("no route", timeout).
    private readonly HashSet<(string Address, string Why, bool IsUsual)> _loggedFailures = [];

    /// <summary>Starts dialling.</summary>
    public OutgoingLink(LinkContext context, PeerRoute route, LinkKind kind)
    {
        _context = context;
        _route = route;
        _kind = kind;
        _startedAt = context.Time.GetTimestamp();
        _running = SocketThreads.RunOnPoolAsync(RunAsync);
    }

    /// <summary>Whether a connection is open now.</summary>
    public bool IsConnected => Volatile.Read(ref _open) is not null;

    /// <summary>The number of messages dropped because the queue was full or no connection was open.</summary>
    public long Dropped =>
        Volatile.Read(ref _droppedBefore) + (Volatile.Read(ref _open)?.Connection.Queue.Dropped ?? 0);

    /// <summary>The number of bytes queued or being written.</summary>
    public long QueuedBytes => Volatile.Read(ref _open)?.Connection.Queue.Room.Bytes ?? 0;

    /// <inheritdoc cref="IPeerNetwork.AttemptsAt"/>
    public IReadOnlyList<FailedAttempt> Attempts => Volatile.Read(ref _attempts);

    /// <summary>Why the last connection ended or the last attempt failed; null before the first failure.</summary>
    public string? Trouble { get; private set; }

    /// <summary>
    /// Why the member refused this node at the last attempt; null when it accepted this node or was not reached.
    /// </summary>
    public PeerRefusal? Refusal { get; private set; }

    /// <summary>Queues a message, or drops it.</summary>
    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (Volatile.Read(ref _open) is { } open)
        {
            open.Connection.Queue.TryPut(new MessageBody(message, frames));
        }
        else
        {
            Interlocked.Increment(ref _droppedBefore);
        }
    }

    /// <inheritdoc cref="IPeerNetwork.ForwardAsync"/>
    public ValueTask<CommandOutcome> ForwardAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        if (Volatile.Read(ref _open) is { } open)
        {
            return open.Forwards.ForwardAsync(command, cancellationToken);
        }

        return new ValueTask<CommandOutcome>(PeerRefusals.NeverSent);
    }

    /// <summary>Dials at once, because the member may be back or have a new address.</summary>
    public void Wake() => Volatile.Read(ref _wake).TrySetResult();

    /// <summary>
    /// Checks the connection: pings, and closes it when it is dead or no longer admitted. Called every second.
    /// </summary>
    public void CheckConnection()
    {
        if (Volatile.Read(ref _open) is { } open)
        {
            open.Connection.CheckLiveness(alwaysPing: _context.Gate.Starts.IsChallenged(open.Connection.Remote));
            if (_context.Gate.Recheck(open.Connection.Remote, open.Connection.Answered) is { } refusal)
            {
                open.Connection.Close(refusal.Sentence);
            }
        }
    }

    /// <summary>Closes the connection and stops dialling.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        _stopping.Dispose();
    }

    private static TaskCompletionSource NewWake() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private async Task RunAsync()
    {
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                await TryAllAsync();
            }
            catch (Exception failure)
            {
                // For example, member records cannot be read. Continue, because the member would otherwise not be
                // dialled again before a restart.
                Trouble = $"A member could not be called: {failure.Message}";
                _context.Log.Report(Trouble);
            }

            await WaitBeforeRetryAsync();
        }
    }

    private async Task TryAllAsync()
    {
        _wasRefused = false;
        List<FailedAttempt> failed = [];
        foreach (string address in _route.Candidates())
        {
            if (await TryServeAsync(address, failed))
            {
                failed.Clear();
                break;
            }
        }

        Volatile.Write(ref _attempts, failed);
        if (!_wasRefused)
        {
            Refusal = null;
        }
    }

    /// <summary>Connects to an address and serves the connection until it breaks.</summary>
    /// <returns>False when no connection was made.</returns>
    private async Task<bool> TryServeAsync(string address, List<FailedAttempt> failed)
    {
        try
        {
            var (connection, stream) = await _context.Dialer.DialAsync(_route.Node, address, _kind, _stopping.Token);
            _route.RecordReached(address);
            _wasReached = true;
            await using (stream)
            {
                using (connection)
                {
                    await ServeAsync(connection, address);
                }
            }

            return true;
        }
        catch (Exception) when (_stopping.IsCancellationRequested)
        {
            return true;
        }
        catch (Exception trouble)
        {
            var attempt = new FailedAttempt(address, PeerConnection.Explain(trouble), trouble is PeerStrangerException);
            failed.Add(attempt);
            Trouble =
                $"Node {_context.NameOf(_route.Node) ?? _route.Node.ToString()} was not reached at {address}"
                + $": {attempt.Why}";
            bool isUsual =
                !_wasReached && trouble is SocketException && _context.Time.GetElapsedTime(_startedAt) < StartPeriod;
            if (_loggedFailures.Count < MaxReported && _loggedFailures.Add((address, attempt.Why, isUsual)))
            {
                var log = isUsual ? _context.Notes : _context.Log;
                log.Report(Trouble);
            }

            if (trouble is PeerRefusedException { Refusal: var refusal })
            {
                Refusal = refusal;
                _wasRefused = true;
                _context.Refused(refusal);
            }

            return false;
        }
    }

    private async Task ServeAsync(PeerConnection connection, string address)
    {
        using var stop = _stopping.Token.Register(() => connection.Close(reason: null));
        bool knowsTerms = connection.Remote.FeatureLevel >= PeerProtocol.ForwardInTermSince;
        var open = new OpenConnection(connection, new ForwardTable(connection.Queue, _context.Time, knowsTerms));
        long connectedAt = _context.Time.GetTimestamp();
        Volatile.Write(ref _open, open);
        Refusal = null;
        Volatile.Write(ref _attempts, []);
        _loggedFailures.Clear();
        _context.Gate.Starts.CountConnected(connection.Remote);
        if (_kind == LinkKind.Control && connection.Remote.FeatureLevel >= PeerProtocol.AddressesSince)
        {
            connection.Queue.TryPut(
                new AddressesBody([.. _context.OwnAddresses().Take(AnnouncedAddresses.MaxAddresses)])
            );
        }

        string? end = await connection.RunAsync(open.Forwards);
        _context.Gate.Starts.CountDisconnected(connection.Remote);
        Volatile.Write(ref _open, null);
        open.Forwards.Break();
        Interlocked.Add(ref _droppedBefore, connection.Queue.Dropped);
        if (_stopping.IsCancellationRequested)
        {
            return;
        }

        if (_context.Time.GetElapsedTime(connectedAt) > StableAfter)
        {
            _backoff.Reset();
        }

        Trouble =
            $"The connection to node {_context.NameOf(_route.Node) ?? connection.Remote.NodeId} at {address} "
            + $"ended: {end ?? "the other end closed it."}";
        _context.Log.Report(Trouble);
        _context.Receiver.Unreachable(_route.Node);
    }

    private async Task WaitBeforeRetryAsync()
    {
        var (minimum, remainder) = _backoff.Next();
        try
        {
            await Task.Delay(minimum, _context.Time, _stopping.Token);
            await _wake.Task.WaitAsync(remainder, _context.Time, _stopping.Token);
            Volatile.Write(ref _wake, NewWake());
            _backoff.RecordWake();
        }
        catch (TimeoutException)
        {
            // The delay has passed: try again.
        }
        catch (OperationCanceledException)
        {
            // The link ends.
        }
    }

    private sealed record OpenConnection(PeerConnection Connection, ForwardTable Forwards);
}
