using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// The bytes of an answer while they are put together. An answer that is sent whole carries its Content-Length; one
/// that grows beyond <see cref="PartBytes"/> goes out in parts. One buffer per thread is kept for the next answer, so
/// that a small one costs no allocation. Not thread-safe.
/// </summary>
internal sealed class AnswerBuffer : IResultBuffer, IDisposable
{
    /// <summary>
    /// From this length on a long answer is sent in parts, so that it never lies in memory as a whole.
    /// </summary>
    public const int PartBytes = 64 << 10;

    private const int InitialBytes = 4 << 10;
    private const int CrowdedPartBytes = 4 << 10;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    [ThreadStatic]
    private static AnswerBuffer? _kept;

    private readonly AnswerMemory _all;
    private PooledMemory _memory = PooledMemory.Rent(InitialBytes);
    private int _length;
    private bool _isRented;

    /// <summary>A buffer that counts in this memory.</summary>
    internal AnswerBuffer(AnswerMemory all)
    {
        (_all, _isRented) = (all, true);
        _all.Add(_memory.Length);
    }

    /// <inheritdoc/>
    public int Length => _length;

    public bool IsPartDue => _length >= PartBytes || (_length >= CrowdedPartBytes && _all.IsCrowded);

    /// <summary>What was written and not yet sent.</summary>
    public ReadOnlyMemory<byte> Written => _memory.Memory[.._length];

    public static AnswerBuffer Rent()
    {
        if (_kept is not { } buffer)
        {
            return new AnswerBuffer(AnswerMemory.Shared);
        }

        _kept = null;
        buffer._isRented = true;
        buffer._all.Add(buffer._memory.Length);
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
    /// Sends everything as the whole answer, or as its last part. Synchronous when the connection takes the bytes at
    /// once.
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

        if (_length > 2 * PartBytes)
        {
            return SendInSlicesAsync(http, pause: null);
        }

        var sending = http.Response.BodyWriter.WriteAsync(Written);
        if (!sending.IsCompletedSuccessfully)
        {
            return UntilTakenAsync(http, _length, sending, pause: null).AsTask();
        }

        sending.GetAwaiter().GetResult();
        return Task.CompletedTask;
    }

    /// <summary>
    /// The same, and disposes the buffer: for a handler that awaits nothing, so that a small answer needs no state
    /// machine.
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

    /// <summary>Sends what there is and goes on with an empty buffer. The answer has no Content-Length then.</summary>
    /// <param name="http">The request.</param>
    /// <param name="pause">Called when the client has not taken the part after a second: whoever reads for it lets go
    /// of its snapshot, which holds memory and files.</param>
    /// <param name="contentType">The type of the whole answer.</param>
    /// <exception cref="OperationCanceledException">The client left.</exception>
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
        if (_all.IsCrowded)
        {
            Trim();
        }
    }

    /// <summary>Gives back what it grew to, if it is empty: for who keeps it while there is nothing to say.</summary>
    public void Trim()
    {
        if (_length == 0 && _memory.Length > InitialBytes)
        {
            _all.Add(-_memory.Length);
            _memory.Return();
            _memory = PooledMemory.Rent(InitialBytes);
            _all.Add(_memory.Length);
        }
    }

    /// <summary>Gives the buffer back, once: twice would hand it to two requests.</summary>
    public void Dispose()
    {
        Invariant.Holds(_isRented, "an answer's buffer is given back once");
        _isRented = false;
        _length = 0;

        // One that is kept does not count: its thread may end, and nobody would take it off.
        _all.Add(-_memory.Length);
        if (_kept is null && _all == AnswerMemory.Shared && _memory.Length <= 2 * PartBytes)
        {
            _kept = this;
            return;
        }

        _memory.Return();
    }

    // The connection copies what it is given: slice by slice it holds one of them, not all.
    private async Task SendInSlicesAsync(HttpContext http, Action? pause)
    {
        for (int at = 0; at < _length; at += PartBytes)
        {
            var sent = await HandOverAsync(http, at, Math.Min(PartBytes, _length - at), pause);
            if (sent.IsCompleted || sent.IsCanceled)
            {
                throw new OperationCanceledException(
                    "The client left before its answer was complete.",
                    http.RequestAborted
                );
            }
        }
    }

    private ValueTask<FlushResult> HandOverAsync(HttpContext http, int at, int length, Action? pause)
    {
        var sending = http.Response.BodyWriter.WriteAsync(_memory.Memory.Slice(at, length), http.RequestAborted);
        return sending.IsCompletedSuccessfully ? sending : UntilTakenAsync(http, length, sending, pause);
    }

    private async ValueTask<FlushResult> UntilTakenAsync(
        HttpContext http,
        int length,
        ValueTask<FlushResult> sending,
        Action? pause
    )
    {
        var taking = sending.AsTask();
        if (SlowReaders.Of(http) is { } readers)
        {
            taking = readers.WaitAsync(http, _memory.Length + length, taking);
        }

        if (pause is null)
        {
            return await taking;
        }

        try
        {
            return await taking.WaitAsync(Patience);
        }
        catch (TimeoutException)
        {
            pause();
            return await taking;
        }
    }

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
            _memory.Grow(_length, Math.Max(_length + wanted, before + Math.Min(before, 1 << 20)));
            _all.Add(_memory.Length - before);
        }
    }
}
