using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Rookery.Raft;

/// <summary>A rule of the consensus was found broken. The node that threw it must stop: going on could lose what was acknowledged.</summary>
/// <param name="rule">The rule in words, present tense.</param>
public sealed class ConsensusException(string rule) : Exception($"Consensus rule broken: {rule}.")
{
    [StackTraceHidden]
    internal static void Unless([DoesNotReturnIf(false)] bool holds, string rule)
    {
        if (!holds)
        {
            throw new ConsensusException(rule);
        }
    }
}
