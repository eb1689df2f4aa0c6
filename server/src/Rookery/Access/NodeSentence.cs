using Rookery.Server;
using Rookery.Server.Raven;

namespace Rookery.Access;

/// <summary>What a node says, for who runs a command: he writes no requests.</summary>
internal static class NodeSentence
{
    /// <summary>The sentence with commands and options where the node named headers and parameters.</summary>
    public static string ForOwner(string said) => said
        .Replace(LocalReads.ForPrograms, LocalReads.ForPeople, StringComparison.Ordinal)
        .Replace(HowToGetIn.ForPrograms, HowToGetIn.ForCommands, StringComparison.Ordinal);
}
