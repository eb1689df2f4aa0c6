using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

internal static class ReadScenarios
{
    public static Scenario[] All { get; } =
    [
        new(
            "pause-then-stale-read",
            "a leader that was replaced without its knowledge answers no read",
            "reads are served without a heartbeat round",
            "had been acknowledged before it began",
            PauseThenStaleRead
        ),
        new(
            "read-id-reused",
            "a reply to a read request of an earlier start is ignored",
            "the starts of a member are not counted",
            "had been acknowledged before it began",
            ReadIdReused
        ),
        new(
            "refusal-confirms-read",
            "the refusal of a heartbeat of an earlier term confirms no read",
            "a refusal confirms a round of reads",
            "had been acknowledged before it began",
            RefusalConfirmsRead
        ),
        new(
            "read-before-no-op",
            "a new leader answers no read before it knows the commit index",
            "reads are served before an entry of the term is committed",
            "had been acknowledged before it began",
            ReadBeforeNoOp
        ),
    ];

    private static void PauseThenStaleRead(ScriptedWorld world)
    {
        var one = new NodeId(1);
        world.Elect(1);
        world.Propose(1, payload: 7);
        world.IsDelivered = message =>
            message.Kind == MessageKind.TimeoutNow || (message.From != one && message.To != one);
        world.TimeOutNow(leader: 1, voter: 2);
        world.Propose(2, payload: 8);
        Assert.Equal(Role.Leader, world[1].Core!.Role);
        world.Read(1);
        Assert.Equal(0, world.Oracle.Reads);
    }

    private static void ReadIdReused(ScriptedWorld world)
    {
        var three = new NodeId(3);
        world.Elect(1);
        world.IsDelayed = message => message.To == three && message.Kind == MessageKind.ReadReply;
        world.Read(3);
        world.Restart(3);
        world.Propose(1, payload: 7);
        world.IsDelivered = message => message.Kind != MessageKind.Read;
        world.AdvanceTime(id: 1, microseconds: 300_000);
        world.AdvanceTime(id: 1, microseconds: 300_000);
        Assert.Equal(new NodeId(1), world[3].Core!.Leader);
        world.Read(3);
        world.DeliverDelayed();
        Assert.Equal(0, world.Oracle.Reads);
    }

    // The first start of 1 numbered more rounds of heartbeats than its second one.
    private static void RefusalConfirmsRead(ScriptedWorld world)
    {
        var (one, two) = (new NodeId(1), new NodeId(2));
        world.Elect(1);
        world.IsDelayed = message => message.To == two && message is { Kind: MessageKind.Heartbeat, Sequence: >= 3 };
        for (int reads = 0; reads < 3; reads++)
        {
            world.Read(1);
        }

        long served = world.Oracle.Reads;
        world.Restart(1);
        world.Elect(1);
        world.DeliverDelayed();
        world.IsDelivered = message =>
            message.Kind == MessageKind.TimeoutNow || (message.From != one && message.To != one);
        world.TimeOutNow(leader: 1, voter: 2);
        world.Propose(2, payload: 8);
        Assert.Equal(Role.Leader, world[1].Core!.Role);
        world.Read(1);
        Assert.Equal(served, world.Oracle.Reads);
    }

    private static void ReadBeforeNoOp(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDelivered = message => message.Kind is not (MessageKind.Commit or MessageKind.Heartbeat);
        world.Propose(1, payload: 7);
        world.Connect(2, 3);
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.Elect(2);
        Assert.True(world[2].Core!.CommitIndex < world.Oracle.Acknowledged, "2 does not know of the last commit");
        world.Read(2);
        Assert.Equal(0, world.Oracle.Reads);
        world.IsDelivered = _ => true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(1, world.Oracle.Reads);
    }
}
