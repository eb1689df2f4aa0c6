using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>hilo/next and hilo/return: ranges of numbers from which clients generate document ids.</summary>
internal sealed class HiloRoutes(ServerContext context)
{
    private const int TagBytes = 256;

    public async Task NextAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        string tag = ReadTag(parameters);
        string separator = parameters.Text("identityPartsSeparator") is { Length: > 0 } requested ? requested : "/";
        if (separator.Length != 1 || !char.IsAscii(separator[0]) || char.IsControl(separator[0]) || separator[0] == '|')
        {
            throw RefusedException.BadRequest("'identityPartsSeparator' must be one ASCII character other than '|'.");
        }

        long lastRangeAt = 0;
        if (
            parameters.Text("lastRangeAt") is { Length: > 0 } date
            && !WireDate.TryParse(Encoding.UTF8.GetBytes(date), out lastRangeAt)
        )
        {
            throw RefusedException.BadRequest(
                $"'lastRangeAt' must be a date like 2026-11-21T09:49:45.2120000Z, not '{date}'."
            );
        }

        var command = CommandEncoder.HiloNext(
            database.Number,
            Encoding.UTF8.GetBytes(tag),
            parameters.Number("lastBatchSize", defaultValue: 0),
            lastRangeAt,
            parameters.Number("lastMax", defaultValue: 0),
            (byte)separator[0],
            IdempotencyHeader.Read(http)
        );
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            // Clients may repeat the request: at worst one range of numbers stays unused.
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: true);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        var range = outcome[0];
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("Prefix"u8, tag + separator);
                json.WriteNumber("Low"u8, range.Low);
                json.WriteNumber("High"u8, range.High);
                json.WriteNumber("LastSize"u8, range.High - range.Low + 1);
                json.WriteString("ServerTag"u8, context.Node.Consensus.NodeTag);
                json.WriteString("LastRangeAt"u8, DocumentJson.Date(outcome.LogTimeTicks));
            }
        );
    }

    public async Task ReturnAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        var command = CommandEncoder.HiloReturn(
            database.Number,
            Encoding.UTF8.GetBytes(ReadTag(parameters)),
            parameters.Number("last", defaultValue: 0),
            parameters.Number("end", defaultValue: 0),
            IdempotencyHeader.Read(http)
        );
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is { } rejection)
        {
            // Clients must not repeat the request: a second return could free a range that another client has received
            // since.
            await RavenErrors.WriteAsync(http, rejection);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await EmptyResponse.AnswerNoContent(http);
    }

    private static string ReadTag(QueryParameters parameters)
    {
        string tag = parameters.RequiredText("tag");
        return Encoding.UTF8.GetByteCount(tag) <= TagBytes && !tag.Any(char.IsControl)
            ? tag
            : throw RefusedException.BadRequest(
                $"'tag' must be at most {TagBytes} bytes of UTF-8 without control characters."
            );
    }
}
