using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests;

/// <summary>What a leader and a follower learn of each other after they had no contact.</summary>
public sealed class LostContactTests
{
    /// <summary>Otherwise the new leader would report that the follower lacks all entries.</summary>
    [Fact]
    public void A_new_leader_reports_no_progress_of_a_follower_before_its_first_append_reply()
    {
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        world.IsDelivered = static message => message.Kind is not MessageKind.AppendReply;
        world.Transfer(from: 1, to: 2);
        Assert.Equal(Role.Leader, world[2].Core!.Role);
        world.AdvanceTimeOfAll(seconds: 0.3);
        Assert.All(world[2].Core!.ReadPeers(), static peer => Assert.True(peer is { IsReachable: true, Match: null }));
        world.IsDelivered = static _ => true;
        world.AdvanceTimeOfAll(seconds: 5);
        Assert.All(world[2].Core!.ReadPeers(), peer => Assert.Equal(world[2].Core!.Last.Index, peer.Match));
    }

    /// <summary>
    /// The follower has all entries, but lost the leader before it learned that they are committed. No later write
    /// informs it.
    /// </summary>
    [Fact]
    public void A_follower_that_finds_its_leader_again_learns_the_commit_index_without_a_new_write()
    {
        var three = new NodeId(3);
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        world.IsDelivered = message => message.To != three || message.Kind is MessageKind.Append;
        world.Propose(1, payload: 7);
        Assert.Equal((2, 2, 1), (world[1].Applied, world[3].Core!.DurableIndex, world[3].Applied));
        world.Connect(1, 2);
        world.AdvanceTimeOfAll(seconds: 5);
        Assert.True(world[3].Core!.Leader.IsNone, "3 lost its leader");
        world.Connect(1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 5);
        Assert.Equal((new NodeId(1), 2), (world[3].Core!.Leader, world[3].Applied));
    }
}
