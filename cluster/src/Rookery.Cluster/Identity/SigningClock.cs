using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Identity;

/// <summary>The time at which a certificate is judged and signed.</summary>
/// <param name="Now">The time.</param>
/// <param name="IsSure">Whether the time is trusted. A time that is not trusted may be years too early.</param>
public readonly record struct SigningClock(DateTimeOffset Now, bool IsSure)
{
    /// <summary>
    /// Returns the first of these times: the cluster's time if it is trusted; the machine's time if its clock is
    /// synchronised; the cluster's time although it is not trusted (it continues from the last log time); 1970. A
    /// machine's clock that is not synchronised is never used: if it were years fast, clients would refuse the
    /// certificate for years.
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
