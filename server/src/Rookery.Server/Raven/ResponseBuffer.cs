using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// Collects the bytes of one response before they are sent. A response that is sent whole carries its Content-Length; a
/// response longer than <see cref="PartBytes"/> is sent in parts. Each thread keeps one buffer for its next response,
/// so a small response allocates nothing. Not thread-safe.
/// </summary>
internal sealed class ResponseBuffer : IResultBuffer, IDisposable
{
    /// <summary>
    /// Length in bytes from which a part is sent, so that a long response is never in memory as a whole.
    /// </summary>
    public const int PartBytes = 64 << 10;

    private const int InitialBytes = 4 << 10;

    // Length in bytes from which a part is sent while all responses together hold more memory than their limit.
    private const int ShortPartBytes = 4 << 10;

    // The largest capacity that a thread keeps for its next response. Also the largest that a buffer, which gave up its
    // memory during a wait for its client, allocates at once afterwards.
    private const int MaxKeptBytes = 2 * PartBytes;

    // A longer buffer is sent in slices of PartBytes.
    private const int MaxUnslicedBytes = 2 * PartBytes;

    // The capacity doubles up to this growth per step.
    private const int MaxGrowthBytes = 1 << 20;

    // A client that has not accepted a part after this time is slow: the producer is then told to pause.
    internal static readonly TimeSpan SlowClientTimeout = TimeSpan.FromSeconds(1);

    [ThreadStatic]
    private static ResponseBuffer? _idle;

    private readonly ResponseMemory _allResponses;
    private PooledMemory _memory = PooledMemory.Rent(InitialBytes);
    private int _length;
    private int _capacityBeforeWait;
    private bool _isRented;

    /// <summary>Creates a buffer whose capacity is counted in <paramref name="allResponses"/>.</summary>
    internal ResponseBuffer(ResponseMemory allResponses)
    {
        (_allResponses, _isRented) = (allResponses, true);
        _allResponses.Add(_memory.Length);
    }

    /// <inheritdoc/>
    public int Length => _length;

    /// <summary>Whether the buffer is long enough to be sent as a part.</summary>
    public bool IsPartDue => _length >= PartBytes || (_length >= ShortPartBytes && _allResponses.IsOverLimit);

    /// <summary>Bytes that are written but not yet sent; valid until the next write.</summary>
    public ReadOnlyMemory<byte> Written => _memory.Memory[.._length];

    /// <summary>Takes the buffer that this thread keeps, or a new one. Dispose it once.</summary>
    public static ResponseBuffer Rent()
    {
        if (_idle is not { } buffer)
        {
            return new ResponseBuffer(ResponseMemory.Shared);
        }

        _idle = null;
        buffer._isRented = true;
        buffer._allResponses.Add(buffer._memory.Length);
        return buffer;
    }

