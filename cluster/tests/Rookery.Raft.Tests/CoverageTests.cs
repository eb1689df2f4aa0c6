using System.Diagnostics;
using Rookery.Raft.Tests.Scenarios;
using Rookery.Raft.Tests.Simulation;
using Xunit.Abstractions;

namespace Rookery.Raft.Tests;

/// <summary>
/// Checks that the scripts and seeds take each branch of the core that <see cref="RareBranch"/> lists. The seeds are
/// some known ones and, of each profile, SIMULATE_FRESH fresh ones; `make simulate-long` sets that variable.
/// </summary>
public sealed class CoverageTests(ITestOutputHelper report)
{
    private const int KnownSeeds = 14;

    [Fact]
    public void Scripts_and_seeds_take_every_rare_branch_of_the_core()
    {
        int fresh = SimulationRun.Setting("SIMULATE_FRESH");
        long start = Stopwatch.GetTimestamp();
        var cpuTimeBefore = Environment.CpuUsage.TotalTime;
        var runs = FaultProfile.All.Select(profile => new SimulationRun(profile.Name)).ToArray();
        Parallel.ForEach(
            runs,
            new ParallelOptions { MaxDegreeOfParallelism = fresh > 0 ? Environment.ProcessorCount : 1 },
            run => run.Play(Enumerable.Range(1, KnownSeeds).Concat(SimulationRun.FreshSeeds(fresh)))
        );
        double hours = Stopwatch.GetElapsedTime(start).TotalHours,
            coreHours = (Environment.CpuUsage.TotalTime - cpuTimeBefore).TotalHours;
        Array.ForEach(runs, run => report.WriteLine(run.ToString()));
        int seeds = runs.Sum(run => run.Seeds);
        report.WriteLine(
            $"{seeds:n0} seeds of 90 simulated seconds: {seeds / hours:n0} an hour, {seeds / coreHours:n0} an hour of one core"
        );

        long[] scripts = CountScripts();
        List<string> untaken = [];
        foreach (var branch in Enum.GetValues<RareBranch>())
        {
            long bySeeds = runs.Sum(run => run.Branches[(int)branch]);
            report.WriteLine($"{branch}: {bySeeds:n0} times in seeds, {scripts[(int)branch]:n0} in scripts");
            untaken.AddRange(bySeeds + scripts[(int)branch] == 0 ? [branch.ToString()] : []);
        }

        Assert.True(untaken.Count == 0, $"neither seeds nor scripts take {string.Join(", ", untaken)}");
    }

    /// <summary>Returns how often the scripts take each branch.</summary>
    private static long[] CountScripts()
    {
        long[] before = [.. Coverage.Counts];
        Array.ForEach(Scenario.All, scenario => scenario.Play(PlantedBug.None));
        return [.. Coverage.Counts.Zip(before, (after, earlier) => after - earlier)];
    }
}
