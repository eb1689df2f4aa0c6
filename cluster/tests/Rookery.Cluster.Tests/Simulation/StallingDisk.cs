using Rookery.Cluster.Tests.Stress;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A disk whose journal syncs return only when the member's simulated disk has no stall.</summary>
internal sealed class StallingDisk(IDisk disk, SteppedMember member) : SlowDisk(disk)
{
    protected override void WaitBeforeSync() => member.AwaitDisk();
}
