using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

internal static class MembershipScenarios
{
    public static Scenario[] All { get; } =
    [
        new(
            "two-changes-two-terms",
            "two membership changes in two terms have overlapping majorities",
            "two membership changes run at once",
            "another",
            TwoChangesInTwoTerms
        )
        {
            Voters = 4,
            Learners = 1,
        },
        new(
            "config-not-rolled-back",
            "when a membership change is replaced, the previous configuration applies again",
            "a replaced membership change stays in force",
            "4 is a learner again",
            ConfigNotRolledBack
        )
        {
            Learners = 1,
        },
        new(
            "manifest-over-config",
            "after a snapshot is installed, its configuration applies",
            "the configuration of a snapshot is ignored",
            "3 knows of the promotion",
            ManifestOverConfig
        )
        {
            Learners = 1,
        },
        new(
            "promoted-unaware",
            "a voter that does not know of its promotion votes",
            "only members that know of their promotion vote",
            "2 leads",
            PromotedUnaware
        )
        {
            Learners = 1,
        },
        new(
            "removal-known-only-to-removed",
            "a removed voter receives the removal last",
            "a removed voter receives the removal first",
            "2 leads",
            RemovalKnownOnlyToRemoved
        ),
        new(
            "dies-at-two-voters",
            "one of two voters decides nothing alone",
            "half of the voters make a majority",
            "have on disk",
            DiesAtTwoVoters
        )
        {
            Voters = 2,
        },
        new(
            "wiped-card-votes",
            "an empty disk does not vote for the member whose disk it replaces",
            "an empty disk takes an old id",
            "another",
            WipedCardVotes
        ),
    ];

    /// <summary>
    /// Ongaro's correction of 2015: two concurrent changes in two terms can have majorities that do not overlap.
    /// </summary>
    private static void TwoChangesInTwoTerms(ScriptedWorld world)
    {
        world.Elect(1);
        CatchUp(world);
        world.Connect(1, 5);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Voter, 5));

        world.Connect(2, 3, 4);
        world.IsDelivered = message => message.Kind != MessageKind.Append || message.To != new NodeId(4);
        world.Elect(2);
        world.Change(2, MemberChange.Removed, 1);

        world.Connect(1, 4, 5);
        world.Restart(1);
        world.Elect(1);
        world.Propose(1, payload: 9);
    }

    private static void ConfigNotRolledBack(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Removed, 4));
        Assert.False(world[1].Core!.Configuration.IsMember(new NodeId(4)));
        world.Connect(2, 3, 4);
        world.Elect(2);
        world.Propose(2, payload: 7);
        world.Connect(1, 2, 3, 4);
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(world[2].Core!.Last, world[1].Core!.Last);
        Assert.True(world[1].Core!.Configuration.IsLearner(new NodeId(4)), "4 is a learner again");
    }

    private static void ManifestOverConfig(ScriptedWorld world)
    {
        world.Elect(1);
        CatchUp(world);
        world.Connect(1, 2, 4);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Voter, 4));
        world.Propose(1, payload: 7);
        world.Flush(1);
        world.Connect(1, 2, 3, 4);
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.True(world[3].Store.Base.Position.Index > 1, "3 fetched a snapshot");
        Assert.True(world[3].Core!.Configuration.IsVoter(new NodeId(4)), "3 knows of the promotion");
    }

    private static void PromotedUnaware(ScriptedWorld world)
    {
        world.Elect(1);
        CatchUp(world);
        world.IsDelivered = message =>
            message.Kind is not (MessageKind.Append or MessageKind.Commit) || message.To != new NodeId(4);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Voter, 4));
        Assert.True(world[4].Core!.Configuration.IsLearner(new NodeId(4)), "4 does not know yet");
        world.Connect(2, 3, 4);
        world.Elect(2);
    }

    private static void RemovalKnownOnlyToRemoved(ScriptedWorld world)
    {
        world.Elect(1);
        world.AdvanceTime(id: 1, microseconds: 300_000);
        world.IsDelivered = message => message.Kind != MessageKind.Append || message.To != new NodeId(2);
        Assert.Equal(ChangeAnswer.Accepted, world.Change(1, MemberChange.Removed, 3));
        world.Connect(2, 3);
        world.Elect(2);

        // A new leader that has the removal in its log also holds it back.
        world.Connect(1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 3);
        world.IsDelivered = static message => message.Kind != MessageKind.AppendReply;
        Assert.Equal(ChangeAnswer.Accepted, world.Change(2, MemberChange.Learner, 3));
        long change = world[2].Core!.Last.Index;
        world.Restart(2);
        world.Connect(1, 2);
        world.IsDelivered = static message => message.Kind != MessageKind.AppendReply;
        world.Elect(1);
        world.Connect(1, 3);
        world.AdvanceTimeOfAll(seconds: 0.5);
        Assert.True(
            world[1].Core!.Last.Index > change && world[3].Core!.Last.Index < change,
            "3 does not receive its removal before the removal is committed"
        );
    }

    private static void DiesAtTwoVoters(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1);
        world.Propose(1, payload: 7);
        Assert.Equal(1, world[1].Core!.CommitIndex);
        world.AdvanceTimeOfAll(seconds: 4);
        Assert.Equal(Role.PreCandidate, world[1].Core!.Role);
        Assert.Equal(ChangeAnswer.NotLeader, world.Change(1, MemberChange.Removed, 2));
        world.Connect(1, 2);
        world.Elect(1);
        Assert.Equal(3, world[1].Applied);
    }

    private static void WipedCardVotes(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1, 3);
        world.Propose(1, payload: 7);
        Assert.Equal(2, world.Oracle.Acknowledged);
        world.Connect(2, 3);
        world.ReplaceCard(3);
        for (int tick = 0; tick < 100 && world[2].Core!.Role != Role.Leader; tick++)
        {
            world.AdvanceTime(id: 2, microseconds: 50_000);
        }

        world.Propose(2, payload: 8);
        Assert.Equal(Role.PreCandidate, world[2].Core!.Role);
    }

    /// <summary>Lets the leader, 1, learn from several rounds of heartbeats that the learner has caught up.</summary>
    private static void CatchUp(ScriptedWorld world)
    {
        for (int round = 0; round < 6; round++)
        {
            world.AdvanceTime(id: 1, microseconds: 300_000);
        }
    }
}
