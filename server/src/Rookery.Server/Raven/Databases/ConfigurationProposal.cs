using System.Buffers;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;

namespace Rookery.Server.Raven.Databases;

/// <summary>Reads and sets the configurations of databases and of the server.</summary>
internal static class ConfigurationProposal
{
    /// <summary>Reads the body of a request that sets a configuration.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="read">Checks the value and returns the text to store.</param>
    /// <exception cref="RefusedException">The body is too large, is not JSON, or is refused by
    /// <paramref name="read"/>.</exception>
    public static async ValueTask<byte[]> ReadAsync(ServerContext context, HttpContext http, JsonRead<byte[]> read)
    {
        using var body = await RequestBody.ReadAsync(
            http,
            DatabaseConfigurations.MaxBytes,
            context.LargeRequests,
            BodyUse.Objects
        );
        return JsonBody.Read(body.Span, read);
    }

    /// <summary>Sets a configuration, or answers with its rejection.</summary>
    /// <param name="context">The server.</param>
    /// <param name="http">The request.</param>
    /// <param name="database">Number of the database; 0 for the server.</param>
    /// <param name="name">Name of the configuration.</param>
    /// <param name="json">Its text.</param>
    /// <param name="expectedEtag">The etag that it must have, so that no other change is lost; null for any.</param>
    /// <returns>The outcome; null if the rejection is sent.</returns>
    public static async ValueTask<CommandOutcome?> TrySetAsync(
        ServerContext context,
        HttpContext http,
        uint database,
        string name,
        byte[] json,
        long? expectedEtag = null
    )
    {
        var command = CommandEncoder.SetConfiguration(database, name, json, expectedEtag);
        var outcome = await HttpProposal.ProposeAsync(context, http, command);
        if (outcome.Rejection is not { } rejection)
        {
            return outcome;
        }

        // Setting the same configuration again changes nothing, so the client may repeat the request.
        await RavenErrors.WriteAsync(http, rejection, clientMayRetry: expectedEtag is null);
        return null;
    }

    /// <summary>Returns a JSON object as bytes.</summary>
    public static byte[] ToJson(Action<Utf8JsonWriter> members)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer))
        {
            json.WriteStartObject();
            members(json);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Answers with a stored text; 404 without a body if there is none.</summary>
    public static async Task AnswerAsync(HttpContext http, DatabaseConfiguration configuration)
    {
        if (!configuration.IsSet)
        {
            await EmptyResponse.AnswerNotFound(http);
            return;
        }

        using var answer = ResponseBuffer.Rent();
        answer.Write(configuration.Json.Span);
        await answer.SendAsync(http);
    }
}
