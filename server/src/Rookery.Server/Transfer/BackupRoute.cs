using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Backups;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Support;
using Rookery.Storage;

namespace Rookery.Server.Transfer;

/// <summary>
/// GET /admin/node/backup: all data of the node as a stream of pieces (<see cref="BackupWire"/>), for `rookery backup`.
/// While the node applies writes, the backup pauses after each read for three times its duration, so that it takes at
/// most a quarter of the disk's time.
/// </summary>
internal static class BackupRoute
{
    private const int RestPerReadTime = 3;
    private static readonly TimeSpan MaxRest = TimeSpan.FromSeconds(2);

    // Longer than any disk stall that a backup can survive; `rookery backup` gives up after two minutes of silence.
    private static readonly TimeSpan ClientReadTimeout = TimeSpan.FromSeconds(60);

    private const string NotNewest =
        "This node cannot confirm the latest state now, so its backup might lack acknowledged writes: "
        + "nothing was backed up. Try again, or another node, when a majority of the members runs. "
        + "To save what this node has, stop it and use `rookery export`.";

    private static readonly string NotEnded =
        "The backup before this one has not ended, although its client left: it waits for other work of the node, or "
        + $"for its disk. Nothing was backed up in {BackupSlot.MaxWait.TotalSeconds} s. Try again in a few minutes.";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context)
    {
        var slot = new BackupSlot(context.Time);
        routes
            .MapGet("/admin/node/backup", http => AnswerAsync(http, context, slot))
            .For(RouteScope.Admin)
            .Taking(RouteParameters.None);
    }

    private static async Task AnswerAsync(HttpContext http, ServerContext context, BackupSlot slot)
    {
        // A member without a majority may lack acknowledged writes, and its backup would look complete.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                context.Node.Consensus.Refusal?.Message ?? NotNewest
            );
            return;
        }

        IDisposable? entered;
        try
        {
            entered = await slot.TryEnterAsync(http.RequestAborted);
        }
        catch (TimeoutException)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorResponse.RavenException,
                NotEnded
            );
            return;
        }

        using var turn = entered;
        if (turn is null)
        {
            await ErrorResponse.WriteAsync(
                http,
                StatusCodes.Status409Conflict,
                ErrorResponse.RavenException,
                "Another client is taking a backup of this node. Wait until it is done, or stop that client."
            );
            return;
        }

        NodeBackup backup;
        try
        {
            backup = await context.Node.BeginBackupAsync();
        }
        catch (IOException failure)
        {
            var (status, sentences) = Explain(failure);
            await ErrorResponse.WriteAsync(http, status, ErrorResponse.RavenException, sentences);
            return;
        }

        using (backup)
        {
            await SendAsync(http, context, backup);
        }
    }

    private static (int Status, string Sentences) Explain(IOException failure) =>
        failure switch
        {
            BackupException refused => (StatusCodes.Status409Conflict, refused.Message),
            DiskException { Error: Errno.NoSpace or Errno.Quota } full => (
                StatusCodes.Status507InsufficientStorage,
                $"{full.Message} Nothing was backed up. Free space on that disk, and take another backup."
            ),
            DiskException or DamagedException => (
                StatusCodes.Status500InternalServerError,
                $"{failure.Message} Nothing was backed up. Find the cause with `rookery doctor` on that machine, and "
                    + "take another backup."
            ),
            _ => (StatusCodes.Status503ServiceUnavailable, Readiness.NodeStops),
        };

    private static async Task SendAsync(HttpContext http, ServerContext context, NodeBackup backup)
    {
        // The client writes to its own disk and syncs, which may be slow. So ClientReadTimeout replaces Kestrel's
        // minimum rate.
        if (http.Features.Get<IHttpMinResponseDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = null;
        }

        http.Response.ContentType = "application/octet-stream";
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        using var answer = ResponseBuffer.Rent();
        answer.Write(BackupWire.Preamble);
        long readStart = context.Time.GetTimestamp();
        long appliedIndex = context.Node.Consensus.AppliedIndex;
        foreach (var piece in backup.Read())
        {
            var readTime = context.Time.GetElapsedTime(readStart);
            BackupWire.Write(answer, piece);
            if (!await SendAsync(http, context, answer.Written, linked.Token))
            {
                return;
            }

            answer.Truncate(0);
            if (context.Node.Consensus.AppliedIndex != appliedIndex)
            {
                appliedIndex = context.Node.Consensus.AppliedIndex;
                await Task.Delay(
                    TimeSpan.FromTicks(Math.Min(RestPerReadTime * readTime.Ticks, MaxRest.Ticks)),
                    context.Time,
                    linked.Token
                );
            }

            readStart = context.Time.GetTimestamp();
        }
    }

    /// <summary>Sends bytes in slices. The time of each slice shows whether the client still reads.</summary>
    /// <returns>False if the client left, or read nothing for <c>ClientReadTimeout</c>. Such a client is disconnected,
    /// because a backup holds the files of its snapshot and blocks further backups.</returns>
    private static async Task<bool> SendAsync(
        HttpContext http,
        ServerContext context,
        ReadOnlyMemory<byte> bytes,
        CancellationToken cancellationToken
    )
    {
        while (!bytes.IsEmpty)
        {
            var slice = bytes[..Math.Min(bytes.Length, ResponseBuffer.PartBytes)];
            bytes = bytes[slice.Length..];
            try
            {
                var sent = await http
                    .Response.BodyWriter.WriteAsync(slice, cancellationToken)
                    .AsTask()
                    .WaitAsync(ClientReadTimeout, context.Time, cancellationToken);
                if (sent.IsCompleted)
                {
                    return false;
                }
            }
            catch (TimeoutException)
            {
                context.Log.LogWarning(
                    LogEvents.BackupGivenUp,
                    "A backup was aborted: its client read nothing for {Seconds} s.",
                    ClientReadTimeout.TotalSeconds
                );
                http.Abort();
                return false;
            }
        }

        return true;
    }
}
