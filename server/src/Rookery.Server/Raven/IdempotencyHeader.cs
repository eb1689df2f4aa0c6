using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;

namespace Rookery.Server.Raven;

/// <summary>The key by which a repeated write is recognised.</summary>
internal static class IdempotencyHeader
{
    /// <summary>The key of the Idempotency-Key header; none when there is no header.</summary>
    /// <exception cref="RefusedException">It is empty or too long.</exception>
    public static IdempotencyKey Read(HttpContext http)
    {
        var header = http.Request.Headers["Idempotency-Key"];
        return header.Count == 0 ? IdempotencyKey.None : Hash(header.ToString());
    }

    /// <summary>The key of the header or, without one, of raft-request-id: RavenDB's clients repeat identity/next with the same one after a failure.</summary>
    public static IdempotencyKey ReadOrRequestId(HttpContext http)
    {
        var key = Read(http);
        return !key.IsPresent && new QueryParameters(http).Text("raft-request-id") is { Length: > 0 } requestId ? Hash(requestId) : key;
    }

    private static IdempotencyKey Hash(string text) =>
        IdempotencyKey.TryCreate(Encoding.UTF8.GetBytes(text), out var key, out var error) ? key : throw RavenErrors.Refuse(error);
}
