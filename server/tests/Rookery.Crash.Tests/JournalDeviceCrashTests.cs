using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Power cuts of a node whose journal is on a second device. Each device keeps its own choice of unsynced sectors.
/// </summary>
[Trait("Effort", "Whole")]
public sealed class JournalDeviceCrashTests
{
    internal const int Points = 4000;

    [Fact]
    public void Acknowledged_commands_survive_whatever_each_device_loses()
    {
        var search = new CrashSearch { Points = Points, Runs = 40 };
        search.Verify(
            static seed => NodeWorkload.Run(seed, journalElsewhere: true),
            static (image, run, operation) => run.Check(image, operation)
        );
        Assert.True(search.Judged >= Points || CrashSearch.IsReplay, $"only {search.Judged} power cuts were judged");
    }
}
