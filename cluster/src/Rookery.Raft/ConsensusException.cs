using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Rookery.Raft;

/// <summary>
/// A rule of the consensus was found broken. The node that threw it must stop: going on could lose what was
/// acknowledged.
/// </summary>
/// <param name="rule">The rule in words, present tense.</param>
public sealed class ConsensusException(string rule) : Exception($"Consensus rule broken: {rule}.")
{
    /// <summary>
    /// Others decided otherwise over what this node knows to be committed: they lost it, and it is here.
    /// </summary>
    internal const string CommitStays = "what is committed is never replaced";

    /// <summary>The rule, as given.</summary>
    public string Rule => rule;

    /// <summary>
    /// Whether this node has what was committed, and others lost it: who is right is the one that threw.
    /// </summary>
    public bool IsCommitLostElsewhere => string.Equals(rule, CommitStays, StringComparison.Ordinal);

    [StackTraceHidden]
    internal static void Unless([DoesNotReturnIf(false)] bool holds, string rule)
    {
        if (!holds)
        {
            throw new ConsensusException(rule);
        }
    }
}
