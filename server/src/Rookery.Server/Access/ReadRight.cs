using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>What routes that need only <c>write</c> keep from whoever may not read in the database too.</summary>
internal static class ReadRight
{
    /// <summary>Whether the sender may read documents of a database.</summary>
    public static bool IsHeld(HttpContext http, Database database) =>
        Principal.Of(http).May(AccessScopes.Read, database.Name);

    /// <summary>
    /// A script decides by what it reads; whether it fails, what it says and what it changes tell that.
    /// </summary>
    public static RefusedException MissingForScript(HttpContext http, Database database, string instead) =>
        Missing(http, database, "with a script", $"a script reads the document that it changes. {instead}");

    /// <summary>An index that somebody defined for it stops at documents that hold what it looks for.</summary>
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
