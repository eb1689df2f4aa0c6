using System.Buffers;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Rookery.Documents;

namespace Rookery.Server;

/// <summary>
/// GET /admin/node/backup: the whole node as a stream of pieces (<see cref="BackupWire"/>), for `rookery backup`. While writes are committed it rests three times as
/// long as it read, so that it takes a quarter of the disk's time at most.
/// </summary>
internal static class BackupRoute
{
    private const int RestsPerRead = 3;
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(2);

    public static void Map(IEndpointRouteBuilder routes, ServerContext context) =>
        routes.MapGet("/admin/node/backup", http => AnswerAsync(http, context));

    private static async Task AnswerAsync(HttpContext http, ServerContext context)
    {
        NodeBackup backup;
        try
        {
            backup = await context.Node.BeginBackupAsync();
        }
        catch (IOException refused)
        {
            await ErrorAnswer.WriteAsync(http, StatusCodes.Status409Conflict, ErrorAnswer.RavenException, refused.Message);
            return;
        }

        using (backup)
        {
            await SendAsync(http, context, backup);
        }
    }

    private static async Task SendAsync(HttpContext http, ServerContext context, NodeBackup backup)
    {
        // The other side writes to a disk of its own, perhaps a slow one, and syncs as it goes.
        if (http.Features.Get<IHttpMinResponseDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = null;
        }

        http.Response.ContentType = "application/octet-stream";
        var output = http.Response.BodyWriter;
        output.Write(BackupWire.Preamble);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, context.Stopping);
        long begun = context.Time.GetTimestamp();
        long appliedIndex = context.Node.Consensus.AppliedIndex;
        foreach (var piece in backup.Read())
        {
            var took = context.Time.GetElapsedTime(begun);
            BackupWire.Write(output, piece);
            var sent = await output.FlushAsync(ended.Token);
            if (sent.IsCompleted)
            {
                return;
            }

            if (context.Node.Consensus.AppliedIndex != appliedIndex)
            {
                appliedIndex = context.Node.Consensus.AppliedIndex;
                await Task.Delay(TimeSpan.FromTicks(Math.Min(RestsPerRead * took.Ticks, LongestRest.Ticks)), context.Time, ended.Token);
            }

            begun = context.Time.GetTimestamp();
        }
    }
}
