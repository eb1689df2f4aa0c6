using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// GET and HEAD of attachments. The content is sent in chunks, and each chunk is checked before it is sent.
/// </summary>
internal sealed class GetAttachment(ServerContext context)
{
    private const string AnyContentType = "application/octet-stream";

    public async Task GetAsync(HttpContext http, Database database)
    {
        RefuseAsScript(http);
        try
        {
            await AnswerAsync(http, database);
        }
        catch (RefusedException)
        {
            http.Response.Headers.ETag = default; // the tag names a version of the attachment, not an error
            throw;
        }
    }

    private async Task AnswerAsync(HttpContext http, Database database)
    {
        var attachment = AttachmentParameters.Read(http);
        if (!TryFind(database, attachment, out var found))
        {
            EmptyResponse.Set(http, StatusCodes.Status404NotFound);
            return;
        }

        if (IsAnswered(http, database, found))
        {
            return;
        }

        long checkedEtag = found.Etag;
        using var file = Open(database, attachment, ref found);
        if (file is null)
        {
            http.Response.Headers.ETag = default;
            EmptyResponse.Set(http, StatusCodes.Status404NotFound);
            return;
        }

        // If Open found another version, the conditions of the request are checked again.
        if (found.Etag == checkedEtag || !IsAnswered(http, database, found))
        {
            await SendAsync(http, database, found, file);
        }
    }

    public static Task HeadAsync(HttpContext http, Database database)
    {
        RefuseAsScript(http);
        if (!TryFind(database, AttachmentParameters.Read(http), out var found))
        {
            EmptyResponse.Set(http, StatusCodes.Status404NotFound);
        }
        else if (!IsAnswered(http, database, found))
        {
            SetHeaders(http, found);
            http.Response.ContentLength = found.Size;
        }

        return Task.CompletedTask;
    }

    // Attachments have the same origin as the dashboard, so a stored file must not run as a script. Browsers name the
    // use of a request in Sec-Fetch-Dest, which scripts cannot change.
    private static void RefuseAsScript(HttpContext http)
    {
        if (
            http.Request.Headers["Sec-Fetch-Dest"].ToString()
            is "script"
                or "worker"
                or "sharedworker"
                or "serviceworker"
        )
        {
            throw new RefusedException(
                StatusCodes.Status403Forbidden,
                ErrorResponse.Forbidden,
                "An attachment is not served as a script. Serve scripts from a web server of their own."
            );
        }
    }

    internal static bool TryFind(Database database, AttachmentParameters attachment, out Found found)
    {
        found = default;
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(attachment.Id, out var document))
        {
            return false;
        }

