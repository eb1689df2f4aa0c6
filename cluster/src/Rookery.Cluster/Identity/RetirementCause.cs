namespace Rookery.Cluster.Identity;

/// <summary>The cause of a member's retirement.</summary>
public enum RetirementCause
{
    /// <summary>
    /// Other members refused this node for good: its data is a copy, or older than the cluster has seen.
    /// </summary>
    Excluded,

    /// <summary>The node found a rule of consensus broken, or its state differs from a majority's.</summary>
    Halted,
}
