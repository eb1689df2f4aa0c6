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
}
