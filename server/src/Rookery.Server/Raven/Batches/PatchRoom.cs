using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Server.Raven.Batches;

/// <summary>
/// What a batch takes beyond its own bytes: short commands make results that are longer than they are, and a patch of a
/// hundred bytes reads and writes a document of megabytes. The documents are looked at as they are now; one that grows
/// before its patch is applied is bounded by what apply allows a command.
/// </summary>
internal static class PatchRoom
{
    /// <summary>Takes the room, or disposes the batch's command.</summary>
    /// <param name="http">The request.</param>
    /// <param name="context">Limits, and where room is found.</param>
    /// <param name="database">Where the documents are.</param>
    /// <param name="batch">The batch.</param>
    /// <param name="room">The room of its body, when that was large.</param>
    /// <exception cref="RefusedException">There was none in time: 429. The documents are more than a batch may write:
    /// 413.</exception>
    public static async ValueTask TakeAsync(
        HttpContext http,
        ServerContext context,
        Database database,
        ParsedBatch batch,
        LargeRequests.Lease? room
    )
    {
        try
        {
            long patchedBytes = PatchedBytes(database, batch.Command);
            long beside =
                ((long)batch.Count * DocumentLimits.BytesPerBatchCommand)
                + (patchedBytes * LargeRequests.CopiesOfPatch);
            if (beside <= LargeRequests.FreeBytes)
            {
                return;
            }

            int limit = Math.Max(context.Options.BatchBytesLimit, context.Options.DocumentBytesLimit);
            if (patchedBytes > limit)
            {
                var (has, most) = Amount.BytesOver(patchedBytes, limit);
                throw new RefusedException(
                    StatusCodes.Status413PayloadTooLarge,
                    RavenType.BadRequest,
                    $"The patches of this request rewrite {has} of documents, and at most {most} are allowed at once. "
                        + "Nothing was stored; send several requests."
                );
            }

            if (room is null)
            {
                room = context.LargeRequests.Begin(http);
                http.Response.RegisterForDispose(room);
            }

            // The body is gone by now, the command is still there. A few that wait for each other's room are refused
            // after a moment.
            room.Shrink(batch.Command.Length);
            await room.GrowAsync(beside + ((long)batch.Command.Length * LargeRequests.CopiesOfWrite));
        }
        catch
        {
            batch.Command.Dispose();
            throw;
        }
    }

    private static long PatchedBytes(Database database, CommandBuffer command)
    {
        long bytes = 0;
        using var reader = database.OpenReader();
        var commands = new CommandReader(command.Written.Span);
        while (commands.TryReadOperation(out var operation))
        {
            if (operation.Kind == OperationKind.Patch && reader.TryGetDocument(operation.Id.Written, out var document))
            {
                bytes += document.Length;
                document.Dispose();
            }
        }

        return bytes;
    }
}
