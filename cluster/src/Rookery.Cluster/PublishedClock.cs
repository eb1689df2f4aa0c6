using Rookery.Documents.Consensus;

namespace Rookery.Cluster;

/// <summary>
/// The cluster's time as of the core's last step. Each request that may find an expired document reads it, without the
/// lock.
/// </summary>
/// <remarks>
/// Between two steps the cluster's time advances with this node's monotonic time, so their difference is all that a
/// reader needs. <see cref="Publish"/> is called under the lock of <see cref="RaftHost"/> after each step, so readers
/// get the same time as the core.
/// </remarks>
internal sealed class PublishedClock(RaftHost host)
{
    private Reading? _reading;

    /// <summary>Whether the cluster's time is known.</summary>
    public bool IsKnown => Volatile.Read(ref _reading) is not null;

    /// <summary>Returns the cluster's time; the default while it is not known.</summary>
    /// <param name="now">The monotonic time (<see cref="RaftHost.Now"/>).</param>
    public ClusterTime At(long now) =>
        Volatile.Read(ref _reading) is { } reading
            ? new ClusterTime(reading.DifferenceTicks + (now * TimeSpan.TicksPerMicrosecond), reading.IsSure)
            : default;

    /// <summary>Publishes the time of the core, if the last step changed it. Under the lock.</summary>
    public void Publish()
    {
        var (differenceTicks, isSure) = host.Core.ReadClock(nowMicroseconds: 0);
        var known = _reading;
        if (known is null ? differenceTicks != 0 : known.DifferenceTicks != differenceTicks || known.IsSure != isSure)
        {
            Volatile.Write(ref _reading, new Reading(differenceTicks, isSure));
        }
    }

    /// <summary>The cluster's time at one step of the core.</summary>
    /// <param name="DifferenceTicks">The cluster's time minus the monotonic time.</param>
    /// <param name="IsSure">Whether the cluster's time is not in doubt.</param>
    private sealed record Reading(long DifferenceTicks, bool IsSure);
}
