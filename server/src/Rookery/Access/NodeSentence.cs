using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Access;

/// <summary>What a node says, for who runs a command: he writes no requests.</summary>
internal static class NodeSentence
{
    /// <summary>The sentence with commands and options where the node named headers and parameters.</summary>
    /// <param name="said">The node's sentence.</param>
    /// <param name="node">The node, and how the command finds it.</param>
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
