using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Identity;

/// <summary>The time at which a certificate is judged and signed.</summary>
/// <param name="Now">The time.</param>
/// <param name="IsSure">Whether the time is trusted. A clock that is not may be years slow: a machine without a battery
/// or the internet starts at the date of its system.</param>
public readonly record struct SigningClock(DateTimeOffset Now, bool IsSure)
{
    /// <summary>Returns the cluster's time if it is trusted, otherwise the machine's own, which is not.</summary>
    /// <param name="cluster">The cluster's time.</param>
    /// <param name="machine">The machine's clock.</param>
    public static SigningClock Of(ClusterTime cluster, TimeProvider machine) =>
        cluster is { IsSure: true, Known: { } sure }
            ? new SigningClock(sure, IsSure: true)
            : new SigningClock(machine.GetUtcNow(), IsSure: false);
}
