using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;
using Rookery.Storage;

namespace Rookery.Server.FastPath;

/// <summary>
/// Answers a simple GET with the same status, headers and body as the route <c>GET docs</c>. Thread-safe.
/// </summary>
internal sealed class GetHandler(ServerContext context, DateHeader date)
{
    // A longer answer needs a lease of memory, for which only the full pipeline waits.
    private const int MaxDocumentBytes = LargeRequests.BytesWithoutLease;

    /// <summary>Writes the answer. If it returns 0, it has written nothing.</summary>
    /// <param name="request">The request.</param>
    /// <param name="database">Its database.</param>
    /// <param name="output">Receives the answer; the caller flushes.</param>
    /// <param name="mayReadDisk">Whether the document may be read from disk.</param>
    /// <param name="isOnDisk">Whether the document must be read from disk and was not.</param>
    /// <param name="status">Status of the response.</param>
    /// <returns>Length of the answer in bytes; 0 if the request needs the full pipeline.</returns>
    public int TryWrite(
        SimpleRequest request,
        Database database,
        PipeWriter output,
        bool mayReadDisk,
        out bool isOnDisk,
        out int status
    )
    {
        var dateLine = date.Line(context.Time.GetTimestamp());
        int length = 0;
        status = 0;
        isOnDisk = false;
        try
        {
            using var reader = database.OpenReader();
            var lookup = reader.FindDocument(request.Id, mayReadDisk, out var document);
            using (document)
            {
                switch (lookup)
                {
                    case RowLookup.NotInMemory:
                        isOnDisk = true;
                        break;
                    case RowLookup.Absent:
                        status = StatusCodes.Status404NotFound;
                        length = WriteAbsent(output, dateLine);
                        break;
                    default:
                        length = WriteFound(request, database, document, output, dateLine, out status);
                        break;
                }
            }
        }
        catch (Exception failure)
            when (failure
                    is DamagedException
                        or StoredDocumentException
                        or DatabaseGoneException
                        or SnapshotEndedException
                        or OutOfMemoryException
            )
        {
            // Nothing was written. The full pipeline meets the same failure and reports it.
        }

        return length;
    }

    private static int WriteAbsent(PipeWriter output, ReadOnlySpan<byte> dateLine)
    {
        var head = new ResponseHead(output, "404 Not Found"u8, bodyLength: 0);
        head.AddLength(0);
        return head.End(dateLine, body: []);
    }

    private static int WriteFound(
        SimpleRequest request,
        Database database,
        in Document document,
        PipeWriter output,
        ReadOnlySpan<byte> dateLine,
        out int status
    )
    {
        status = StatusCodes.Status304NotModified;
        if (document.Length > MaxDocumentBytes)
        {
            return 0;
        }

        Span<byte> tag = stackalloc byte[SimpleRequest.MaxTagBytes];
        tag = tag[..WriteTag(tag, document.Etag, database.HistoryId)];
        if (request.KnownTag.SequenceEqual(tag))
        {
            var unchanged = new ResponseHead(output, "304 Not Modified"u8, bodyLength: 0);
            unchanged.Add("ETag: "u8, tag);
            return unchanged.End(dateLine, body: []);
        }

        status = StatusCodes.Status200OK;
        using var body = ResponseBuffer.Rent();
        GetDocuments.WriteOne(body, document, database);
        var head = new ResponseHead(output, "200 OK"u8, body.Length);
        head.AddJson(body.Length);
        head.Add("ETag: "u8, tag);
        return head.End(dateLine, body.Written.Span);
    }

    private static int WriteTag(Span<byte> destination, long etag, string historyId)
    {
        Span<byte> history = stackalloc byte[HistoryId.Length];
        Encoding.ASCII.GetBytes(historyId, history);
        destination[0] = (byte)'"';
        int length = 1 + ChangeVector.Write(destination[1..], etag, history);
        destination[length++] = (byte)'"';
        return length;
    }
}
