using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;

namespace Rookery.Server.Raven;

/// <summary>
/// Decides which writes a client may send again if their outcome is unknown: those with the same effect when they are
/// applied twice in a row. After 504 RavenDB's clients repeat the request at the next node, as they do when a
/// connection breaks; after 500 they leave it to the application. Without an Idempotency-Key, a repetition overwrites
/// what others wrote in between, as after a broken connection; docs/reference/http.md documents it.
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
    /// Whether the id is complete: to an id that ends with / or | the server appends a new number each time.
    /// </summary>
    private static bool IsWhole(ReadOnlySpan<char> id) => id is [.., not ('/' or '|')];
}
