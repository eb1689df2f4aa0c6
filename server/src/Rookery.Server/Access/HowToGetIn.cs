namespace Rookery.Server.Access;

/// <summary>Sentences added to a refusal without a known credential.</summary>
public static class HowToGetIn
{
    /// <summary>For programs that send HTTP requests.</summary>
    public const string ForPrograms = "Send 'Authorization: Bearer TOKEN', or a client certificate of this cluster;";

    /// <summary>For users of a command.</summary>
    public const string ForCommands = "Name a file with a token by --token-file, or once by `rookery login`;";

    /// <summary>For users of a command that finds a running node by --data.</summary>
    public const string ForCommandsWithData = $"{ForCommands} on the node's machine --data needs none;";
}
