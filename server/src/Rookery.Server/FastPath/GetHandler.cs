using System.Buffers;
using System.Buffers.Text;
using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Documents;
using Rookery.Storage;

namespace Rookery.Server.FastPath;

/// <summary>
/// Answers a simple GET from memory, with the same status, headers and body as the route <c>GET docs</c>. Reads no
/// disk. Thread-safe.
/// </summary>
internal sealed class GetHandler(ServerContext context, DateHeader date)
{
    // A longer answer takes room for which the full pipeline waits.
    private const int MaxDocumentBytes = LargeRequests.FreeBytes;

    private readonly RouteMetrics _route = context.Metrics.ForRoute(RavenRoutes.DocumentsPattern);

    /// <summary>Writes the answer. If it returns 0, it has written nothing.</summary>
    /// <param name="request">The request.</param>
    /// <param name="database">Its database.</param>
    /// <param name="output">Receives the answer; the caller flushes.</param>
    /// <returns>Length of the answer in bytes; 0 if the request needs the full pipeline.</returns>
    public int TryWrite(SimpleRequest request, Database database, PipeWriter output)
    {
        long begun = context.Time.GetTimestamp();
        int status = 0;
        int length = 0;
        try
        {
            length = TryWrite(request, database, output, date.Line(begun), out status);
        }
        catch (Exception damage) when (damage is DamagedException or StoredDocumentException)
        {
            // The full pipeline meets the same damage, and reports it.
        }

        if (length > 0)
        {
            context.Metrics.AddFastRead(_route, begun, status);
        }

        return length;
    }

    private static int TryWrite(
        SimpleRequest request,
        Database database,
        PipeWriter output,
        ReadOnlySpan<byte> dateLine,
        out int status
    )
    {
        status = StatusCodes.Status404NotFound;
        using var reader = database.OpenReader();
        var lookup = reader.FindDocument(request.Id, mayReadDisk: false, out var document);
        if (lookup == RowLookup.Absent)
        {
            var absent = new ResponseHead(output, "404 Not Found"u8);
            absent.AddLength(0);
            return absent.End(dateLine);
        }

        using (document)
        {
            if (lookup == RowLookup.NotInMemory || document.Length > MaxDocumentBytes)
            {
                return 0;
            }

            Span<byte> tag = stackalloc byte[SimpleRequest.MaxTagBytes];
            tag = tag[..WriteTag(tag, document.Etag, database.HistoryId)];
            if (request.KnownTag.SequenceEqual(tag))
            {
                status = StatusCodes.Status304NotModified;
                var unchanged = new ResponseHead(output, "304 Not Modified"u8);
                unchanged.AddTag(tag);
                return unchanged.End(dateLine);
            }

            status = StatusCodes.Status200OK;
            using var body = ResponseBuffer.Rent();
            GetDocuments.WriteOne(body, document, database);
            var head = new ResponseHead(output, "200 OK"u8);
            head.AddJson(body.Length);
            head.AddTag(tag);
            int headLength = head.End(dateLine);
            output.Write(body.Written.Span);
            return headLength + body.Length;
        }
    }

    private static int WriteTag(Span<byte> destination, long etag, string historyId)
    {
        "\"A:"u8.CopyTo(destination);
        int length = 3;
        Utf8Formatter.TryFormat(etag, destination[length..], out int digits);
        length += digits;
        destination[length++] = (byte)'-';
        length += Encoding.ASCII.GetBytes(historyId, destination[length..]);
        destination[length++] = (byte)'"';
        return length;
    }
}
