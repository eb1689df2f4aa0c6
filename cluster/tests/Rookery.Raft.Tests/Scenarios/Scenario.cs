using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

/// <summary>A script that a sound core and host survive and a planted bug does not.</summary>
/// <param name="Name">Its name in docs/explanation/consensus.md.</param>
/// <param name="Holds">The property, as a sentence.</param>
/// <param name="Bug">The planted bug, by its name in <see cref="PlantedBugs"/>.</param>
/// <param name="Symptom">The message of the bug.</param>
/// <param name="Script">The script.</param>
internal sealed record Scenario(string Name, string Holds, string Bug, string Symptom, Action<ScriptedWorld> Script)
{
    public int Voters { get; init; } = 3;

    public int Learners { get; init; }

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
