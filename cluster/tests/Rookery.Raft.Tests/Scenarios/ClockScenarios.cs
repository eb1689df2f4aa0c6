using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

internal static class ClockScenarios
{
    public static Scenario[] All { get; } =
    [
        new(
            "leader-in-2080",
            "a leader whose clock shows 2080 uses the time of the other clocks",
            "a leader uses its own clock",
            "log time is ahead of every correct clock",
            LeaderIn2080
        ),
        new(
            "cards-without-clocks",
            "three clocks that agree on 2080 are not adopted before an operator confirms them",
            "a time jump is accepted because the clocks agree",
            "log time is ahead of every correct clock",
            CardsWithoutClocks
        ),
        new(
            "one-source-of-time",
            "one synchronised clock and two in 2080 do not set the time",
            "each clock counts as synchronised",
            "log time is ahead of every correct clock",
            OneSourceOfTime
        ),
        new(
            "time-comes-late",
            "records written before the time was known do not age when it becomes known",
            "records age by a jump of the time",
            "an entry seems older than it is",
            TimeComesLate
        ),
    ];

    private static void LeaderIn2080(ScriptedWorld world)
    {
        world.SetClock(2080, isSure: true, 1);
        world.Elect(1);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 7);
        Assert.True(
            world[1].Core!.ReadClock(world.Now).IsSure && world.ErrorOf(1) < TimeSpan.FromMinutes(1),
            "two synchronised voters are a majority"
        );
        world.SetClock(1970, isSure: false, 1);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.True(
            world[1].Core!.ReadClock(world.Now).IsSure && world.ErrorOf(1) < TimeSpan.FromMinutes(1),
            "1's own clock in 1970 does not set the cluster's time back"
        );
        world.TimeOutNow(leader: 1, voter: 2);
        world.SetClock(1970, isSure: false, 2, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(2, payload: 8);
        Assert.Equal(ClockVerdict.Doubted, world[2].Core!.ClockVerdict);
        Assert.True(world.ErrorOf(2) < TimeSpan.FromMinutes(1), "the next leader continues the last leader's time");
    }

    private static void CardsWithoutClocks(ScriptedWorld world)
    {
        world.SetClock(2080, isSure: false, 1, 2, 3);
        world.Elect(1);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 7);
        Assert.False(world[1].Core!.ReadClock(world.Now).IsSure, "the time is not known");
        world.SetClock(1970, isSure: false, 2);
        world.SetClockToTrueTime(isSure: false, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.Equal(ClockAnswer.ClocksDiffer, world[1].ConfirmClock());
        world.SetClockToTrueTime(isSure: false, 1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.False(world[1].Core!.ReadClock(world.Now).IsSure, "no operator has confirmed the time");
        Assert.Equal(ClockAnswer.NotLeader, world[2].ConfirmClock());
        Assert.Equal(ClockAnswer.Confirmed, world[1].ConfirmClock());
        world.Propose(1, payload: 8);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.True(
            world[1].Core!.ReadClock(world.Now).IsSure && world.ErrorOf(1) < TimeSpan.FromMinutes(1),
            "after the confirmation the time is known"
        );
    }

    private static void OneSourceOfTime(ScriptedWorld world)
    {
        world.Elect(1);
        world.AdvanceTimeOfAll(seconds: 1);
        world.SetClock(2080, isSure: false, 2, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 7);
        Assert.False(world[1].Core!.ReadClock(world.Now).IsSure, "the clocks of a majority show another time");
        Assert.True(world.ErrorOf(1) < TimeSpan.FromMinutes(1), "the cluster's time continues as before");
        world.SetClockToTrueTime(isSure: false, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.True(world[1].Core!.ReadClock(world.Now).IsSure, "two clocks agree, and their time is not a jump");
    }

    private static void TimeComesLate(ScriptedWorld world)
    {
        world.SetClock(1970, isSure: false, 1, 2, 3);
        world.Elect(1);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 7);
        world.SetClockToTrueTime(isSure: true, 1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 1);
        world.Propose(1, payload: 8);
        world.Propose(1, payload: 9);
        Assert.True(
            world[1].Core!.TimeAfter(world.Now, lastTicks: 0) is { IsSteady: false }
                && world[1].Core!.TimeAfter(world.Now, world.TrueTicks) is { IsSteady: true },
            "after the jump the time is steady"
        );
    }
}
