using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;

namespace Rookery.Server.Raven;

/// <summary>
/// Which writes a client may send again when nobody can say whether they were stored: those that come to the same when
/// they are done twice in a row. RavenDB's clients do that by themselves after 504, at the next node, as they do when a
/// connection breaks; after 500 they leave it to the application. Without a key, what others write in between is
/// overwritten, as after a broken connection: http.md says so.
/// </summary>
internal static class RepeatableWrite
{
    /// <summary>
    /// Whether the PUT of a document may: the client has named it and expects nothing of it, or the server knows the
    /// request again.
    /// </summary>
    public static bool IsPut(HttpContext http, ReadOnlySpan<char> id) =>
        IsKnownAgain(http) || (IsWhole(id) && ExpectsNothing(http));

    /// <summary>Whether the DELETE of a document may.</summary>
    public static bool IsDelete(HttpContext http) => IsKnownAgain(http) || ExpectsNothing(http);

    /// <summary>Whether an operation of a batch without a key may.</summary>
    public static bool Is(OperationKind kind, ReadOnlySpan<char> id, in ExpectedChangeVector expected) =>
        expected.Expectation == Expectation.Anything
        && (kind == OperationKind.Delete || (kind == OperationKind.Put && IsWhole(id)));

    /// <summary>Whether the request has a key.</summary>
    public static bool IsKnownAgain(HttpContext http) => IdempotencyHeader.Read(http).IsPresent;

    private static bool ExpectsNothing(HttpContext http) => http.Request.Headers.IfMatch.Count == 0;

    /// <summary>The server makes the rest of an id that ends so, another one each time.</summary>
    private static bool IsWhole(ReadOnlySpan<char> id) => id is [.., not ('/' or '|')];
}
