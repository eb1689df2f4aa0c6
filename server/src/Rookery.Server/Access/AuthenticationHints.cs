namespace Rookery.Server.Access;

/// <summary>Sentences that a refusal adds if the request carries no known credential: how to authenticate.</summary>
public static class AuthenticationHints
{
    /// <summary>Sentence for programs that send HTTP requests.</summary>
    public const string ForPrograms = "Send 'Authorization: Bearer TOKEN', or a client certificate of this cluster;";

    /// <summary>Sentence for users of a command.</summary>
    public const string ForCommands = "Name a file with a token by --token-file, or once by `rookery login`;";

    /// <summary>Sentence for users of a command that sent a token.</summary>
    public const string ForCommandsWithToken = "Use another token;";

    /// <summary>Sentence for users of a command that can find a running node by --data.</summary>
    public const string ForCommandsWithData = $"{ForCommands} on the node's machine --data needs none;";
}
