namespace Rookery.Cluster;

/// <summary>The node's measurements for the core: its clock, its disk and the voters' disk space.</summary>
/// <param name="Time">The node's clock and the cluster's time.</param>
/// <param name="Health">The health of the store and the board.</param>
/// <param name="Space">The voters' disk space.</param>
internal sealed record NodeMeasures(ClusterTimeSource Time, StoreHealthMeter Health, VoterSpace Space)
{
    /// <summary>Measures disk and space, once a second. Under the lock of <see cref="RaftHost"/>.</summary>
    public void MeasureUnderLock()
    {
        Health.Measure();
        Space.Measure();
    }
}
