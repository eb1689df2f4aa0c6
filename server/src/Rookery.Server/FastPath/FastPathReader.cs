using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;

namespace Rookery.Server.FastPath;

/// <summary>
/// The bytes that one connection receives, as Kestrel reads them. Whenever Kestrel waits for the next request, this
/// reader answers the simple requests (<see cref="SimpleRequest"/>) among those that have arrived, and sends their
/// answers together. Kestrel gets only the other requests. So a GET of a document takes neither Kestrel's request
/// objects nor the routing, and requests that a client sends without waiting for answers share one system call.
/// </summary>
/// <remarks>
/// Kestrel reads bodies from the same bytes, and this reader must not take the bytes of a body for a request. So it
/// answers only where a request is sure to begin: at the start of the connection, and after a request whose body was
/// read to the announced length, as <see cref="RequestGate"/> reports. After any other request it answers nothing until
/// the next such report.
/// </remarks>
internal sealed class FastPathReader : PipeReader
{
    // Responses are sent when this many bytes are collected.
    private const int MaxCollectedBytes = 16 << 10;

    // After this many responses without a wait, the loop continues on a thread of the pool. Otherwise a client that
    // sends requests without a pause would occupy a socket thread, which other connections share.
    private const int MaxResponsesInTurn = 64;

    // Kestrel's own minimum rate at which a client must read, and its grace period.
    private const int MinBytesPerSecond = 240;
    private static readonly TimeSpan SendGrace = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Kestrel closes a connection on which it receives no request during the keep-alive timeout, and does not see the
    /// requests that are answered here. So after this time Kestrel receives the next request even if it is simple.
    /// </summary>
    public static readonly TimeSpan MaxAwayFromKestrel = TimeSpan.FromMinutes(1);

    private readonly ConnectionContext _connection;
    private readonly PipeReader _input;
    private readonly PipeWriter _output;
    private readonly FastPathHandlers _handlers;
    private readonly SimpleRequest _request = new();
    private readonly ServerContext _context;
    private readonly TimeProvider _time;
    private ReadOnlySequence<byte> _handedOver;
    private long _handedOverAt;
    private long _consumedBytes;
    private long _consumedByHead;
    private int _collectedBytes;
    private bool _hasCollectedWrites;
    private int _responsesInTurn;
    private volatile bool _isAborted;
    private bool _isAtRequest = true;

    private FastPathReader(ConnectionContext connection, FastPathHandlers handlers, ServerContext context)
    {
        _connection = connection;
        _handlers = handlers;
        _context = context;
        _time = context.Time;
        (_input, _output) = (connection.Transport.Input, connection.Transport.Output);
        _handedOverAt = _time.GetTimestamp();
    }

    /// <summary>Puts a reader between the connection and Kestrel.</summary>
    /// <param name="connection">The connection, after TLS.</param>
    /// <param name="handlers">Answers simple requests.</param>
    /// <param name="context">State that all routes share.</param>
    public static void Insert(ConnectionContext connection, FastPathHandlers handlers, ServerContext context)
    {
        var reader = new FastPathReader(connection, handlers, context);
        connection.Features.Set(reader);
        connection.Transport = new Pipe(reader, connection.Transport.Output);
    }

    /// <summary>
    /// Reports that Kestrel has read the head of a request, and nothing of its body.
    /// </summary>
    public void BeginRequest()
    {
        _isAtRequest = false;
        _consumedByHead = _consumedBytes;
    }

    /// <summary>Reports that the handlers of a request have ended.</summary>
    public void EndRequest(HttpContext http)
    {
        var headers = http.Request.Headers;
        _isAtRequest =
            headers.TransferEncoding.Count == 0
            && headers.Upgrade.Count == 0
            && _consumedBytes - _consumedByHead == (http.Request.ContentLength ?? 0);
    }

    /// <inheritdoc/>
    public override ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
        _isAtRequest ? AnswerAndReadAsync(cancellationToken) : ReadForKestrelAsync(cancellationToken);

