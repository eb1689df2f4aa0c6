using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests;

/// <summary>The election timeout that a leader measures and sends with its heartbeats.</summary>
public sealed class ElectionTimeoutTests
{
    /// <summary>Each round of reads sends heartbeats, so none is due by itself.</summary>
    [Fact]
    public void The_election_timeout_follows_the_slowest_sync_while_reads_send_all_heartbeats()
    {
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        var health = new StoreHealth(SyncMicroseconds: 1_000_000, StallMicroseconds: 0, BoardPenalty: 0);
        world[1].Step(Input.Measured(world.Now, health));
        for (int reads = 0; reads < 40; reads++)
        {
            world.AdvanceTime(id: 1, microseconds: 50_000);
            world.Read(1);
        }

        Assert.InRange(world[1].Core!.ElectionTimeoutMicroseconds, 4_000_000, 4_100_000);
        Assert.Equal(world[1].Core!.ElectionTimeoutMicroseconds, world[2].Core!.ElectionTimeoutMicroseconds);
    }

    /// <summary>A thousand rounds of reads take a second here, and each is a quick round trip.</summary>
    [Fact]
    public void A_slow_round_trip_counts_also_after_many_quick_rounds_of_reads()
    {
        var two = new NodeId(2);
        var world = new ScriptedWorld(PlantedBug.None, voters: 3);
        world.Elect(1);
        world.IsDelayed = message => message.From == two && message.Kind == MessageKind.HeartbeatReply;
        world.AdvanceTime(id: 1, microseconds: 300_000);
        world.AdvanceTime(id: 1, microseconds: 400_000);
        world.DeliverDelayed();
        for (int reads = 0; reads < 1_000; reads++)
        {
            world.AdvanceTime(id: 1, microseconds: 1_000);
            world.Read(1);
        }

        Assert.Equal(4_000_000, world[1].Core!.ElectionTimeoutMicroseconds);
    }
}
