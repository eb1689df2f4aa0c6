namespace Rookery.Server.Access;

/// <summary>What a refusal adds for who came without a credential that is known.</summary>
public static class HowToGetIn
{
    /// <summary>For whoever writes the request.</summary>
    public const string ForPrograms = "Send 'Authorization: Bearer TOKEN', or a client certificate of this cluster;";

    /// <summary>For whoever runs a command.</summary>
    public const string ForCommands = "Name a file with a token by --token-file, or once by `rookery login`;";

    /// <summary>The same, of a command that finds a running node by --data.</summary>
    public const string ForCommandsWithData = $"{ForCommands} on the node's machine --data needs none;";
}
