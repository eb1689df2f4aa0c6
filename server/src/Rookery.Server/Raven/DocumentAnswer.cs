using Microsoft.AspNetCore.Http;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// An answer of any number of documents that goes out part by part. A document that is large is written only when there
/// is room for it, which is given back when its part was sent; whoever waits for that room holds neither memory nor a
/// snapshot meanwhile. Not thread-safe.
/// </summary>
/// <param name="http">The request.</param>
/// <param name="requests">Where room is taken.</param>
/// <param name="contentType">The type of the answer.</param>
/// <param name="room">The room that the request has already, which grows for the answer; null when it has none. Two of
/// one request might wait for each other.</param>
internal sealed class DocumentAnswer(
    HttpContext http,
    LargeRequests requests,
    string contentType = "application/json; charset=utf-8",
    LargeRequests.Lease? room = null
) : IAnswerSink, IDisposable
{
    // What the request holds besides its answer, until its end.
    private readonly long _heldBytes = room?.Bytes ?? 0;
    private LargeRequests.Lease? _room = room;

    /// <summary>Where it is written to.</summary>
    public AnswerBuffer Buffer { get; } = AnswerBuffer.Rent();

    /// <inheritdoc/>
    // Reading the token of a request makes Kestrel allocate.
    public CancellationToken Left => http.RequestAborted;

    /// <summary>Whether a part of it was sent, so that neither its status nor its headers can change.</summary>
    public bool HasStarted => http.Response.HasStarted;

    public void Write(ReadOnlySpan<byte> bytes) => Buffer.Write(bytes);

    /// <inheritdoc/>
    public bool TryMakeRoom(long bytes)
    {
        long held = Buffer.Length + bytes;
        return held <= LargeRequests.FreeBytes + AnswerBuffer.PartBytes
            || (_room ??= requests.Begin(http)).TryGrow(_heldBytes + held);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was none in time, and nothing was sent yet: 429.</exception>
    public async Task WaitForRoomAsync(long bytes)
    {
        if (HasStarted || Buffer.IsPartDue)
        {
            await SendPartAsync(pause: null);
        }

        // What is held is given back first: otherwise two requests could each wait for what the other holds.
        _room!.Dispose();
        await _room.GrowToReadAsync(_heldBytes + Buffer.Length + bytes);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was none in time, and nothing was sent yet: 429.</exception>
    public ValueTask<bool> HasRoomAsync(long bytes, Action stepBack) =>
        TryMakeRoom(bytes) ? new ValueTask<bool>(true) : StepBackAndWaitAsync(bytes, stepBack);

    /// <inheritdoc/>
    // The answer of a part of a multi_get goes out through the request around it.
    public void BreakOff() => (http.Features.Get<MultiGetPart>()?.Around ?? http).Abort();

    /// <summary>Sends what there is when it is much, and gives room back.</summary>
    /// <param name="pause">Called when the client is slow.</param>
    public Task SendWhenDueAsync(Action? pause) => Buffer.IsPartDue ? SendPartAsync(pause) : Task.CompletedTask;

    /// <summary>
    /// The same from so many bytes on, or when there is no room for as many: an answer that is sent whole has an ETag.
    /// </summary>
    public Task SendBeyondAsync(int bytes, Action pause) =>
        Buffer.IsPartDue && (Buffer.Length > bytes || !TryMakeRoom(0)) ? SendPartAsync(pause) : Task.CompletedTask;

    /// <summary>Sends the rest, or all of it.</summary>
    public Task SendAsync() => Buffer.SendAsync(http, contentType);

    public void Dispose()
    {
        Buffer.Dispose();
        _room?.Dispose();
    }

    private async ValueTask<bool> StepBackAndWaitAsync(long bytes, Action stepBack)
    {
        stepBack();
        await WaitForRoomAsync(bytes);
        return false;
    }

    private async Task SendPartAsync(Action? pause)
    {
        await Buffer.SendPartAsync(http, pause, contentType);
        if (_heldBytes == 0)
        {
            _room?.Dispose();
            return;
        }

        _room!.Shrink(_heldBytes);
        _room.Renew();
    }
}
