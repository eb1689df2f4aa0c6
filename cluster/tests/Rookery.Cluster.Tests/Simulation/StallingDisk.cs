using Rookery.Cluster.Tests.Stress;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A disk whose syncs of the journal return when its member lets them.</summary>
internal sealed class StallingDisk(IDisk disk, SteppedMember member) : SlowDisk(disk)
{
    protected override void Take() => member.AwaitDisk();
}
