using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

internal static class DamageScenarios
{
    public static Scenario[] All { get; } =
    [
        new(
            "old-card-returns",
            "a reply from an earlier start of a store is ignored",
            "replies from an earlier start count",
            "have on disk",
            OldCardReturns
        ),
        new(
            "crash-in-install",
            "manifest and journal change together",
            "a snapshot is installed in two steps",
            "the commit index is within the log",
            CrashInInstall
        ),
        new(
            "manifest-of-later-term",
            "a snapshot of a later term than the node's is not installed yet",
            "a snapshot of any term is installed",
            "no entry has a later term than the node",
            ManifestOfLaterTerm
        ),
        new(
            "manifest-committed-later",
            "a snapshot is not installed before the node knows the term in which it was committed",
            "a snapshot is judged by the term of its last entry",
            "a follower verifies no more than the leader has",
            ManifestCommittedLater
        )
        {
            Voters = 5,
        },
        new(
            "commit-before-own-vote",
            "no manifest contains entries committed in a term that the node's disk does not know",
            "a follower commits before its vote record is durable",
            "2 waits for its disk",
            CommitBeforeOwnVote
        ),
        new(
            "tables-before-own-vote",
            "damaged tables are not replaced in a term that the node's disk does not know",
            "a follower commits before its vote record is durable",
            "2 waits for its disk",
            TablesBeforeOwnVote
        ),
        new(
            "manifest-overtaken",
            "a snapshot whose entries have arrived meanwhile does not change the log",
            "a snapshot replaces any log",
            "3 keeps its log",
            ManifestOvertaken
        ),
        new(
            "rot-then-elected",
            "a damaged member does not help to outvote entries that it acknowledged",
            "a damaged member votes by the rest of its log",
            "another",
            RotThenElected
        ),
        new(
            "rot-then-restarted",
            "a damaged member knows its lost entries after further restarts",
            "a damaged member forgets its loss at the second start",
            "another",
            RotThenRestarted
        ),
        new(
            "rot-on-two-heals",
            "two damaged members elect the undamaged one, and are repaired",
            "a damaged member never votes",
            "3 leads",
            RotOnTwoHeals
        ),
        new(
            "rot-at-the-leader",
            "a member that needs entries which its leader cannot read gets a snapshot, or another leader",
            "unreadable entries that a peer needs are not reported",
            "3 has applied all entries",
            RotAtTheLeader
        ),
        new(
            "state-gone-astray",
            "a member whose state differs from a majority's halts",
            "a member with a diverged state goes on",
            "3 has halted",
            StateGoneAstray
        ),
    ];

    private static void OldCardReturns(ScriptedWorld world)
    {
        var three = new NodeId(3);
        world.Elect(1);
        world.IsDelayed = message => message.From == three && message.Kind == MessageKind.AppendReply;
        world.IsDelivered = message => message.Kind != MessageKind.Append || message.To == three;
        world.Propose(1, payload: 7);
        Assert.Equal(2, world[3].Core!.DurableIndex);

        world[3].LosePower();
        world[3].Store.Forget(1);
        world[3].Start();
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.AdvanceTime(id: 1, microseconds: 300_000);
        world.DeliverDelayed();
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(2, world[1].Applied);
    }

    private static void CrashInInstall(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world.Flush(1);
        world.Connect(1, 2, 3);
        world.DyingInInstall = 3;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.False(world[3].IsRunning, "3 lost power during its install");
        world[3].Start();
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(world[1].Applied, world[3].Applied);
    }

