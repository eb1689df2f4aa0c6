using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven;

/// <summary>Reads the header Idempotency-Key, by which a repeated write is recognised.</summary>
internal static class IdempotencyHeader
{
    private const string KeyName = "Idempotency-Key";
    private const string HorizonName = "Idempotency-Key-Horizon";

    /// <summary>Returns the key of the header; <see cref="IdempotencyKey.None"/> without a header.</summary>
    /// <exception cref="RefusedException">The key is empty or too long.</exception>
    public static IdempotencyKey Read(HttpContext http)
    {
        var header = http.Request.Headers[KeyName];
        return header.Count == 0 ? IdempotencyKey.None : Hash(header.ToString());
    }

    /// <summary>
    /// Returns the key of the header or, without one, of the parameter raft-request-id, which RavenDB's clients send
    /// with bulk_docs, cmpxchg, identities and changes of indexes. Their client for .NET repeats a command with the
    /// same raft-request-id after a failure.
    /// </summary>
    public static IdempotencyKey ReadOrRequestId(HttpContext http)
    {
        var key = Read(http);
        return !key.IsPresent && new QueryParameters(http).Text("raft-request-id") is { Length: > 0 } requestId
            ? Hash(requestId)
            : key;
    }

    /// <summary>
    /// If the request has an idempotency key, sets the header Idempotency-Key-Horizon: the time since which keys are
    /// stored. A repetition of a request that was sent before that time may be applied again.
    /// </summary>
    public static void WriteHorizon(HttpContext http, Database database)
    {
        if (http.Request.Headers[KeyName].Count == 0)
        {
            return;
        }

        using var reader = database.OpenReader();
        http.Response.Headers[HorizonName] = DocumentJson.Date(
            Math.Max(reader.ReadIdempotencyHorizonTicks(), database.CreatedTicks)
        );
    }

    /// <summary>Refuses a key on a route that cannot recognise repetitions.</summary>
    /// <param name="http">The request.</param>
    /// <param name="route">Name of the route in the message.</param>
    /// <param name="alternative">Clause that tells the user how to make a repetition harmless on this route.</param>
    /// <exception cref="RefusedException">The request has a key.</exception>
    public static void Refuse(HttpContext http, string route, string alternative)
    {
        if (http.Request.Headers[KeyName].Count > 0)
        {
            throw RefusedException.BadRequest(
                $"An Idempotency-Key has no effect on {route}: {alternative}. Nothing was stored; send the "
                    + $"request without one."
            );
        }
    }

    private static IdempotencyKey Hash(string text) =>
        IdempotencyKey.TryCreate(Encoding.UTF8.GetBytes(text), out var key, out var error)
            ? key
            : throw RavenErrors.Refuse(error);
}
