using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Documents.Commands;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven;

/// <summary>The key by which a repeated write is recognised.</summary>
internal static class IdempotencyHeader
{
    private const string KeyName = "Idempotency-Key";
    private const string HorizonName = "Idempotency-Key-Horizon";

    /// <summary>The key of the Idempotency-Key header; none when there is no header.</summary>
    /// <exception cref="RefusedException">It is empty or too long.</exception>
    public static IdempotencyKey Read(HttpContext http)
    {
        var header = http.Request.Headers[KeyName];
        return header.Count == 0 ? IdempotencyKey.None : Hash(header.ToString());
    }

    /// <summary>The key of the header or, without one, of raft-request-id: RavenDB's clients repeat identity/next with the same one after a failure.</summary>
    public static IdempotencyKey ReadOrRequestId(HttpContext http)
    {
        var key = Read(http);
        return !key.IsPresent && new QueryParameters(http).Text("raft-request-id") is { Length: > 0 } requestId ? Hash(requestId) : key;
    }

    /// <summary>
    /// When the request has a key: refuses an outcome that belongs to another request with the same key, because its operations do not fit, and says from when on the
    /// database remembers keys. A retry of a request that is older may be applied again.
    /// </summary>
    /// <exception cref="RefusedException">They do not fit; nothing of this request was stored.</exception>
    public static void CheckOutcome(HttpContext http, Database database, in CommandOutcome outcome, params ReadOnlySpan<OperationKind> operations)
    {
        if (http.Request.Headers[KeyName].Count == 0)
        {
            return;
        }

        bool fits = outcome.Count == operations.Length;
        for (int i = 0; fits && i < operations.Length; i++)
        {
            fits = Fits(operations[i], outcome[i].Status);
        }

        if (!fits)
        {
            throw Reused();
        }

        TellHorizon(http, database);
    }

    /// <summary>The same for requests that ask for a number, which may be repeated by their raft-request-id too.</summary>
    /// <exception cref="RefusedException">The key belongs to a request of another kind.</exception>
    public static void CheckNumber(HttpContext http, Database database, in CommandOutcome outcome)
    {
        if (outcome.Count != 1 || outcome[0].Status != OperationStatus.Numbered)
        {
            throw Reused();
        }

        TellHorizon(http, database);
    }

    private static void TellHorizon(HttpContext http, Database database)
    {
        using var reader = database.OpenReader();
        http.Response.Headers[HorizonName] = DocumentJson.Date(Math.Max(reader.ReadIdempotencyHorizonTicks(), database.CreatedTicks));
    }

    private static bool Fits(OperationKind operation, OperationStatus status) => operation switch
    {
        OperationKind.Put => status is OperationStatus.Stored or OperationStatus.NotModified,
        OperationKind.Delete => status is OperationStatus.Deleted or OperationStatus.NotFound,
        _ => status is OperationStatus.Patched or OperationStatus.Created or OperationStatus.NotModified or OperationStatus.Skipped or OperationStatus.NotFound,
    };

    private static RefusedException Reused() => new(
        StatusCodes.Status422UnprocessableEntity, RavenType.BadRequest, "This Idempotency-Key was used for another request. Nothing of this one was stored; give each request a key of its own.");

    private static IdempotencyKey Hash(string text) =>
        IdempotencyKey.TryCreate(Encoding.UTF8.GetBytes(text), out var key, out var error) ? key : throw RavenErrors.Refuse(error);
}
