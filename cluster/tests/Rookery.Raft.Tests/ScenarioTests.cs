using Rookery.Raft.Tests.Scenarios;

namespace Rookery.Raft.Tests;

/// <summary>
/// The named scenarios of docs/explanation/consensus.md as scripts. Each finds a bug that another system had. Random
/// runs find these bugs late or never: the commit of an old term's entry at seed 670 or not at all, two membership
/// changes in two terms not in 6,000 seeds.
/// </summary>
public sealed class ScenarioTests
{
    public static TheoryData<string, string> Scripts
    {
        get
        {
            TheoryData<string, string> scripts = [];
            Array.ForEach(Scenario.All, scenario => scripts.Add(scenario.Name, scenario.Holds));
            return scripts;
        }
    }

    [Theory]
    [MemberData(nameof(Scripts))]
    public void The_core_without_a_planted_bug_passes_the_scenario(string name, string holds)
    {
        Assert.NotEmpty(holds);
        Find(name).Play(PlantedBug.None);
    }

    [Theory]
    [MemberData(nameof(Scripts))]
    public void A_scenario_finds_its_planted_bug(string name, string holds)
    {
        Assert.NotEmpty(holds);
        var scenario = Find(name);
        var failure = Assert.ThrowsAny<Exception>(() => scenario.Play(PlantedBugs.All[scenario.Bug]));
        Assert.Contains(scenario.Symptom, failure.Message, StringComparison.Ordinal);
    }

    private static Scenario Find(string name) =>
        Scenario.All.Single(scenario => string.Equals(scenario.Name, name, StringComparison.Ordinal));
}