    /// <summary>
    /// While 3 fetches a snapshot from 1, others elect a leader, and the snapshot that 1 finally sends is newer than
    /// its offer.
    /// </summary>
    private static void ManifestOfLaterTerm(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);
        world.Flush(1);
        world.Connect(1, 2, 3);
        world.FetchesWait = true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.True(world[3].IsFetching, "3 fetches");
        world.IsDelivered = message => message.To != new NodeId(3);
        world.TimeOutNow(leader: 1, voter: 2);
        world.Transfer(from: 2, to: 1);
        world.Flush(1);
        world.FetchesWait = false;
        world.Settle();
        world.IsDelivered = _ => true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(world[1].Applied, world[3].Applied);
    }

    /// <summary>
    /// 4 fetches from 1 and meanwhile follows 5. Others elect 2, which commits entries of 1 that 5 does not have. 1
    /// finally sends these entries to 4, with their original term.
    /// </summary>
    private static void ManifestCommittedLater(ScriptedWorld world)
    {
        var (one, four) = (new NodeId(1), new NodeId(4));
        world.Elect(1);
        world.Connect(1, 2, 3, 5);
        world.Propose(1, payload: 7);
        world.Flush(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 8);
        world.Propose(1, payload: 9);
        world.Connect(1, 2, 4);
        world.IsDelivered = message =>
            message.To == four
            || message.From == four
            || message.Kind is MessageKind.Heartbeat or MessageKind.HeartbeatReply;
        world.FetchesWait = true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.True(world[4].IsFetching, "4 fetches");
        world.Connect(1, 2);
        world.TimeOutNow(leader: 1, voter: 2);

        world.Connect(3, 4, 5);
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.Elect(5);
        world.AdvanceTime(id: 5, microseconds: 300_000);
        Assert.Equal((new NodeId(5), 3), (world[4].Core!.Leader, world[5].Core!.Last.Index));

        world.Connect(1, 2, 3);
        world.IsDelivered = message =>
            message.To != one || message.Kind is not (MessageKind.Commit or MessageKind.Heartbeat);
        world.TimeOutNow(leader: 1, voter: 2);
        Assert.Equal(5, world[2].Core!.CommitIndex);
        world.IsDelivered = _ => true;
        world.Receive(
            new Message
            {
                Kind = MessageKind.Commit,
                From = new NodeId(2),
                To = one,
                Term = world[2].Core!.Term,
                StartNumber = 1,
                Commit = 4,
            }
        );
        world.Flush(1);
        Assert.Equal(new LogPosition(Term: 1, Index: 4), world[1].Store.Manifest.Position);

        world.Connect(4, 5);
        world.FetchesWait = false;
        world.Settle();
        world.Connect(1, 2, 3, 4, 5);
        world.AdvanceTimeOfAll(seconds: 10);
        Assert.Equal(world[world.Leader].Applied, world[4].Applied);
    }

    private static void CommitBeforeOwnVote(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDelivered = message => message.Kind != MessageKind.Commit;
        world.Propose(1, payload: 7);
        Assert.Equal((2, 1), (world[2].Core!.DurableIndex, world[2].Applied));
        world.HoldDisk(2);
        world.IsDelivered = _ => true;
        world.TimeOutNow(leader: 1, voter: 3);
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal((new NodeId(3), 3), (world[2].Core!.Leader, world[3].Core!.CommitIndex));
        Assert.True(world[2].Applied == 1, "2 waits for its disk");
        world.ReleaseDisk(2);
        Assert.Equal(3, world[2].Applied);
    }

    /// <summary>
    /// 2 has an entry that it cannot apply and does not know to be committed. 3 has committed and applied it, and sends
    /// its state.
    /// </summary>
    private static void TablesBeforeOwnVote(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDelivered = message => message.Kind != MessageKind.Commit || message.To == new NodeId(3);
        world.Propose(1, payload: 7);
        world.Flush(3);
        Assert.Equal(
            (2, 1, 2),
            (world[2].Core!.DurableIndex, world[2].Applied, world[3].Store.Manifest.Position.Index)
        );
        world[2].IsStuck = true;
        world.HoldDisk(2);
        world.IsDelivered = _ => true;
        world.TimeOutNow(leader: 1, voter: 3);
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(new NodeId(3), world[2].Core!.Leader);
        world[2].SeekState();
        world.Settle();
        Assert.True(world[2].Applied == 1, "2 waits for its disk");
        world.ReleaseDisk(2);
        world[2].SeekState();
        world.Settle();
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(world[3].Applied, world[2].Applied);
    }

    /// <summary>While 3 fetches a snapshot, the entries that the snapshot contains arrive too.</summary>
    private static void ManifestOvertaken(ScriptedWorld world)
    {
        var three = new NodeId(3);
        world.Elect(1);
        world.IsDelayed = message => message.Kind == MessageKind.Append && message.To == three;
        world.HoldDisk(2);
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world.ReleaseDisk(2);
        world.Flush(1);
        world.FetchesWait = true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.True(world[3].IsFetching, "3 fetches");
        world.DeliverDelayed(isDelivered: message => message.Kind == MessageKind.Append);
        Assert.Equal(3, world[3].Core!.DurableIndex);
        world.FetchesWait = false;
        world.Settle();
        Assert.Equal(3, world[3].Store.Manifest.Position.Index);
        Assert.True(world[3].Store.Base.Position.Index == 0, "3 keeps its log");
        world.IsDelivered = _ => true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(3, world[3].Applied);
    }

    private static void RotThenElected(ScriptedWorld world) => RotThenElected(world, restarts: 0);

    private static void RotThenRestarted(ScriptedWorld world) => RotThenElected(world, restarts: 2);

    private static void RotThenElected(ScriptedWorld world, int restarts)
    {
        world.Elect(1);
        world.Connect(1, 3);
        world.Propose(1, payload: 7);
        Assert.Equal(2, world.Oracle.Acknowledged);
        world.Connect(2, 3);
        world.Rot(id: 3, lastReadable: 1);
        for (int i = 0; i < restarts; i++)
        {
            world.Restart(3);
        }

        world.AdvanceTimeOfAll(seconds: 10);
        if (world.Leader != 0)
        {
            world.Propose(world.Leader, payload: 8);
        }

        Assert.Equal(0, world.Leader);
        world.Connect(1, 2, 3);
        world.AdvanceTimeOfAll(seconds: 10);
        Assert.False(world[3].Core!.IsDamaged, "3 is healed");
        Assert.Equal(world[world.Leader].Applied, world[3].Applied);
    }

    private static void RotOnTwoHeals(ScriptedWorld world)
    {
        world.Elect(1);
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world.Rot(id: 1, lastReadable: 2);
        world.Rot(id: 2, lastReadable: 1);
        world.Elect(3);
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.False(world[1].Core!.IsDamaged || world[2].Core!.IsDamaged, "both are healed");
        Assert.Equal(4, world[2].Applied);
    }

    private static void RotAtTheLeader(ScriptedWorld world)
    {
        var three = new NodeId(3);
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world[1].Flush(0);
        world[1].ReportManifest();
        world.Connect(1, 2, 3);
        world.IsDelivered = message =>
            message.To != three || message.Kind != MessageKind.Append || message.LastIndex == message.Position.Index;
        world.CannotRead(leader: 1, peer: 3, index: 2);
        Assert.True(world[3].Applied == 3, "3 has applied all entries");

        world.Propose(1, payload: 9);
        world.CannotRead(leader: 1, peer: 3, index: 4);
        Assert.Equal(2, world.Leader);
        world.IsDelivered = _ => true;
        world.AdvanceTimeOfAll(seconds: 3);
        Assert.Equal(world[2].Applied, world[3].Applied);
    }

    private static void StateGoneAstray(ScriptedWorld world)
    {
        world.Elect(1);
        world.Propose(1, payload: 7);
        world[3].Diverge();
        world.Propose(1, payload: 8);
        world.AdvanceTimeOfAll(seconds: 1);
        Assert.False(world[3].IsRunning, "3 has halted");
        world.Propose(1, payload: 9);
        Assert.Equal(4, world[1].Applied);
    }
}
