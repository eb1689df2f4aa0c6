using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Access;

/// <summary>Rewrites a node's messages for the user of a command, who sees no HTTP headers and parameters.</summary>
internal static class NodeSentence
{
    /// <summary>Returns the message with options of commands in place of HTTP headers and parameters.</summary>
    /// <param name="said">The node's message.</param>
    /// <param name="node">How the command connects to the node.</param>
    public static string ForOwner(string said, NodeConnection node) =>
        said.Replace(
                LocalReads.ForPrograms,
                node.HasLocalReads ? LocalReads.ForCommands : LocalReads.ForPeople,
                StringComparison.Ordinal
            )
            .Replace(
                HowToGetIn.ForPrograms,
                node.IsFoundByData ? HowToGetIn.ForCommandsWithData : HowToGetIn.ForCommands,
                StringComparison.Ordinal
            );
}
