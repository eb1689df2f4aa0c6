using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests;

/// <summary>The hashes of outcomes by which members notice that they applied an entry differently.</summary>
public sealed class OutcomeTests
{
    /// <summary>Outcomes from before an install do not belong to the installed state.</summary>
    [Fact]
    public void A_node_that_installed_a_state_ignores_hashes_of_earlier_entries()
    {
        var three = new NodeId(3);
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        world[3].Diverge(); // its results, and so its outcome hashes, differ from now on
        world.Propose(1, payload: 7);
        Assert.Equal(2, world[3].Applied);
        world.Connect(1, 2);
        world.Propose(1, payload: 8);
        world.Flush(1);
        world.Connect(1, 2, 3);
        world.IsDelivered = message => message.To != three || message.Kind != MessageKind.Heartbeat;
        world.AdvanceTimeOfAll(seconds: 4);
        Assert.Equal(3, world[3].Store.Manifest.Position.Index);

        world.IsDelivered = _ => true;
        world.Receive(
            new Message
            {
                Kind = MessageKind.Heartbeat,
                From = new NodeId(world.Leader),
                To = three,
                Term = world[world.Leader].Core!.Term,
                StartNumber = 1,
                Outcome = new OutcomeHash(Index: 2, Hash: 4711),
                ElectionTimeoutMicroseconds = 1_500_000,
            }
        );
        Assert.True(world[3].IsRunning, "node 3 does not halt");
    }

    /// <summary>
    /// The removed voter leaves before its next reply, so no reply ends the comparison. More entries are applied than
    /// outcomes are kept.
    /// </summary>
    [Fact]
    public void Entries_are_proposed_again_once_the_voter_that_differed_is_removed()
    {
        var world = new ScriptedWorld(PlantedBug.None, voters: 2);
        world.Elect(1);
        world[2].Diverge();
        world.Propose(1, payload: 7);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 8);
        Assert.Equal(2, world[1].Core!.Last.Index); // the second proposal was refused
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Removed, 2));
        const int Entries = 1_100;
        for (int entry = 0; entry < Entries; entry++)
        {
            world.Propose(1, payload: 9 + entry);
        }

        Assert.Equal(3 + Entries, world[1].Applied);
    }
}