    public void Advance(int count) => _length += count;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _memory.Memory[_length..];
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _memory.Span[_length..];
    }

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> bytes)
    {
        Reserve(bytes.Length);
        bytes.CopyTo(_memory.Span[_length..]);
        _length += bytes.Length;
    }

    /// <inheritdoc/>
    public void Truncate(int length) => _length = length;

    /// <summary>
    /// Sends the buffer as the whole response, or as its last part. Completes synchronously if the connection takes the
    /// bytes at once.
    /// </summary>
    public Task SendAsync(HttpContext http, string contentType = "application/json; charset=utf-8")
    {
        if (!http.Response.HasStarted)
        {
            http.Response.ContentType = contentType;
            http.Response.ContentLength = _length;
        }

        if (_length == 0)
        {
            return Task.CompletedTask;
        }

        if (_length > MaxUnslicedBytes)
        {
            return SendInSlicesAsync(http, pause: null);
        }

        var sending = http.Response.BodyWriter.WriteAsync(Written);
        if (!sending.IsCompletedSuccessfully)
        {
            int length = _length;
            KeepFrom(length); // keeps nothing during the wait, because the connection has copied all bytes
            return WaitForClientAsync(http, length, sending, pause: null).AsTask();
        }

        sending.GetAwaiter().GetResult();
        return Task.CompletedTask;
    }

    /// <summary>
    /// Sends like <see cref="SendAsync"/> and then disposes the buffer. A handler that awaits nothing else can return
    /// this task, which saves a state machine.
    /// </summary>
    public Task SendAndDisposeAsync(HttpContext http)
    {
        var sending = SendAsync(http);
        if (!sending.IsCompletedSuccessfully)
        {
            return DisposeAfterAsync(sending);
        }

        Dispose();
        return sending;
    }

    /// <summary>
    /// Sends the bytes so far as one part and empties the buffer. The response then has no Content-Length.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="pause">Called once if the client has not taken the part within a second, so that the producer can
    /// release the blocks that it reads.</param>
    /// <param name="contentType">Content type of the whole response.</param>
    /// <exception cref="OperationCanceledException">The client closed the connection.</exception>
    public async Task SendPartAsync(
        HttpContext http,
        Action? pause,
        string contentType = "application/json; charset=utf-8"
    )
    {
        if (!http.Response.HasStarted)
        {
            http.Response.ContentType = contentType;
        }

        await SendInSlicesAsync(http, pause);
        _length = 0;
        if (_allResponses.IsOverLimit)
        {
            Trim();
        }
    }

    /// <summary>
    /// Shrinks an empty buffer to its initial size. For callers that keep the buffer while they have nothing to write.
    /// </summary>
    public void Trim()
    {
        if (_length == 0 && _memory.Length > InitialBytes)
        {
            _allResponses.Add(-_memory.Length);
            _memory.Return();
            _memory = PooledMemory.Rent(InitialBytes);
            _allResponses.Add(_memory.Length);
        }
    }

    /// <summary>
    /// Returns the buffer to its thread or to the pool. A second call fails, because it would give one buffer to two
    /// requests.
    /// </summary>
    public void Dispose()
    {
        Invariant.Holds(_isRented, "a response's buffer is returned once");
        _isRented = false;
        _length = _capacityBeforeWait = 0;

        // A buffer kept for reuse is not counted: its thread may end, and its bytes would stay counted forever.
        _allResponses.Add(-_memory.Length);
        if (_idle is null && _allResponses == ResponseMemory.Shared && _memory.Length <= MaxKeptBytes)
        {
            _idle = this;
            return;
        }

        _memory.Return();
    }

    // The first allocation of an empty buffer: the capacity that it had before it waited for its client, or the initial
    // size while the responses hold too much memory.
    private int FirstCapacity => _allResponses.IsOverLimit ? InitialBytes : Math.Max(InitialBytes, _capacityBeforeWait);

    // The connection copies the bytes that it is given. Writing slices keeps that copy to one slice instead of the
    // whole buffer.
    private async Task SendInSlicesAsync(HttpContext http, Action? pause)
    {
        int offset = 0;
        while (offset < _length)
        {
            int length = Math.Min(PartBytes, _length - offset);
            var sending = http.Response.BodyWriter.WriteAsync(
                _memory.Memory.Slice(offset, length),
                http.RequestAborted
            );
            offset += length;
            bool isClientSlow = !sending.IsCompletedSuccessfully;
            bool isRemainderShort = _length - offset <= PartBytes;
            if (isClientSlow && isRemainderShort)
            {
                // Keep only the bytes that the connection has not copied.
                KeepFrom(offset);
                offset = 0;
            }

            var sent = sending.IsCompletedSuccessfully
                ? sending.Result
                : await WaitForClientAsync(http, length, sending, pause);
            if (sent.IsCompleted || sent.IsCanceled)
            {
                throw new OperationCanceledException(
                    "The client left before its answer was complete.",
                    http.RequestAborted
                );
            }
        }

        // The buffer shrank during a wait. All bytes are sent, so the small buffer is returned too, and the next write
        // allocates FirstCapacity at once.
        if (_memory.Length < _capacityBeforeWait)
        {
            KeepFrom(_length);
        }
    }

    // Keeps only the bytes from an offset on, in memory of their size. Otherwise a client that reads nothing would hold
    // 128 KiB of the managed heap here, beside the copy of the same bytes in its connection.
    private void KeepFrom(int from)
    {
        int keptBytes = _length - from;
        PooledMemory kept = default;
        if (keptBytes > 0)
        {
            kept = PooledMemory.Rent(keptBytes);
            _memory.Span.Slice(from, keptBytes).CopyTo(kept.Span);
        }

        _capacityBeforeWait = Math.Max(_capacityBeforeWait, Math.Min(_memory.Length, MaxKeptBytes));
        _allResponses.Add(kept.Length - _memory.Length);
        _memory.Return();
        _memory = kept;
        _length = keptBytes;
    }

    private async ValueTask<FlushResult> WaitForClientAsync(
        HttpContext http,
        int length,
        ValueTask<FlushResult> sending,
        Action? pause
    )
    {
        var waiting = sending.AsTask();
        if (SlowReaders.Of(http) is { } readers)
        {
            waiting = readers.WaitAsync(http.Abort, _memory.Length + length, waiting);
        }

        if (pause is null)
        {
            return await waiting;
        }

        try
        {
            return await waiting.WaitAsync(SlowClientTimeout, TimeOf(http));
        }
        catch (TimeoutException)
        {
            pause();
            return await waiting;
        }
    }

    private static TimeProvider TimeOf(HttpContext http) =>
        (http.RequestServices?.GetService(typeof(ServerContext)) as ServerContext)?.Time ?? TimeProvider.System;

    private async Task DisposeAfterAsync(Task sending)
    {
        using (this)
        {
            await sending;
        }
    }

    private void Reserve(int count)
    {
        int wanted = Math.Max(count, 1);
        if (_memory.Length - _length < wanted)
        {
            int before = _memory.Length;
            int usualCapacity = before > 0 ? before + Math.Min(before, MaxGrowthBytes) : FirstCapacity;
            _memory.Grow(_length, Math.Max(_length + wanted, usualCapacity));
            _allResponses.Add(_memory.Length - before);
        }
    }
}
