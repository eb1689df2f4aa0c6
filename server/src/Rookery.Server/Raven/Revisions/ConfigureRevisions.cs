using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;

namespace Rookery.Server.Raven.Revisions;

/// <summary>The configuration of a database's revisions.</summary>
internal sealed class ConfigureRevisions(ServerContext context)
{
    private const int MaxBodyBytes = 1 << 20;

    /// <summary>POST admin/revisions/config: replaces the configuration.</summary>
    public async Task PostAsync(HttpContext http, Database database)
    {
        RevisionsConfiguration configuration;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            configuration = RevisionsConfigurationJson.Read(body.Span);
        }

        var outcome = await HttpProposal.ProposeAsync(
            context,
            http,
            CommandEncoder.ConfigureRevisions(database.Number, configuration, IdempotencyHeader.ReadOrRequestId(http))
        );
        if (outcome.Rejection is { } rejection)
        {
            // The same configuration twice has the effect of one.
            await RavenErrors.WriteAsync(http, rejection, clientMayRetry: true);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await JsonResponse.SendAsync(http, json => json.WriteNumber("RaftCommandIndex"u8, outcome.Index));
    }

    /// <summary>GET revisions/config: the configuration, or 404 if there is none, as in RavenDB.</summary>
    public static async Task GetAsync(HttpContext http, Database database)
    {
        RevisionsConfiguration? configuration;
        using (var reader = database.OpenReader())
        {
            configuration = reader.ReadRevisionsConfiguration();
        }

        if (configuration is null or { IsEmpty: true })
        {
            await EmptyResponse.AnswerNotFound(http);
            return;
        }

        await JsonResponse.SendAsync(http, json => RevisionsConfigurationJson.Write(json, configuration));
    }
}
