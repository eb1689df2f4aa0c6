namespace Rookery.Cluster;

/// <summary>What a node measures of its machine and tells the core: its clock, its disk and the voters' room.</summary>
/// <param name="Time">The node's clock, and the cluster's time.</param>
/// <param name="Health">How the store and the board do.</param>
/// <param name="Space">The room of the voters.</param>
internal sealed record NodeMeasures(ClusterTimeSource Time, StoreHealthMeter Health, VoterSpace Space)
{
    /// <summary>Measures disk and room anew, once a second. Under the lock of <see cref="RaftHost"/>.</summary>
    public void TakeUnderLock()
    {
        Health.Measure();
        Space.Measure();
    }
}
