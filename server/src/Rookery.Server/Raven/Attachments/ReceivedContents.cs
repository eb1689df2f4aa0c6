using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Rookery.Documents.Attachments;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Server.Raven.Attachments;

/// <summary>
/// Receives the contents (the bytes) of attachments. Each content goes to a file while it arrives. The command with its
/// hash is proposed when the file is durable.
/// </summary>
internal sealed class ReceivedContents(ServerContext context)
{
    // Half of what a connection buffers, so that the next bytes arrive while these are written.
    private const int PieceBytes = RookeryServer.ConnectionBufferBytes / 2;

    private static readonly MinDataRate MinimumRate = new(SlowBodies.BytesPerSecond, SlowBodies.MaxDelay);

    /// <summary>Called with the number of bytes of each piece of a content that was written.</summary>
    public Action<long>? PieceWritten { get; init; }

    /// <summary>Refuses attachments while the cluster's format level is below the first level that has them.</summary>
    public void RequireLevel()
    {
        if (context.Node.FormatLevel.Level < FormatLevel.Attachments)
        {
            throw RefusedException.NotSupported(
                "Attachments cannot be written while members may return to the previous version, which does not know "
                    + "them. When all run the new one, end the upgrade: `rookery cluster finalize-upgrade`."
            );
        }
    }

    /// <summary>Returns the store of contents if this node accepts attachments.</summary>
    /// <exception cref="RefusedException">This node does not accept attachments: 501.</exception>
    public AttachmentContents RequireSupport()
    {
        RequireLevel();
        return context.Node.Attachments
            ?? throw RefusedException.NotSupported("This node only reads, so it stores no attachments.");
    }

    /// <summary>
    /// Refuses a compressed body. Lifts the limit of the body's length, because contents have a limit of their own.
    /// Raises the minimum rate, because an upload holds a connection and room on the disk.
    /// </summary>
    public static void Allow(HttpContext http)
    {
        RequestBody.RefuseEncoding(http);
        if (http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = MinimumRate;
        }

        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
        {
            size.MaxRequestBodySize = null;
        }
    }

    /// <summary>Receives one content and makes it durable. Holds no memory while the client is silent.</summary>
    /// <param name="contents">The store of contents.</param>
    /// <param name="database">The database.</param>
    /// <param name="expectedBytes">The announced length; 0 if unknown.</param>
    /// <param name="body">The bytes.</param>
    /// <exception cref="RefusedException">The content is too large (413), there is no room (507), a disk operation
    /// failed (500) or the node stops (503).</exception>
    public async Task<PinnedContent> ReceiveAsync(
        AttachmentContents contents,
        Database database,
        long expectedBytes,
        PipeReader body
    )
    {
        try
        {
            using var upload = await contents.BeginAsync(database.Number, expectedBytes);
            await FillAsync(upload, body);
            return await upload.CompleteAsync();
        }
        catch (Exception failure) when (Explain(failure) is not null)
        {
            throw Explain(failure)!;
        }
    }

    /// <summary>Returns the answer to a content that could not be received; null for another failure.</summary>
    public RefusedException? Explain(Exception failure) =>
        failure switch
        {
            ContentRefusedException { Cause: ContentRefusal.TooLarge } => new RefusedException(
                StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                failure.Message
            ),
            ContentRefusedException or DiskException { Error: Errno.NoSpace or Errno.Quota } => NoRoom(failure),
            DiskException => new RefusedException(
                StatusCodes.Status500InternalServerError,
                RavenType.RavenException,
                $"The attachment was not stored. {failure.Message}"
            ),
            OperationCanceledException when context.Stopping.IsCancellationRequested => RefusedException.NodeStops(),
            _ => null,
        };

    private async Task FillAsync(ContentUpload upload, PipeReader body)
    {
        while (true)
        {
            var read = await body.ReadAtLeastAsync(PieceBytes);
            try
            {
                if (read.IsCanceled)
                {
                    throw RefusedException.NodeStops();
                }

                await upload.WriteAsync(read.Buffer);
                PieceWritten?.Invoke(read.Buffer.Length);
            }
            finally
            {
                // Needed after an error too: Kestrel reads the rest of the body only after this read has ended.
                body.AdvanceTo(read.Buffer.End);
            }

            if (read.IsCompleted)
            {
                return;
            }
        }
    }

    private static RefusedException NoRoom(Exception refused) =>
        new(StatusCodes.Status507InsufficientStorage, RavenType.RavenException, refused.Message);
}
