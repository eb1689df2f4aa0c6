using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.Extensions.Logging;
using Rookery.Documents.Backups;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Server.Support;

namespace Rookery.Server.Transfer;

/// <summary>
/// GET /admin/node/backup: the whole node as a stream of pieces (<see cref="BackupWire"/>), for `rookery backup`. While
/// writes are committed it rests three times as long as it read, so that it takes a quarter of the disk's time at most.
/// </summary>
internal static class BackupRoute
{
    private const int RestsPerRead = 3;
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(2);

    // Longer than any disk stalls that a backup could still end well on; `rookery backup` itself gives up after two
    // minutes of silence.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private const string NotNewest =
        "This node cannot say now what is newest, so its backup might lack writes that were acknowledged: "
        + "nothing was backed up. Try again, or another node, when a majority of the members runs. "
        + "What this node alone has: stop it, and use `rookery export`.";

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes.MapGet("/admin/node/backup", http => AnswerAsync(http, context)).For(RouteScope.Admin);

    private static async Task AnswerAsync(HttpContext http, ServerContext context)
    {
        // A member that knows of no majority may lack what was acknowledged through others, and would call its backup
        // complete.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            await ErrorAnswer.WriteAsync(
                http,
                StatusCodes.Status503ServiceUnavailable,
                ErrorAnswer.RavenException,
                context.Node.Consensus.Refusal?.Message ?? NotNewest
            );
            return;
        }

        NodeBackup backup;
        try
        {
            backup = await context.Node.BeginBackupAsync();
        }
        catch (IOException refused)
        {
            await ErrorAnswer.WriteAsync(
                http,
                StatusCodes.Status409Conflict,
                ErrorAnswer.RavenException,
                refused.Message
            );
            return;
        }

        using (backup)
        {
            await SendAsync(http, context, backup);
        }
    }

    private static async Task SendAsync(HttpContext http, ServerContext context, NodeBackup backup)
    {
        // The other side writes to a disk of its own, perhaps a slow one, and syncs as it goes: not the server's rate
        // holds here, but our patience.
        if (http.Features.Get<IHttpMinResponseDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = null;
        }

        http.Response.ContentType = "application/octet-stream";
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        using var answer = AnswerBuffer.Rent();
        answer.Write(BackupWire.Preamble);
        long begun = context.Time.GetTimestamp();
        long appliedIndex = context.Node.Consensus.AppliedIndex;
        foreach (var piece in backup.Read())
        {
            var took = context.Time.GetElapsedTime(begun);
            BackupWire.Write(answer, piece);
            if (!await SendAsync(http, context, answer.Written, ended.Token))
            {
                return;
            }

            answer.Truncate(0);
            if (context.Node.Consensus.AppliedIndex != appliedIndex)
            {
                appliedIndex = context.Node.Consensus.AppliedIndex;
                await Task.Delay(
                    TimeSpan.FromTicks(Math.Min(RestsPerRead * took.Ticks, LongestRest.Ticks)),
                    context.Time,
                    ended.Token
                );
            }

            begun = context.Time.GetTimestamp();
        }
    }

    /// <summary>Sends bytes slice by slice, so that each tells whether the client still takes any.</summary>
    /// <returns>False when the client left, or took none for too long: then it is cut off, because a backup holds the
    /// files of its moment and keeps others from beginning.</returns>
    private static async Task<bool> SendAsync(
        HttpContext http,
        ServerContext context,
        ReadOnlyMemory<byte> bytes,
        CancellationToken ended
    )
    {
        while (!bytes.IsEmpty)
        {
            var slice = bytes[..Math.Min(bytes.Length, AnswerBuffer.PartBytes)];
            bytes = bytes[slice.Length..];
            try
            {
                var sent = await http
                    .Response.BodyWriter.WriteAsync(slice, ended)
                    .AsTask()
                    .WaitAsync(Patience, context.Time, ended);
                if (sent.IsCompleted)
                {
                    return false;
                }
            }
            catch (TimeoutException)
            {
                context.Log.LogWarning(
                    LogEvents.BackupGivenUp,
                    "A backup was given up: its client took nothing for {Seconds} s.",
                    Patience.TotalSeconds
                );
                http.Abort();
                return false;
            }
        }

        return true;
    }
}
