using Microsoft.AspNetCore.Http;
using Rookery.Documents;
using Rookery.Server.Raven;

namespace Rookery.Server;

/// <summary>What routes that need only <c>write</c> keep from whoever may not read in the database too.</summary>
internal static class ReadRight
{
    /// <summary>Whether the sender may read documents of a database.</summary>
    public static bool IsHeld(HttpContext http, Database database) =>
        Principal.Of(http).May(AccessScopes.Read, database.Name);

    /// <summary>A script decides by what it reads; whether it fails, what it says and what it changes tell that.</summary>
    public static RefusedException MissingForScript(HttpContext http, Database database, string instead) => new(
        StatusCodes.Status403Forbidden,
        ErrorAnswer.Forbidden,
        $"{http.Request.Method} {http.Request.Path} with a script needs the scope read and write in database '{database.Name}', "
            + $"and '{Principal.Of(http).Name}' has write only: a script reads the document that it changes. "
            + $"Nothing was stored. {instead}");
}
