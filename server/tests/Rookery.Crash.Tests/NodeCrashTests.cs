using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Power cuts of a whole node. Together with <see cref="JournalDeviceCrashTests"/>, each run of the tests makes ten
/// thousand cuts.
/// </summary>
[Trait("Effort", "Whole")]
public sealed class NodeCrashTests
{
    internal const int Points = 6000;

    [Fact]
    public void Acknowledged_commands_survive_two_power_cuts_and_no_command_is_partly_applied()
    {
        var search = new CrashSearch { Points = Points, Runs = 60 };
        var done = default(WorkDone);
        search.Verify(
            seed =>
            {
                var run = NodeWorkload.Run(seed);
                done += run.Run.Done;
                return run;
            },
            static (image, run, operation) => run.Check(image, operation)
        );
        if (!CrashSearch.IsReplay)
        {
            Assert.True(search.Judged >= Points, $"only {search.Judged} power cuts were judged");
            Assert.True(
                done is { Flushes: > 600, Compactions: > 1200, ReleasedFrames: > 3000, Restarts: > 120 },
                $"the runs did too little for the power cuts to cover: {done}"
            );
        }
    }

    [Fact]
    public void Values_counters_and_cluster_transactions_survive_power_cuts_completely()
    {
        const int ValuePoints = 1500;
        var search = new CrashSearch { Points = ValuePoints, Runs = 15 };
        search.Verify(
            static seed => NodeWorkload.Run(seed, withValues: true),
            static (image, run, operation) => run.Check(image, operation)
        );
        if (!CrashSearch.IsReplay)
        {
            Assert.True(search.Judged >= ValuePoints, $"only {search.Judged} power cuts were judged");
        }
    }

    [Fact]
    public void Two_searches_make_ten_thousand_power_cuts() =>
        Assert.InRange(Points + JournalDeviceCrashTests.Points, 10_000, int.MaxValue);
}
