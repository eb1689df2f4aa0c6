using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Identity;

/// <summary>The time at which a certificate is judged and signed.</summary>
/// <param name="Now">The time.</param>
/// <param name="IsSure">Whether the time is trusted. One that is not may be years too early.</param>
public readonly record struct SigningClock(DateTimeOffset Now, bool IsSure)
{
    /// <summary>
    /// Returns the cluster's time if it is trusted, otherwise that of the machine's clock if that is synchronised. A
    /// clock that is neither may be years slow or fast, so it is not used: the time is the cluster's, which is then not
    /// trusted and continues from the last log time, or 1970 if that is not known. A fast clock would sign a
    /// certificate that clients refuse until the time is trusted again.
    /// </summary>
    /// <param name="cluster">The cluster's time.</param>
    /// <param name="machine">The machine's clock.</param>
    /// <param name="isSynchronised">Whether the machine's clock is synchronised with a time source.</param>
    public static SigningClock Of(ClusterTime cluster, TimeProvider machine, bool isSynchronised)
    {
        if (cluster is { IsSure: true, Known: { } sure })
        {
            return new SigningClock(sure, IsSure: true);
        }

        return isSynchronised
            ? new SigningClock(machine.GetUtcNow(), IsSure: true)
            : new SigningClock(cluster.Known ?? DateTimeOffset.UnixEpoch, IsSure: false);
    }
}
