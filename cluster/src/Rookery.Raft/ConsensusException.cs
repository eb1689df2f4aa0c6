using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Rookery.Raft;

/// <summary>
/// A rule of the consensus is broken. The node that throws it must stop: continuing could lose acknowledged writes.
/// </summary>
/// <param name="rule">The rule in words, in the present tense.</param>
public sealed class ConsensusException(string rule) : Exception($"Consensus rule broken: {rule}.")
{
    /// <summary>
    /// The rule broken when a leader replaces an entry that this node knows to be committed: the other members lost
    /// that entry.
    /// </summary>
    internal const string CommitStays = "committed entries are never replaced";

    /// <summary>The rule that is broken.</summary>
    public string Rule => rule;

    /// <summary>Whether this node holds a committed entry that the other members lost.</summary>
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
