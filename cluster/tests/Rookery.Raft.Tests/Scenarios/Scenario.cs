using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

/// <summary>A script that a sound core and host survive and a planted bug does not.</summary>
/// <param name="Name">Its name in docs/explanation/consensus.md.</param>
/// <param name="Holds">The property that the script checks, as a sentence.</param>
/// <param name="Bug">The planted bug, by its name in <see cref="PlantedBugs"/>.</param>
/// <param name="Symptom">A part of the failure's message that the bug causes.</param>
/// <param name="Script">The script.</param>
internal sealed record Scenario(string Name, string Holds, string Bug, string Symptom, Action<ScriptedWorld> Script)
{
    /// <summary>The number of voters, whose ids are 1, 2 …</summary>
    public int Voters { get; init; } = 3;

    /// <summary>The number of learners, whose ids follow the voters'.</summary>
    public int Learners { get; init; }

    /// <summary>The number of nodes that know no member, as before they join; their ids follow the learners'.</summary>
    public int UnknownPeers { get; init; }

    public static Scenario[] All { get; } =
    [
        .. ElectionScenarios.All,
        .. ReplicationScenarios.All,
        .. ReadScenarios.All,
        .. MembershipScenarios.All,
        .. DamageScenarios.All,
        .. ClockScenarios.All,
    ];

    public void Play(PlantedBug bug) => Script(new ScriptedWorld(bug, Voters, Learners, UnknownPeers));
}
