using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;

namespace Rookery.Server.Raven;

/// <summary>
/// Decides which writes a client may send again if their outcome is unknown: those with the same effect if they are
/// applied twice in a row. For these the answer is 504, after which RavenDB's clients repeat the request at the next
/// node, as they do when a connection breaks. For other writes the answer is 500, which the clients leave to the
/// application. Without an Idempotency-Key, a repetition overwrites writes of other clients in between
/// (docs/reference/http.md).
/// </summary>
internal static class RepeatableWrite
{
    /// <summary>
    /// Whether a PUT of a document is repeatable: the request has an Idempotency-Key, or its id is complete and it
    /// expects no change vector.
    /// </summary>
    public static bool IsPut(HttpContext http, ReadOnlySpan<char> id) =>
        HasKey(http) || (IsWhole(id) && ExpectsNothing(http));

    /// <summary>Whether a DELETE of a document is repeatable.</summary>
    public static bool IsDelete(HttpContext http) => HasKey(http) || ExpectsNothing(http);

    /// <summary>Whether one operation of a batch without a key is repeatable.</summary>
    public static bool IsOperation(OperationKind kind, ReadOnlySpan<char> id, in ExpectedChangeVector expected) =>
        expected.Expectation == Expectation.Anything
        && (kind == OperationKind.Delete || (kind == OperationKind.Put && IsWhole(id)));

    /// <summary>Whether the request has an Idempotency-Key.</summary>
    public static bool HasKey(HttpContext http) => IdempotencyHeader.Read(http).IsPresent;

    private static bool ExpectsNothing(HttpContext http) => http.Request.Headers.IfMatch.Count == 0;

    /// <summary>
    /// Whether the id is complete. If it ends with / or |, the server appends a new number each time.
    /// </summary>
    private static bool IsWhole(ReadOnlySpan<char> id) => id is [.., not ('/' or '|')];
}
