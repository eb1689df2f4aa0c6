using Rookery.Raft.Tests.Simulation;
using Xunit.Abstractions;

namespace Rookery.Raft.Tests;

/// <summary>
/// Tests the simulator: for each planted bug, one of the first seeds must fail with the bug's known symptom, and pass
/// without the bug. <see cref="ScenarioTests"/> covers the bugs that no seed finds.
/// </summary>
public sealed class PlantedBugTests(ITestOutputHelper report)
{
    private const int MaxSeeds = 30;

    public static TheoryData<string> Bugs =>
        [.. PlantedBugs.All.Keys.Except(PlantedBugs.OnlyInScripts, StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Bugs))]
    public void The_simulator_finds_a_planted_bug(string bug)
    {
        for (int seed = 1; seed <= MaxSeeds; seed++)
        {
            foreach (var profile in FaultProfile.All)
            {
                if (SymptomOf(PlantedBugs.All[bug], profile, seed) is { } symptom)
                {
                    report.WriteLine($"{profile.Name}, seed {seed}: {symptom}");
                    Assert.True(
                        SymptomOf(PlantedBug.None, profile, seed) is null,
                        $"profile '{profile.Name}', seed {seed}: fails without a bug too"
                    );
                    Assert.Contains(
                        PlantedBugs.Symptoms[bug],
                        expected => symptom.Contains(expected, StringComparison.Ordinal)
                    );
                    return;
                }
            }
        }

        Assert.Fail($"{MaxSeeds} seeds of each profile did not find that {bug}");
    }

    private static string? SymptomOf(PlantedBug bug, FaultProfile profile, int seed)
    {
        try
        {
            new SimulatedCluster(seed, profile, bug, new Dictionary<string, int>(StringComparer.Ordinal)).Run();
            return null;
        }
        catch (Exception failure) when (failure is ConsensusException or Xunit.Sdk.XunitException)
        {
            return failure.Message;
        }
    }
}
