using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests;

/// <summary>The membership changes that a leader accepts.</summary>
public sealed class MemberChangeTests
{
    /// <summary>
    /// The voter that fetches answers, but after the removal each write would wait until it has the state. It also
    /// could not become leader if the leader's tables were damaged meanwhile.
    /// </summary>
    [Fact]
    public void No_member_is_removed_while_a_remaining_one_fetches_a_state()
    {
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);
        world.Flush(1);
        world.FetchesWait = true;
        world.Connect(1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 5);
        Assert.True(world[1].Core!.ReadPeers().All(static peer => peer.IsReachable), "all answer");
        Assert.Equal(ChangeAnswer.NoMajority, world.Change(1, MemberChange.Removed, 2));
        world.FetchesWait = false;
        world.AdvanceTimeOfAll(seconds: 5);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Removed, 2));
    }
}
