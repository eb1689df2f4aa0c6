using Rookery.Simulation;

namespace Rookery.Crash.Tests;

public sealed class NodeOpeningTests
{
    /// <summary>All that is synced in a directory is lost with the directory's own name.</summary>
    [Fact]
    public void A_new_data_directory_survives_a_power_cut_with_the_directories_above_it()
    {
        var disk = SimulatedDisk.WithSecondDevice("/", SteppedNode.OtherDevice);
        SteppedNode.Open(disk, new SimulatedTimeProvider(), journalElsewhere: true).Dispose();
        for (int seed = 0; seed < 30; seed++)
        {
            var image = disk.AfterPowerLoss(seed);
            Assert.True(image.Exists(SteppedNode.Directory + "/format"), $"seed {seed}");
            SteppedNode.Open(image, new SimulatedTimeProvider(), journalElsewhere: true).Dispose();
        }
    }
}