    /// <inheritdoc/>
    public override bool TryRead(out ReadResult result)
    {
        bool hasRead = _input.TryRead(out result);
        _handedOver = result.Buffer;
        return hasRead;
    }

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    /// <inheritdoc/>
    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _consumedBytes += _handedOver.Slice(0, consumed).Length;
        _handedOver = default;
        _input.AdvanceTo(consumed, examined);
    }

    /// <inheritdoc/>
    public override void CancelPendingRead() => _input.CancelPendingRead();

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null) => _input.Complete(exception);

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(Exception? exception = null) => _input.CompleteAsync(exception);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> ReadForKestrelAsync(CancellationToken cancellationToken)
    {
        var read = await _input.ReadAsync(cancellationToken);
        _handedOver = read.Buffer;
        return read;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> AnswerAndReadAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var reading = _input.ReadAsync(cancellationToken);
            _responsesInTurn = reading.IsCompleted ? _responsesInTurn : 0;
            var read = await reading;
            var unanswered = read.Buffer;
            bool isConnected = true;
            _collectedBytes = 0;
            _hasCollectedWrites = false;
            while (isConnected && !read.IsCanceled && TryParse(unanswered, out var body, out var end))
            {
                if (_request.Kind == SimpleRequestKind.Query && _collectedBytes > 0)
                {
                    // A query may take long, so the responses of earlier requests are sent first.
                    isConnected = await SendAsync(cancellationToken);
                    if (!isConnected)
                    {
                        break;
                    }
                }

                int bytes = await _handlers.WriteAsync(_request, body, _connection.Items, _output);
                if (bytes == 0)
                {
                    break;
                }

                if (++_responsesInTurn >= MaxResponsesInTurn && SocketThreads.IsCurrent)
                {
                    _responsesInTurn = 0;
                    await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
                }

                unanswered = unanswered.Slice(end);
                _collectedBytes += bytes;
                _hasCollectedWrites |= _request.IsWrite;
                isConnected = _collectedBytes < MaxCollectedBytes || await SendAsync(cancellationToken);
            }

            if (!isConnected || (_collectedBytes > 0 && !await SendAsync(cancellationToken)))
            {
                // The client has left: its further requests are not executed.
                return HandOver(new ReadResult(unanswered.Slice(unanswered.End), isCanceled: false, isCompleted: true));
            }

            if (!unanswered.IsEmpty || read.IsCanceled || read.IsCompleted)
            {
                return HandOver(new ReadResult(unanswered, read.IsCanceled, read.IsCompleted));
            }

            _input.AdvanceTo(unanswered.Start);
        }
    }

    private ReadResult HandOver(ReadResult read)
    {
        _isAtRequest = false;
        _handedOver = read.Buffer;
        _handedOverAt = _time.GetTimestamp();
        return read;
    }

    // Returns whether a whole simple request is at the beginning of the buffer.
    private bool TryParse(in ReadOnlySequence<byte> buffer, out ReadOnlySequence<byte> body, out SequencePosition end)
    {
        body = default;
        if (buffer.IsEmpty || !_handlers.IsOpen || IsDueForKestrel() || !_request.TryParse(buffer, out end))
        {
            end = default;
            return false;
        }

        var afterHead = buffer.Slice(end);
        if (afterHead.Length < _request.BodyLength)
        {
            return false;
        }

        body = afterHead.Slice(0, _request.BodyLength);
        end = body.End;
        return true;
    }

    private bool IsDueForKestrel() => _time.GetElapsedTime(_handedOverAt) >= MaxAwayFromKestrel;

    // Sends the collected responses. Returns false if the client has left.
    private ValueTask<bool> SendAsync(CancellationToken cancellationToken)
    {
        int bytes = _collectedBytes;
        bool isRead = !_hasCollectedWrites;
        _collectedBytes = 0;
        _hasCollectedWrites = false;
        var sending = _output.FlushAsync(cancellationToken);
        return sending.IsCompletedSuccessfully
            ? ValueTask.FromResult(IsConnectedAfter(sending.Result))
            : WaitForClientAsync(sending.AsTask(), bytes, isRead);
    }

    // Waits for a client that does not read. The same bounds apply as for requests that Kestrel handles: memory, time,
    // and, for responses to reads, the node's stop.
    private async ValueTask<bool> WaitForClientAsync(Task<FlushResult> sending, int bytes, bool isRead)
    {
        using var stop = isRead
            ? _context.ReadsEnd.UnsafeRegister(static reader => ((FastPathReader)reader!).Abort(), this)
            : default;
        int heldBytes = RookeryServer.ConnectionBufferBytes + bytes;
        var waiting = _context.SlowReaders.WaitAsync(Abort, heldBytes, sending);
        try
        {
            var limit = SendGrace + TimeSpan.FromSeconds(heldBytes / MinBytesPerSecond);
            return IsConnectedAfter(await waiting.WaitAsync(limit, _time));
        }
        catch (TimeoutException)
        {
            Abort();
            await waiting;
            return false;
        }
    }

    // Over TLS, a flush does not report that the connection was aborted.
    private bool IsConnectedAfter(FlushResult sent) => !sent.IsCompleted && !_isAborted;

    private void Abort()
    {
        _isAborted = true;
        _connection.Abort(new ConnectionAbortedException("The client does not read its responses."));
    }

    private sealed class Pipe(PipeReader input, PipeWriter output) : IDuplexPipe
    {
        public PipeReader Input => input;

        public PipeWriter Output => output;
    }
}
