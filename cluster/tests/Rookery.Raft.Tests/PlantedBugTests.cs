using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests;

/// <summary>The simulator is worth as much as it finds: every planted bug falls within some seeds of all profiles. Those that no seed finds fall in <see cref="ScenarioTests"/>.</summary>
public sealed class PlantedBugTests
{
    private const int MostSeeds = 30;

    public static TheoryData<string> Bugs => [.. PlantedBugs.All.Keys.Except(PlantedBugs.OnlyInScripts, StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Bugs))]
    public void A_planted_bug_is_found(string bug)
    {
        for (int seed = 1; seed <= MostSeeds; seed++)
        {
            if (Array.Exists(FaultProfile.All, profile => IsFound(bug, profile, seed)))
            {
                return;
            }
        }

        Assert.Fail($"{MostSeeds} seeds of each profile did not find that {bug}");
    }

    private static bool IsFound(string bug, FaultProfile profile, int seed)
    {
        try
        {
            new SimulatedCluster(seed, profile, PlantedBugs.All[bug], new Dictionary<string, int>(StringComparer.Ordinal)).Run();
            return false;
        }
        catch (Exception found) when (found is ConsensusException or Xunit.Sdk.XunitException)
        {
            return true;
        }
    }
}
