using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Access;

/// <summary>
/// Rewrites a node's messages for the user of a command: replaces HTTP headers and parameters by options of commands.
/// </summary>
internal static class NodeSentence
{
    /// <summary>Returns the message with options of commands instead of HTTP headers and parameters.</summary>
    /// <param name="message">The node's message.</param>
    /// <param name="node">How the command connects to the node.</param>
    public static string ForCommandUser(string message, NodeConnection node) =>
        message
            .Replace(
                LocalReads.ForPrograms,
                node.HasLocalReads ? LocalReads.ForCommands : LocalReads.ForOtherCommands,
                StringComparison.Ordinal
            )
            .Replace(
                AuthenticationHints.ForPrograms,
                node.Token is not null ? AuthenticationHints.ForCommandsWithToken
                    : node.IsFoundByData ? AuthenticationHints.ForCommandsWithData
                    : AuthenticationHints.ForCommands,
                StringComparison.Ordinal
            );
}
