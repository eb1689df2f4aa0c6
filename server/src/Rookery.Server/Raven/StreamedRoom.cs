using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Raven;

/// <summary>
/// The room of a body that is read as a stream of documents and stored chunk by chunk. A chunk of small documents grows
/// only as long as there is room for it at once, and is stored earlier otherwise; a large document is waited for, with
/// nothing else held meanwhile. A read of the body returns cancelled when what it reads kept its room for
/// <see cref="LargeRequests.Deadline"/>. One thread at a time.
/// </summary>
internal sealed class StreamedRoom(HttpContext http, PipeReader body, LargeRequests requests) : IDisposable
{
    // The one that is gathered, the one on its way, and its copy to be proposed again.
    private const int Chunks = 3;

    // One that is cut by its chunks, parsed, encoded, and perhaps kept to be proposed again.
    private const int CopiesOfDocument = LargeRequests.CopiesOfWrite + 1;
    private const int OrdinaryDocumentBytes = 1 << 20;
    private const int LargestDocumentBytes = DocumentLimits.MaxDocumentBytes + (64 << 10);

    private readonly LargeRequests.Lease _chunk = new(requests, http) { Reading = body };
    private readonly LargeRequests.Lease _document = new(requests, http) { Reading = body };

    private int _collectedBytes;

    /// <summary>Whether a chunk may grow on to its full length.</summary>
    public bool HasRoomForChunk(int length, int fullLength) =>
        length <= LargeRequests.FreeBytes || _document.Bytes > 0 || _chunk.TryGrow((long)Chunks * fullLength);

    /// <summary>Whether the chunks hold room, which they need not while nothing comes.</summary>
    public bool IsHeldByChunks => _chunk.Bytes > 0;

    /// <summary>A chunk is on its way, and the next is gathered in its place.</summary>
    public void ChunkIsSent() => _chunk.Renew();

    /// <summary>What was gathered is stored: its room is others'.</summary>
    public void ChunksAreStored() => _chunk.Dispose();

    /// <summary>
    /// Makes room for the document of which so many bytes have come. Asked behind each piece, so that one that is whole
    /// holds none while its client pauses.
    /// </summary>
    /// <param name="collectedBytes">Its bytes so far; 0 between documents.</param>
    /// <param name="storeGathered">Stores the documents before it, to the last.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="RefusedException">Others held all room for minutes: 429.</exception>
    public ValueTask FitDocumentAsync(int collectedBytes, Func<ValueTask> storeGathered, CancellationToken cancellation)
    {
        long needed =
            collectedBytes <= LargeRequests.FreeBytes
                ? 0
                : CopiesOfDocument
                    * (long)(collectedBytes <= OrdinaryDocumentBytes ? OrdinaryDocumentBytes : LargestDocumentBytes);

        // The next may begin in the bytes that ended this one: each document has a deadline of its own, and others may
        // go first.
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
