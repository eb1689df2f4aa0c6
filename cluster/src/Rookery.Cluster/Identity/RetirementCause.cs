namespace Rookery.Cluster.Identity;

/// <summary>What retired a member's data.</summary>
public enum RetirementCause
{
    /// <summary>
    /// Other members refused them for good: they are a copy, or older than what the cluster has of them.
    /// </summary>
    Excluded,

    /// <summary>The node found a rule of consensus broken, or came to other results than a majority.</summary>
    Halted,
}
