using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>
/// Checks the scope <c>read</c> within routes that need only <c>write</c>, where a parameter would reveal documents.
/// </summary>
internal static class ReadRight
{
    /// <summary>Whether the caller may read documents of a database.</summary>
    public static bool IsHeld(HttpContext http, Database database) =>
        Principal.Of(http).HasScope(AccessScopes.Read, database.Name);

    /// <summary>
    /// Returns the error for a script or JSON Patch of a caller without the scope <c>read</c>. Its failure, output and
    /// changes reveal the document that it reads.
    /// </summary>
    public static RefusedException MissingForScript(HttpContext http, Database database, string alternative) =>
        Missing(http, database, "with a script or JSON Patch", $"it reads the document that it changes. {alternative}");

    /// <summary>
    /// Returns the error for a wait for indexes by a caller without the scope <c>read</c>. The wait's duration can
    /// reveal documents: an index can be defined to stop at a certain value.
    /// </summary>
    public static RefusedException MissingForWait(HttpContext http, Database database) =>
        Missing(http, database, "that waits for indexes", "an index's progress can reveal what the documents hold.");

    /// <summary>
    /// Returns the error for a batch that reads counters, of a caller without the scope <c>read</c>.
    /// </summary>
    public static RefusedException MissingForCounters(HttpContext http, Database database) =>
        Missing(http, database, "that gets counters", "it reads their values.");

    /// <summary>
    /// Returns the error for a batch that copies or moves attachments, of a caller without the scope <c>read</c>.
    /// </summary>
    public static RefusedException MissingForCopies(HttpContext http, Database database) =>
        Missing(http, database, "that copies or moves attachments", "it reads them.");

    private static RefusedException Missing(HttpContext http, Database database, string qualifier, string reason) =>
        new(
            StatusCodes.Status403Forbidden,
            ErrorResponse.Forbidden,
            $"{http.Request.Method} {http.Request.Path} {qualifier} needs the scope read and write in database "
                + $"'{database.Name}', "
                + $"and '{Principal.Of(http).Name}' has write only: {reason} Nothing was stored."
        );
}
