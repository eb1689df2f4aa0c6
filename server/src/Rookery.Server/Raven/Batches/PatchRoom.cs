using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Server.Raven.Batches;

/// <summary>
/// Reserves the memory that a batch needs besides its own bytes. A patch of a hundred bytes can read and write a
/// document of megabytes, and results can be longer than their commands. The estimate uses the current lengths of the
/// documents. If one grows before its patch is applied, the limits of apply still hold.
/// </summary>
internal static class PatchRoom
{
    /// <summary>Reserves the memory. On failure it disposes the batch's command.</summary>
    /// <param name="http">The request.</param>
    /// <param name="context">Limits, and the admission of large requests.</param>
    /// <param name="database">Database of the documents.</param>
    /// <param name="batch">The batch.</param>
    /// <param name="lease">Memory reserved for the request's body if the body is large; otherwise null.</param>
    /// <exception cref="RefusedException">The memory was not available in time: 429. The documents are longer than a
    /// batch may write: 413.</exception>
    public static async ValueTask TakeAsync(
        HttpContext http,
        ServerContext context,
        Database database,
        ParsedBatch batch,
        LargeRequests.Lease? lease
    )
    {
        try
        {
            long patchedBytes = PatchedBytes(database, batch.Command);
            long extraBytes =
                ((long)batch.Count * DocumentLimits.BytesPerBatchCommand)
                + (patchedBytes * LargeRequests.CopiesOfPatch);
            if (extraBytes <= LargeRequests.BytesWithoutLease)
            {
                return;
            }

            int limit = Math.Max(context.Options.BatchBytesLimit, context.Options.DocumentBytesLimit);
            if (patchedBytes > limit)
            {
                var (actual, max) = Amount.BytesOver(patchedBytes, limit);
                throw new RefusedException(
                    StatusCodes.Status413PayloadTooLarge,
                    RavenType.BadRequest,
                    $"The patches, counters and attachments of this request rewrite {actual} of documents, and at most "
                        + $"{max} are allowed at once. Nothing was stored; send several requests."
                );
            }

            if (lease is null)
            {
                lease = context.LargeRequests.Begin(http);
                http.Response.RegisterForDispose(lease);
            }

            // The body is released, so only the command still counts. Two requests that each wait for the other's
            // memory are refused after a timeout.
            lease.Shrink(batch.Command.Length);
            await lease.GrowAsync(extraBytes + ((long)batch.Command.Length * LargeRequests.CopiesOfWrite));
        }
        catch
        {
            batch.Command.Dispose();
            throw;
        }
    }

    private static long PatchedBytes(Database database, CommandBuffer command)
    {
        // Counter operations on shorter documents are not counted: looking up each counter would cost more than the
        // estimate is worth.
        const int ShortDocumentBytes = 4096;
        long bytes = 0;
        // A group is the operations of one Counters command. This is the length of its document, until it is added.
        long bytesOfGroup = 0;
        using var reader = database.OpenReader();
        var commands = new CommandReader(command.Written.Span);
        while (commands.TryReadOperation(out var operation))
        {
            if (
                (operation.Kind == OperationKind.Patch || operation.IsOfAttachment)
                && reader.TryGetDocument(operation.Id.Written, out var document)
            )
            {
                bytes += document.Length + SourceBytes(reader, operation);
                document.Dispose();
            }
            else if (operation.IsOfCounter)
            {
                if (operation.StartsGroup)
                {
                    bytesOfGroup = 0;
                    if (reader.TryGetDocument(operation.Id.Written, out var counted))
                    {
                        bytesOfGroup = counted.Length < ShortDocumentBytes ? 0 : counted.Length;
                        counted.Dispose();
                    }
                }

                if (bytesOfGroup > 0 && ChangesNames(reader, operation))
                {
                    bytes += bytesOfGroup;
                    bytesOfGroup = 0;
                }
            }
        }

        return bytes;
    }

    // A copied attachment is looked up in the document that has it.
    private static long SourceBytes(in DatabaseReader reader, in Operation operation)
    {
        if (
            operation.Kind != OperationKind.AttachmentCopy
            || operation.Copy.Renames
            || !reader.TryGetDocument(operation.Copy.Source.Written, out var source)
        )
        {
            return 0;
        }

        using (source)
        {
            return source.HeadLength;
        }
    }

    // Apply rewrites a document when counters are created or deleted, once for all operations of a group.
    private static bool ChangesNames(in DatabaseReader reader, in Operation operation) =>
        operation.Kind != OperationKind.CounterGet
        && reader.ReadCounter(operation.Id.Written, operation.Counter.Written, out _) is null
            == (operation.Kind == OperationKind.CounterIncrement);
}
