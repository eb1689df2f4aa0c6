using System.Net;
using System.Net.Sockets;
using System.Security.Authentication;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>What a connection hands its packets to, one at a time.</summary>
internal interface IPacketHandler
{
    /// <summary>Handles a packet. An exception closes the connection.</summary>
    /// <param name="kind">What it is: neither a sign of life nor a refusal.</param>
    /// <param name="body">Its body, until this returns.</param>
    void Handle(PacketKind kind, ReadOnlyMemory<byte> body);
}

/// <summary>
/// One connection after both ends have said hello: a loop that sends what waits, a loop that hands over what comes, and
/// signs of life. Either end of it.
/// </summary>
internal sealed class PeerConnection : IDisposable
{
    /// <summary>
    /// Bytes given to the kernel at once; each piece that had to wait for room there is a sign that the other end
    /// lives.
    /// </summary>
    private const int PieceBytes = 64 << 10;

    private const int ControlQueueBytes = 64 << 10;
    private const int BulkQueueBytes = 8 << 20;

    private readonly Stream _stream;
    private readonly PacketReader _reader;
    private readonly Liveness _liveness;
    private readonly CancellationTokenSource _closing = new();
    private string? _closedBecause;
    private bool _isClosed;

    /// <summary>Takes over a connection on which both ends have said hello.</summary>
    /// <param name="stream">The TLS stream; its owner disposes it.</param>
    /// <param name="reader">What has read the hello from it, and perhaps more.</param>
    /// <param name="remote">The other end.</param>
    /// <param name="asks">Whether this end dialled, and asks the other for signs of life.</param>
    /// <param name="time">The clock.</param>
    /// <param name="memory">Where the memory of what waits is counted; null for nowhere.</param>
    public PeerConnection(
        Stream stream,
        PacketReader reader,
        PeerHello remote,
        bool asks,
        TimeProvider time,
        MemoryShare? memory = null
    )
    {
        _stream = stream;
        _reader = reader;
        Remote = remote;
        Closing = _closing.Token;
        _liveness = new Liveness(time, remote.Kind, asks);
        Queue = new OutgoingQueue(remote.Kind == LinkKind.Control ? ControlQueueBytes : BulkQueueBytes, time, memory);
        reader.MostPacketBytes =
            remote.Kind == LinkKind.Control ? PeerProtocol.MaxControlPacketBytes : PeerProtocol.MaxBulkPacketBytes;
    }

    /// <summary>The other end.</summary>
    public PeerHello Remote { get; }

    /// <summary>Where it comes from; null when this end dialled.</summary>
    public IPAddress? From { get; init; }

    /// <summary>Where the other end says that it listens; nothing before it did.</summary>
    public IReadOnlyList<string> Places { get; set; } = [];

    /// <summary>Why the other end ended it, if it said so.</summary>
    public PeerRefusal? Refusal { get; private set; }

    /// <inheritdoc cref="Liveness.Answered"/>
    public long Answered => _liveness.Answered;

    /// <summary>What waits to be sent.</summary>
    public OutgoingQueue Queue { get; }

    /// <summary>Set when the connection is being closed.</summary>
    public CancellationToken Closing { get; }

    /// <summary>Carries packets until the connection breaks, or is closed.</summary>
    /// <returns>Why it ended, in a sentence; null when the other end closed it.</returns>
    public async Task<string?> RunAsync(IPacketHandler handler)
    {
        var sending = SendAsync();
        try
        {
            await ReceiveAsync(handler);
            Close(null);
        }
        catch (Exception trouble)
        {
            Refusal = (trouble as PeerRefusedException)?.Refusal;
            Close(Explain(trouble));
        }

        await sending;
        Queue.Release();
        return _closedBecause;
    }

    /// <summary>Ends it. Only the first reason counts.</summary>
    public void Close(string? because)
    {
        // The one who comes first, because after the second the connection may be disposed.
        if (Interlocked.Exchange(ref _isClosed, true))
        {
            return;
        }

        _closedBecause = because;
        Queue.Close();
        _closing.Cancel();
    }

    /// <summary>
    /// Asks for a sign of life when it is time, and closes a connection that gave none. Called every second.
    /// </summary>
    /// <param name="asks">Whether to ask also when there were signs.</param>
    public void Watch(bool asks)
    {
        if (_liveness.IsDead())
        {
            Close($"It has been silent for more than {_liveness.Limit.TotalSeconds:0} s.");
        }
        else if (_liveness.Ask(asks) is var question and not 0)
        {
            Queue.TryPut(new SignBody(PacketKind.Ping, question));
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader.Dispose();
        _closing.Dispose();
    }

    /// <summary>What went wrong on a connection, in a sentence.</summary>
    public static string Explain(Exception trouble) =>
        trouble switch
        {
            PeerProtocolException or PeerRefusedException or SocketException => trouble.Message,
            OperationCanceledException => "It took too long.",
            AuthenticationException or IOException => (trouble.InnerException ?? trouble).Message,
            _ => $"{trouble.GetType().Name}: {trouble.Message}",
        };

    private async Task ReceiveAsync(IPacketHandler handler)
    {
        do
        {
            while (_reader.TryRead(out var kind, out var body))
            {
                Handle(handler, kind, body);
            }

            _liveness.Lives(); // what we took our time for is not the other's silence
        } while (await FillAsync());
    }

    private ValueTask<bool> FillAsync() => _reader.FillAsync(Closing);

    private void Handle(IPacketHandler handler, PacketKind kind, ReadOnlyMemory<byte> body)
    {
        _liveness.Answers();
        switch (kind)
        {
            case PacketKind.Ping:
                Queue.TryPut(new SignBody(PacketKind.Pong, SignBody.ReadQuestion(body.Span)));
                break;
            case PacketKind.Pong:
                _liveness.Answers(SignBody.ReadQuestion(body.Span));
                break;
            case var _ when RefusalBody.TryRead(kind, body.Span) is { } refusal:
                throw new PeerRefusedException(refusal);
            default:
                handler.Handle(kind, body);
                break;
        }
    }

    private async Task SendAsync()
    {
        try
        {
            while (await Queue.WaitAsync())
            {
                for (var left = Queue.Take(); !left.IsEmpty; )
                {
                    var piece = left[..Math.Min(left.Length, PieceBytes)];
                    left = left[piece.Length..];
                    var write = _stream.WriteAsync(piece, Closing);
                    bool waits = !write.IsCompleted;
                    await write;
                    Queue.Written(piece.Length);
                    if (waits)
                    {
                        _liveness.Lives();
                    }
                }

                Queue.Finished();
            }
        }
        catch (Exception trouble)
        {
            Close(Explain(trouble));
        }
    }
}
