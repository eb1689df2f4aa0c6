using Microsoft.AspNetCore.Http;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven;

/// <summary>
/// The body of an HTTP response with any number of documents, sent part by part. Before a large document is written,
/// <see cref="LargeRequests"/> must lease its memory; the lease shrinks when the document's part is sent. A response
/// that waits for memory holds no document, but its snapshot stays open. If the node ends that snapshot, the connection
/// is aborted. Not thread-safe.
/// </summary>
/// <param name="http">The request.</param>
/// <param name="requests">Leases memory to large responses.</param>
/// <param name="contentType">Content type of the response.</param>
/// <param name="lease">The memory that the request holds already; null if it holds none, and for the lease of a
/// multi_get. The response extends this lease, because two leases of one request might wait for each other.</param>
internal sealed class DocumentResponse(
    HttpContext http,
    LargeRequests requests,
    string contentType = "application/json; charset=utf-8",
    LargeRequests.Lease? lease = null
) : IAnswerSink, IDisposable
{
    // Bytes that the request holds besides its response, until it ends.
    private readonly long _heldBytes = LeaseOf(http, lease)?.Bytes ?? 0;
    private LargeRequests.Lease? _lease = LeaseOf(http, lease);
    private bool _isPartSent;

    /// <summary>The bytes that are not yet sent.</summary>
    public ResponseBuffer Buffer { get; } = ResponseBuffer.Rent();

    /// <inheritdoc/>
    // A property, not a field: reading the token of a request makes Kestrel allocate.
    public CancellationToken Disconnected => http.RequestAborted;

    /// <summary>Whether a part was sent, so that neither status nor headers can change.</summary>
    // The response of a request inside a multi_get never starts: its parts are sent in that of the multi_get.
    public bool HasStarted => _isPartSent || http.Response.HasStarted;

    public void Write(ReadOnlySpan<byte> bytes) => Buffer.Write(bytes);

    /// <inheritdoc/>
    public bool TryReserve(long bytes)
    {
        long responseBytes = Buffer.Length + bytes;
        return responseBytes <= LargeRequests.BytesWithoutLease + ResponseBuffer.PartBytes
            || (_lease ??= requests.Begin(http)).TryGrow(_heldBytes + responseBytes);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was no memory in time, and nothing was sent yet: 429.</exception>
    public async Task WaitForMemoryAsync(long bytes)
    {
        if (HasStarted || Buffer.IsPartDue)
        {
            await SendPartAsync(pause: null);
        }

        // Only a response whose reservation failed waits, so it has a lease. Release it before waiting: otherwise two
        // requests could each wait for what the other holds.
        _lease!.ReleaseAll();
        await _lease.GrowToReadAsync(_heldBytes + Buffer.Length + bytes);
    }

    /// <inheritdoc/>
    /// <exception cref="RefusedException">There was no memory in time, and nothing was sent yet: 429.</exception>
    public ValueTask<bool> TryReserveAsync(long bytes, Action stepBack) =>
        TryReserve(bytes) ? new ValueTask<bool>(true) : StepBackAndWaitAsync(bytes, stepBack);

    /// <inheritdoc/>
    // A request inside a multi_get has no connection of its own: abort that of the multi_get.
    public void AbortConnection() => (http.Features.Get<MultiGetPart>()?.Outer ?? http).Abort();

    /// <summary>Sends a part if one is due, and releases its memory.</summary>
    /// <param name="pause">Called if the client is slow; see <see cref="ResponseBuffer.SendPartAsync"/>.</param>
    public Task SendWhenDueAsync(Action? pause) => Buffer.IsPartDue ? SendPartAsync(pause) : Task.CompletedTask;

    /// <summary>
    /// Sends a part if the buffer exceeds <paramref name="bytes"/> bytes, or if there is no memory for more. A shorter
    /// response is sent whole, with an ETag.
    /// </summary>
    public Task SendIfLongerAsync(int bytes, Action pause) =>
        Buffer.IsPartDue && (Buffer.Length > bytes || !TryReserve(bytes: 0))
            ? SendPartAsync(pause)
            : Task.CompletedTask;

    /// <summary>Sends the rest, or the whole answer if no part was sent.</summary>
    public Task SendAsync()
    {
        _lease?.Renew(); // the time to receive the request and to find its answer is no part of the transfer
        return Buffer.SendAsync(http, contentType);
    }

    public void Dispose()
    {
        Buffer.Dispose();
        _lease?.Dispose();
    }

    private static LargeRequests.Lease? LeaseOf(HttpContext http, LargeRequests.Lease? ofRequest) =>
        ofRequest ?? http.Features.Get<MultiGetPart>()?.Lease;

    private async ValueTask<bool> StepBackAndWaitAsync(long bytes, Action stepBack)
    {
        stepBack();
        await WaitForMemoryAsync(bytes);
        return false;
    }

    /// <summary>Sends a part, and reduces the lease to the bytes that the request holds besides its response.</summary>
    private async Task SendPartAsync(Action? pause)
    {
        _isPartSent = true;
        await Buffer.SendPartAsync(http, pause, contentType);
        if (_heldBytes == 0)
        {
            _lease?.ReleaseAll();
            return;
        }

        _lease!.Shrink(_heldBytes); // not null: this lease holds the bytes of the request's body
        _lease.Renew(); // the next part has a deadline of its own
    }
}
