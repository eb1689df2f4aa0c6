using System.Net;
using System.Net.Sockets;
using System.Security.Authentication;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>Handles the packets of a connection, one at a time.</summary>
internal interface IPacketHandler
{
    /// <summary>Handles a packet. An exception closes the connection.</summary>
    /// <param name="kind">The kind of the packet; never a ping, a pong or a refusal.</param>
    /// <param name="body">The body, valid until this returns.</param>
    void Handle(PacketKind kind, ReadOnlyMemory<byte> body);
}

/// <summary>
/// One end of a connection after both ends have exchanged hellos: a send loop, a receive loop and pings.
/// </summary>
internal sealed class PeerConnection : IDisposable
{
    /// <summary>
    /// The maximum number of bytes written to the stream at once. If a write had to wait for the kernel's buffer, its
    /// completion shows that the other end lives.
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

    /// <summary>Makes a connection after the exchange of hellos.</summary>
    /// <param name="stream">The TLS stream; its owner disposes it.</param>
    /// <param name="reader">The reader that read the hello. It may already hold bytes after it.</param>
    /// <param name="remote">The other end's hello.</param>
    /// <param name="pings">Whether this end dialled and therefore pings the other.</param>
    /// <param name="time">The clock.</param>
    /// <param name="memory">The share that counts the send buffers; null for none.</param>
    public PeerConnection(
        Stream stream,
        PacketReader reader,
        PeerHello remote,
        bool pings,
        TimeProvider time,
        MemoryShare? memory = null
    )
    {
        _stream = stream;
        _reader = reader;
        Remote = remote;
        Closing = _closing.Token;
        _liveness = new Liveness(time, remote.Kind, pings);
        Queue = new OutgoingQueue(remote.Kind == LinkKind.Control ? ControlQueueBytes : BulkQueueBytes, time, memory);
        reader.MaxPacketBytes =
            remote.Kind == LinkKind.Control ? PeerProtocol.MaxControlPacketBytes : PeerProtocol.MaxBulkPacketBytes;
    }

    /// <summary>The other end's hello.</summary>
    public PeerHello Remote { get; }

    /// <summary>The remote address of an accepted connection; null when this end dialled.</summary>
    public IPAddress? From { get; init; }

    /// <summary>The addresses at which the other end listens; empty until it announces them.</summary>
    public IReadOnlyList<string> AnnouncedAddresses { get; set; } = [];

    /// <summary>The refusal with which the other end closed the connection; null when it gave none.</summary>
    public PeerRefusal? Refusal { get; private set; }

    /// <inheritdoc cref="Liveness.Answered"/>
    public long Answered => _liveness.Answered;

    /// <summary>The packets to send.</summary>
    public OutgoingQueue Queue { get; }

    /// <summary>Cancelled when the connection is closed.</summary>
    public CancellationToken Closing { get; }

    /// <summary>Sends and receives packets until the connection breaks or is closed.</summary>
    /// <returns>Why the connection ended, as a sentence; null when the other end closed it, or this end closed it
    /// without a reason.</returns>
    public async Task<string?> RunAsync(IPacketHandler handler)
    {
        var sending = SendAsync();
        try
        {
            await ReceiveAsync(handler);
            Close(reason: null);
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

    /// <summary>Closes the connection. Only the first reason counts.</summary>
    public void Close(string? reason)
    {
        // Only the first caller continues, because later the connection may be disposed.
        if (Interlocked.Exchange(ref _isClosed, true))
        {
            return;
        }

        _closedBecause = reason;
        Queue.Close();
        _closing.Cancel();
    }

    /// <summary>
    /// Pings when a ping is due, and closes the connection when the other end has been silent too long. Called every
    /// second.
    /// </summary>
    /// <param name="alwaysPing">Whether to ping even if bytes just arrived.</param>
    public void CheckLiveness(bool alwaysPing)
    {
        if (_liveness.IsDead())
        {
            Close($"It has been silent for more than {_liveness.Limit.TotalSeconds:0} s.");
            return;
        }

        long question = _liveness.TakeDuePing(alwaysPing);
        if (question != 0)
        {
            Queue.TryPut(new PingBody(PacketKind.Ping, question));
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _reader.Dispose();
        _closing.Dispose();
    }

    /// <summary>Describes an error of a connection in a sentence.</summary>
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

            // Do not count the time that this end took to handle packets as silence of the other end.
            _liveness.RecordSignOfLife();
        } while (await FillAsync());
    }

    private ValueTask<bool> FillAsync() => _reader.FillAsync(Closing);

    private void Handle(IPacketHandler handler, PacketKind kind, ReadOnlyMemory<byte> body)
    {
        _liveness.RecordPacket();
        if (RefusalBody.TryRead(kind, body.Span) is { } refusal)
        {
            throw new PeerRefusedException(refusal);
        }

        switch (kind)
        {
            case PacketKind.Ping:
                Queue.TryPut(new PingBody(PacketKind.Pong, PingBody.ReadQuestion(body.Span)));
                break;
            case PacketKind.Pong:
                _liveness.RecordPong(PingBody.ReadQuestion(body.Span));
                break;
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
                var remaining = Queue.Take();
                while (!remaining.IsEmpty)
                {
                    var piece = remaining[..Math.Min(remaining.Length, PieceBytes)];
                    remaining = remaining[piece.Length..];
                    var write = _stream.WriteAsync(piece, Closing);
                    bool waits = !write.IsCompleted;
                    await write;
                    Queue.RecordWritten(piece.Length);
                    if (waits)
                    {
                        _liveness.RecordSignOfLife();
                    }
                }

                Queue.FinishWrite();
            }
        }
        catch (Exception trouble)
        {
            Close(Explain(trouble));
        }
    }
}
