namespace Rookery.Server.Access;

/// <summary>
/// Beginnings of the sentence by which a refusal tells how to authenticate. The rest tells who makes credentials.
/// </summary>
public static class AuthenticationHints
{
    /// <summary>For programs that send HTTP requests.</summary>
    public const string ForPrograms = "Send 'Authorization: Bearer TOKEN', or a client certificate of this cluster;";

    /// <summary>For users of a command.</summary>
    public const string ForCommands = "Name a file with a token by --token-file, or once by `rookery login`;";

    /// <summary>For users of a command that sent a token.</summary>
    public const string ForCommandsWithToken = "Use another token;";

    /// <summary>For users of a command that can find a running node by --data.</summary>
    public const string ForCommandsWithData = $"{ForCommands} on the node's machine --data needs none;";
}
