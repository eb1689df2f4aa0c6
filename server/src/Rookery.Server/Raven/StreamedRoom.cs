using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Raven;

/// <summary>
/// The room of a body that is read as a stream of documents and stored in chunks. A chunk of small documents grows only
/// while there is room at once; otherwise it is stored earlier. For a large document the stream waits, and holds
/// nothing else meanwhile. A read of the body returns cancelled once its lease has held room for
/// <see cref="LargeRequests.Deadline"/>. Not thread-safe.
/// </summary>
internal sealed class StreamedRoom(HttpContext http, PipeReader body, LargeRequests requests) : IDisposable
{
    // The chunk being gathered, the chunk being stored, and its copy for another proposal.
    private const int Chunks = 3;

    // The document as split from the stream, parsed, encoded, and perhaps kept for another proposal.
    private const int CopiesOfDocument = LargeRequests.CopiesOfWrite + 1;
    private const int OrdinaryDocumentBytes = 1 << 20;
    private const int LargestDocumentBytes = DocumentLimits.MaxDocumentBytes + (64 << 10);

    private readonly LargeRequests.Lease _chunk = new(requests, http) { Reading = body };
    private readonly LargeRequests.Lease _document = new(requests, http) { Reading = body };

    private int _collectedBytes;

    /// <summary>
    /// Whether the chunk, now <paramref name="length"/> bytes, may grow to <paramref name="fullLength"/> bytes.
    /// </summary>
    public bool HasRoomForChunk(int length, int fullLength) =>
        length <= LargeRequests.FreeBytes || _document.Bytes > 0 || _chunk.TryGrow((long)Chunks * fullLength);

    /// <summary>Whether the chunks hold room. They need none while no bytes arrive.</summary>
    public bool IsHeldByChunks => _chunk.Bytes > 0;

    /// <summary>Renews the deadline, because a chunk was proposed and the next one is gathered.</summary>
    public void RenewChunk() => _chunk.Renew();

    /// <summary>Releases the room of the chunks, because all of them are stored.</summary>
    public void ReleaseChunks() => _chunk.Dispose();

    /// <summary>
    /// Makes room for the document that is being received. Call it after each piece, so that a complete document holds
    /// no room while its client pauses.
    /// </summary>
    /// <param name="collectedBytes">Bytes of the document so far; 0 between documents.</param>
    /// <param name="storeGathered">Stores all documents before it.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="RefusedException">There was no room for minutes: 429.</exception>
    public ValueTask FitDocumentAsync(int collectedBytes, Func<ValueTask> storeGathered, CancellationToken cancellation)
    {
        long needed =
            collectedBytes <= LargeRequests.FreeBytes
                ? 0
                : CopiesOfDocument
                    * (long)(collectedBytes <= OrdinaryDocumentBytes ? OrdinaryDocumentBytes : LargestDocumentBytes);

        // The next document may begin in the bytes that ended this one. Its length then starts again, and it gets a
        // deadline of its own after others had their turn.
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
            await _document.GrowAsync(needed, isPatient: true, cancellation);
        }
    }
}
