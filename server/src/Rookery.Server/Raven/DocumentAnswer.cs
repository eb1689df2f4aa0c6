using Microsoft.AspNetCore.Http;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// An answer with any number of documents, sent part by part. Before a large document is written,
/// <see cref="LargeRequests"/> must admit its memory ("room"); the room is released when the document's part is sent.
/// An answer that waits for room holds no document, but its snapshot stays open. If the node ends that snapshot, the
/// connection is aborted. Not thread-safe.
/// </summary>
/// <param name="http">The request.</param>
/// <param name="requests">Admits large answers.</param>
/// <param name="contentType">Content type of the answer.</param>
/// <param name="room">The room that the request's body holds; null if it holds none. The answer extends it, because two
/// leases of one request might wait for each other.</param>
internal sealed class DocumentAnswer(
    HttpContext http,
    LargeRequests requests,
    string contentType = "application/json; charset=utf-8",
    LargeRequests.Lease? room = null
) : IAnswerSink, IDisposable
{
    // Bytes that the request holds besides its answer, until it ends.
    private readonly long _heldBytes = room?.Bytes ?? 0;
    private LargeRequests.Lease? _room = room;

    /// <summary>The bytes that are not yet sent.</summary>
    public AnswerBuffer Buffer { get; } = AnswerBuffer.Rent();

    /// <inheritdoc/>
    // A property, not a field: reading the token of a request makes Kestrel allocate.
    public CancellationToken Disconnected => http.RequestAborted;

    /// <summary>Whether a part was sent, so that neither status nor headers can change.</summary>
    public bool HasStarted => http.Response.HasStarted;

    public void Write(ReadOnlySpan<byte> bytes) => Buffer.Write(bytes);

    /// <inheritdoc/>
    public bool TryReserve(long bytes)
    {
        long held = Buffer.Length + bytes;
        return held <= LargeRequests.FreeBytes + AnswerBuffer.PartBytes
            || (_room ??= requests.Begin(http)).TryGrow(_heldBytes + held);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was no room in time, and nothing was sent yet: 429.</exception>
    public async Task WaitForMemoryAsync(long bytes)
    {
        if (HasStarted || Buffer.IsPartDue)
        {
            await SendPartAsync(pause: null);
        }

        // Release what is held before waiting: otherwise two requests could each wait for what the other holds.
        _room!.Dispose();
        await _room.GrowToReadAsync(_heldBytes + Buffer.Length + bytes);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was no room in time, and nothing was sent yet: 429.</exception>
    public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) =>
        TryReserve(bytes) ? new ValueTask<bool>(true) : StepBackAndWaitAsync(bytes, stepBack);

    /// <inheritdoc/>
    // A request inside a multi_get has no connection of its own: abort that of the multi_get.
    public void AbortConnection() => (http.Features.Get<MultiGetPart>()?.Outer ?? http).Abort();

    /// <summary>Sends a part if one is due, and releases its room.</summary>
    /// <param name="pause">Called if the client is slow; see <see cref="AnswerBuffer.SendPartAsync"/>.</param>
    public Task SendWhenDueAsync(Action? pause) => Buffer.IsPartDue ? SendPartAsync(pause) : Task.CompletedTask;

    /// <summary>
    /// Sends a part if the buffer exceeds <paramref name="bytes"/> bytes, or if there is no room for more. A shorter
    /// answer is sent whole, with an ETag.
    /// </summary>
    public Task SendIfLongerAsync(int bytes, Action pause) =>
        Buffer.IsPartDue && (Buffer.Length > bytes || !TryReserve(0)) ? SendPartAsync(pause) : Task.CompletedTask;

    /// <summary>Sends the rest, or the whole answer if no part was sent.</summary>
    public Task SendAsync() => Buffer.SendAsync(http, contentType);

    public void Dispose()
    {
        Buffer.Dispose();
        _room?.Dispose();
    }

    private async ValueTask<bool> StepBackAndWaitAsync(long bytes, Action stepBack)
    {
        stepBack();
        await WaitForMemoryAsync(bytes);
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
