namespace Rookery.Cluster;

/// <summary>Groups the node's measurements for the core, to pass them together.</summary>
/// <param name="Time">The node's clock and the cluster's time.</param>
/// <param name="Health">The health of the store and the board.</param>
/// <param name="Space">The voters' disk space.</param>
internal sealed record NodeMeasures(ClusterTimeSource Time, StoreHealthMeter Health, VoterSpace Space)
{
    /// <summary>
    /// Measures the disk and the space. Called once a second, under the lock of <see cref="RaftHost"/>.
    /// </summary>
    public void MeasureUnderLock()
    {
        Health.Measure();
        Space.Measure();
    }
}
