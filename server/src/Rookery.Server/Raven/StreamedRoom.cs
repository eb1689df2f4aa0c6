using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Raven;

/// <summary>
/// The memory ("room", see <see cref="LargeRequests"/>) of a body that is read as a stream of documents and stored in
/// chunks. A chunk of small documents grows only while room is free; otherwise it is stored earlier. A large document
/// waits for room, and the stream holds none meanwhile. A lease that has held room for
/// <see cref="LargeRequests.Deadline"/> cancels the read of the body. Not thread-safe.
/// </summary>
internal sealed class StreamedRoom(HttpContext http, PipeReader body, LargeRequests requests) : IDisposable
{
    // The chunk being gathered, the chunk being stored, and a copy of the latter for a retry.
    private const int ChunksInMemory = 3;

    // The document as split from the stream, parsed, encoded, and perhaps kept for a retry.
    private const int CopiesOfDocument = LargeRequests.CopiesOfWrite + 1;
    private const int OrdinaryDocumentBytes = 1 << 20;
    private const int MaxDocumentBytes = DocumentLimits.MaxDocumentBytes + (64 << 10);

    private readonly LargeRequests.Lease _chunk = new(requests, http) { Reading = body };
    private readonly LargeRequests.Lease _document = new(requests, http) { Reading = body };

    private int _collectedBytes;

    /// <summary>
    /// Whether the chunk, now <paramref name="length"/> bytes, may grow to <paramref name="fullLength"/> bytes.
    /// </summary>
    public bool HasRoomForChunk(int length, int fullLength) =>
        length <= LargeRequests.BytesWithoutLease
        || _document.Bytes > 0
        || _chunk.TryGrow((long)ChunksInMemory * fullLength);

    /// <summary>
    /// Reads from the body. If a part of a document holds room and other requests wait, the read may be cancelled.
    /// </summary>
    public ValueTask<ReadResult> ReadAsync(CancellationToken cancellation = default) =>
        _document.ReadAsync(body, cancellation);

    /// <summary>Whether the chunks hold room. While no bytes arrive they need none.</summary>
    public bool IsHeldByChunks => _chunk.Bytes > 0;

    /// <summary>Renews the deadline, because a chunk was proposed and the next one is gathered.</summary>
    public void RenewChunk() => _chunk.Renew();

    /// <summary>Releases the room of the chunks, because all of them are stored.</summary>
    public void ReleaseChunks() => _chunk.Dispose();

    /// <summary>
    /// Takes room for the document that is being received, or releases it after the document's end. Must be called
    /// after each piece of the body, so that no complete document holds room while its client pauses.
    /// </summary>
    /// <param name="collectedBytes">Bytes of the document so far; 0 between documents.</param>
    /// <param name="storeGathered">Stores all documents before it.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="RefusedException">There was no room for minutes: 429.</exception>
    public ValueTask FitDocumentAsync(int collectedBytes, Func<ValueTask> storeGathered, CancellationToken cancellation)
    {
        long needed =
            collectedBytes <= LargeRequests.BytesWithoutLease
                ? 0
                : CopiesOfDocument
                    * (long)(collectedBytes <= OrdinaryDocumentBytes ? OrdinaryDocumentBytes : MaxDocumentBytes);

        // The piece that ended this document may begin the next one, whose length starts again at 0. The next document
        // takes room again, with a new deadline and after the requests that wait.
        bool isDone = _document.Bytes > 0 && collectedBytes < _collectedBytes;
        _collectedBytes = collectedBytes;
        return !isDone && _document.Bytes >= needed
            ? ValueTask.CompletedTask
            : FitAsync(needed, storeGathered, cancellation);
    }

    public void Dispose()
    {
        _chunk.Dispose();
        _document.Dispose();
    }

    private async ValueTask FitAsync(long needed, Func<ValueTask> storeGathered, CancellationToken cancellation)
    {
        await storeGathered();
        _chunk.Dispose();
        _document.Dispose();
        if (needed > 0)
        {
            await _document.GrowAsync(needed, waitsLong: true, cancellation);
        }
    }
}
