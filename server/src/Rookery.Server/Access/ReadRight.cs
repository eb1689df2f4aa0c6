using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>
/// Checks the right to read on routes that need only <c>write</c>, for parts of them that reveal documents.
/// </summary>
internal static class ReadRight
{
    /// <summary>Whether the caller may read documents of a database.</summary>
    public static bool IsHeld(HttpContext http, Database database) =>
        Principal.Of(http).May(AccessScopes.Read, database.Name);

    /// <summary>
    /// Returns the error for a script: its failure, its output and its changes reveal the document that it reads.
    /// </summary>
    public static RefusedException MissingForScript(HttpContext http, Database database, string instead) =>
        Missing(http, database, "with a script", $"a script reads the document that it changes. {instead}");

    /// <summary>
    /// Returns the error for a wait: an index defined for the purpose can stop at documents with a certain value.
    /// </summary>
    public static RefusedException MissingForWait(HttpContext http, Database database) =>
        Missing(http, database, "that waits for indexes", "how far an index comes tells what the documents hold.");

    private static RefusedException Missing(HttpContext http, Database database, string what, string why) =>
        new(
            StatusCodes.Status403Forbidden,
            ErrorAnswer.Forbidden,
            $"{http.Request.Method} {http.Request.Path} {what} needs the scope read and write in database "
                + $"'{database.Name}', "
                + $"and '{Principal.Of(http).Name}' has write only: {why} Nothing was stored."
        );
}