        using (document)
        {
            if (!AttachmentList.TryFind(document.Head.Attachments, attachment.Name, out var entry))
            {
                return false;
            }

            found = new Found(
                Encoding.UTF8.GetString(entry.Name),
                Encoding.UTF8.GetString(entry.ContentType),
                entry.Hash,
                entry.Size,
                entry.Etag
            );
            return true;
        }
    }

    // Sets the ETag, and returns whether the request was answered with 304. Refuses a request whose If-Match does not
    // hold.
    private static bool IsAnswered(HttpContext http, Database database, Found found)
    {
        string tag = EntityTag.Of(database, found.Etag);
        if (http.Request.Headers.IfMatch is { Count: > 0 } expected && !IsMatch(expected.ToString(), tag))
        {
            throw new RefusedException(
                StatusCodes.Status412PreconditionFailed,
                RavenType.Concurrency,
                $"The attachment has the change vector {tag}, which If-Match does not name. Read it again."
            );
        }

        return EntityTag.TryAnswerNotModified(http, tag);
    }

    private static bool IsMatch(string expected, string tag) =>
        expected is "*"
        || expected.Split(',', StringSplitOptions.TrimEntries).Contains(tag, StringComparer.Ordinal)
        || string.Equals(expected, tag.Trim('"'), StringComparison.Ordinal); // as RavenDB's clients may send it

    // If the file is missing, the attachment may have been deleted or replaced after the document was read: a deleted
    // one is answered with null, a replaced one is opened again. The missing file is damage only if the attachment is
    // still the same.
    internal ContentFile? Open(Database database, AttachmentParameters attachment, ref Found found)
    {
        var contents =
            context.Node.Attachments
            ?? throw RefusedException.NotSupported("This node reads no attachments, because its data is damaged.");
        while (true)
        {
            try
            {
                return contents.Open(database.Number, found.Hash);
            }
            catch (ContentDamagedException missing) when (missing.IsMissing)
            {
                var (hash, etag) = (found.Hash, found.Etag);
                if (!TryFind(database, attachment, out found))
                {
                    return null;
                }

                if (found.Etag == etag)
                {
                    contents.ReportMissing(database.Number, hash, missing.Message);
                    throw Damaged(missing);
                }

                context.ReadsEnd.ThrowIfCancellationRequested(); // a client may replace it all the time
            }
            catch (Exception failure) when (failure is ContentDamagedException or DiskException)
            {
                throw Damaged(failure);
            }
        }
    }

    private async Task SendAsync(HttpContext http, Database database, Found found, ContentFile file)
    {
        http.Response.Headers.ETag = EntityTag.Of(database, found.Etag);
        bool? isPart = ByteRange.Read(RangeOf(http), file.Size, out var range);
        if (isPart is null)
        {
            http.Response.Headers.ContentRange = string.Create(CultureInfo.InvariantCulture, $"bytes */{file.Size}");
            throw new RefusedException(
                StatusCodes.Status416RangeNotSatisfiable,
                RavenType.BadRequest,
                $"The attachment has {file.Size} bytes, and none of them is in the requested range."
            );
        }

        using var ending = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.ReadsEnd);
        var buffer = PooledMemory.Rent(ContentFile.ChunkBytes);
        try
        {
            // The first chunk is read before the headers are sent, so that its damage can be answered with an error.
            int chunk = (int)(range.First / ContentFile.ChunkBytes);
            int length = range.Length == 0 ? 0 : file.ReadChunk(chunk, buffer.Span);
            SetHeaders(http, found);
            http.Response.ContentLength = range.Length;
            if (isPart.Value)
            {
                http.Response.StatusCode = StatusCodes.Status206PartialContent;
                http.Response.Headers.ContentRange = string.Create(
                    CultureInfo.InvariantCulture,
                    $"bytes {range.First}-{range.First + range.Length - 1}/{file.Size}"
                );
            }

            int offset = (int)(range.First % ContentFile.ChunkBytes);
            long left = range.Length;
            while (left > 0)
            {
                int count = (int)Math.Min(left, length - offset);
                await SendPartAsync(context, http, buffer.Memory.Slice(offset, count), ending.Token);
                left -= count;
                offset = 0;
                length = left > 0 ? file.ReadChunk(++chunk, buffer.Span) : 0;
            }
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            if (!http.Response.HasStarted)
            {
                throw Damaged(failure);
            }

            http.Abort(); // a part must not look like the whole; the damage is reported
        }
        finally
        {
            buffer.Return();
        }
    }

    /// <summary>Sends a part of an answer, and ends the connection of a client that does not take it.</summary>
    internal static async Task SendPartAsync(
        ServerContext context,
        HttpContext http,
        ReadOnlyMemory<byte> part,
        CancellationToken ended
    )
    {
        context.ReadsEnd.ThrowIfCancellationRequested();
        var sending = http.Response.BodyWriter.WriteAsync(part, ended);
        var sent = sending.IsCompletedSuccessfully
            ? sending.Result
            : await context.SlowReaders.WaitAsync(http.Abort, 2L * part.Length, sending.AsTask());
        if (sent.IsCompleted || sent.IsCanceled)
        {
            throw new OperationCanceledException(
                "The client left before its answer was complete.",
                http.RequestAborted
            );
        }
    }

    // If-Range names the version of which the client has other parts; for another version the answer is the whole
    // content.
    private static string? RangeOf(HttpContext http)
    {
        string? condition = http.Request.Headers.IfRange;
        return
            string.IsNullOrEmpty(condition)
            || string.Equals(condition, http.Response.Headers.ETag.ToString(), StringComparison.Ordinal)
            ? (string?)http.Request.Headers.Range
            : null;
    }

    private static void SetHeaders(HttpContext http, Found found)
    {
        var headers = http.Response.Headers;
        // A client can store any text as content type, but a header has visible ASCII only.
        bool isHeader = found.ContentType.Length > 0 && found.ContentType.All(static c => c is >= ' ' and <= '~');
        headers.ContentType = isHeader ? found.ContentType : AnyContentType;
        headers.XContentTypeOptions = "nosniff";
        headers.ContentSecurityPolicy = "sandbox; default-src 'none'"; // for browsers that show it all the same
        headers["Cross-Origin-Resource-Policy"] = "same-origin";
        headers.ContentDisposition = "attachment; filename*=UTF-8''" + Uri.EscapeDataString(found.Name);
        headers.AcceptRanges = "bytes";
        headers["Attachment-Hash"] = found.Hash.ToString();
        headers["Attachment-Size"] = found.Size.ToString(CultureInfo.InvariantCulture);
    }

    internal static RefusedException Damaged(Exception damaged) =>
        new(
            StatusCodes.Status500InternalServerError,
            RavenType.RavenException,
            $"{damaged.Message} It cannot be read. Upload the same file again, or restore a backup."
        );

    /// <summary>An attachment that was found.</summary>
    internal readonly record struct Found(string Name, string ContentType, ContentHash Hash, long Size, long Etag);
}
