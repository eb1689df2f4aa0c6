using Rookery.Cluster.Tests.Stress;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A disk whose journal syncs return when the member permits.</summary>
internal sealed class StallingDisk(IDisk disk, SteppedMember member) : SlowDisk(disk)
{
    protected override void WaitBeforeSync() => member.AwaitDisk();
}
