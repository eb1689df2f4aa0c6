using Microsoft.AspNetCore.Connections;
using Rookery.Platform;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Connections;

/// <summary>
/// Sends replies and messages of one connection. Only the connection's own thread sends replies; any thread may add
/// messages, which are sent between replies. A client that does not read its messages is disconnected.
/// </summary>
internal sealed class ReplyOutput(RedisNode node, ConnectionContext connection) : IDisposable
{
    /// <summary>Bytes after which replies are sent before the burst is complete.</summary>
    public const int PieceBytes = 64 << 10;

    // Redis' limit for subscribers (client-output-buffer-limit pubsub).
    private const int MaxWaitingBytes = 8 << 20;

    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly Lock _gate = new();
    private PooledBytes _waiting = new();
    private PooledBytes _sent = new();
    private long _reservedBytes;
    private int _sendingBytes; // of the messages in _sent
    private bool _isSending;
    private bool _hasEnded;

    /// <summary>
    /// Ends the output: no message is written from now on, and none is being written when this returns. Call it before
    /// the connection's pipe is completed, because a writer of a completed pipe may hold memory that others use again.
    /// </summary>
    public async ValueTask EndAsync()
    {
        lock (_gate)
        {
            _hasEnded = true;
        }

        if (_turn.CurrentCount == 0 && node.Context.Stopping.IsCancellationRequested)
        {
            connection.Abort(new ConnectionAbortedException("The node stops, and the client reads no messages."));
        }

        await _turn.WaitAsync();
        _turn.Release();
    }

    /// <summary>Adds a message, which is sent soon.</summary>
    public void Post(ReadOnlySpan<byte> message)
    {
        lock (_gate)
        {
            if (_hasEnded)
            {
                return;
            }

            if (!TryReserve(message.Length))
            {
                _hasEnded = true;
                node.Metrics.CountSlowSubscriber();
                connection.Abort(new ConnectionAbortedException("The client does not read its messages."));
                return;
            }

            _waiting.Append(message);
            if (_isSending)
            {
                return;
            }

            _isSending = true;
        }

        _ = SocketThreads.RunOnPoolAsync(SendWaitingAsync);
    }

    /// <summary>Sends messages that wait, then replies, and clears these.</summary>
    /// <returns>False if the client is gone.</returns>
    public async ValueTask<bool> SendAsync(ReplyBuffer replies)
    {
        await _turn.WaitAsync();
        try
        {
            if (!await SendMessagesAsync())
            {
                return false;
            }

            for (int sent = 0; sent < replies.Length; )
            {
                int count = Math.Min(replies.Length - sent, PieceBytes);
                Write(replies.Written.Slice(sent, count));
                sent += count;
                if (!await FlushAsync(replies.Length - sent))
                {
                    return false;
                }
            }

            return true;
        }
        finally
        {
            replies.Clear();
            _turn.Release();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            _hasEnded = true;
            node.Memory.Release(_reservedBytes);
            _reservedBytes = 0;
            _waiting.Release();
        }
    }

    private bool TryReserve(int bytes)
    {
        long needed = (long)_waiting.Length + _sendingBytes + bytes;
        if (needed > MaxWaitingBytes)
        {
            return false;
        }

        if (needed > MemoryShare.BytesWithoutReservation && needed > _reservedBytes)
        {
            if (!node.Memory.TryReserveFromCaches(needed - _reservedBytes))
            {
                return false;
            }

            _reservedBytes = needed;
        }

        return true;
    }

    private async Task SendWaitingAsync()
    {
        try
        {
            while (HasWaiting())
            {
                await _turn.WaitAsync();
                try
                {
                    if (!await SendMessagesAsync())
                    {
                        return;
                    }
                }
                finally
                {
                    _turn.Release();
                }
            }
        }
        catch (Exception ended) when (RedisConnection.IsEnd(ended))
        {
            // The client left.
        }
    }

    private bool HasWaiting()
    {
        lock (_gate)
        {
            _isSending = _waiting.Length > 0 && !_hasEnded;
            return _isSending;
        }
    }

    // The caller holds the turn.
    private async ValueTask<bool> SendMessagesAsync()
    {
        lock (_gate)
        {
            if (_hasEnded)
            {
                return false;
            }

            if (_waiting.Length == 0)
            {
                return true;
            }

            (_waiting, _sent) = (_sent, _waiting);
            _sendingBytes = _sent.Length;
        }

        try
        {
            for (int sent = 0; sent < _sent.Length; )
            {
                int count = Math.Min(_sent.Length - sent, PieceBytes);
                Write(_sent.Written.Slice(sent, count));
                sent += count;
                if (!await FlushAsync(_sent.Length - sent))
                {
                    return false;
                }
            }

            return true;
        }
        finally
        {
            _sent.Release();
            ReleaseExcess();
        }
    }

    private void ReleaseExcess()
    {
        lock (_gate)
        {
            _sendingBytes = 0;
            long needed = _waiting.Length > MemoryShare.BytesWithoutReservation ? _waiting.Length : 0;
            if (_reservedBytes > needed)
            {
                node.Memory.Release(_reservedBytes - needed);
                _reservedBytes = needed;
            }
        }
    }

    private void Write(ReadOnlySpan<byte> bytes)
    {
        var output = connection.Transport.Output;
        bytes.CopyTo(output.GetSpan(bytes.Length));
        output.Advance(bytes.Length);
    }

    private async ValueTask<bool> FlushAsync(int heldBytes)
    {
        var flush = connection.Transport.Output.FlushAsync();
        var result = flush.IsCompletedSuccessfully
            ? flush.Result
            : await node.Context.SlowReaders.WaitAsync(Disconnect, heldBytes + PieceBytes, flush.AsTask());
        return !result.IsCompleted && !result.IsCanceled;
    }

    private void Disconnect()
    {
        node.Metrics.CountSlowReader();
        connection.Abort(new ConnectionAbortedException("The client does not read its replies."));
    }
}
