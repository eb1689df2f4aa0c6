using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Scenarios;

/// <summary>
/// Scripts about the replication of entries. A payload is the content of a proposed entry; the numbers only tell
/// entries apart. After an election the leader's log is one empty entry longer.
/// </summary>
internal static class ReplicationScenarios
{
    public static Scenario[] All { get; } =
    [
        new(
            "old-term-commit",
            "an old term's entry on a majority can still be replaced",
            "an older term's entry is committed by counting",
            "committed entries are never replaced",
            OldTermCommit
        )
        {
            Voters = 5,
        },
        new(
            "commit-before-own-sync",
            "a leader counts itself only after its own sync",
            "a leader counts itself before its sync",
            "have on disk",
            CommitBeforeOwnSync
        ),
        new(
            "ack-unverified-tail",
            "a follower acknowledges only entries that this leader's messages verified",
            "a follower acknowledges entries that no message verified",
            "a follower verifies no more than the leader has",
            AckUnverifiedTail
        ),
        new(
            "late-append-shortens",
            "a late duplicate does not shorten the log",
            "a late append shortens the log",
            "committed entries are never replaced",
            LateAppendShortens
        ),
        new(
            "late-append-below-base",
            "a late duplicate of entries up to the manifest changes nothing",
            "a late append shortens the log",
            "committed entries are never replaced",
            LateAppendBelowBase
        ),
        new(
            "reject-counted-as-ack",
            "a refusal acknowledges nothing",
            "a refused append counts as acknowledged",
            "have on disk",
            RejectCountedAsAck
        ),
        new(
            "overwrite-aba",
            "a completed write does not count for entries that replaced its own",
            "a completed write counts for entries that replaced its own",
            "durable entries are written",
            OverwriteAba
        )
        {
            Voters = 5,
        },
        new(
            "stamp-of-term-not-led",
            "only the leader of a term creates entries with that term",
            "a follower proposes",
            "applied",
            StampOfTermNotLed
        ),
        new(
            "house-power-cut",
            "after a power cut of all nodes everything acknowledged exists",
            "a follower acknowledges before its sync",
            "have on disk",
            HousePowerCut
        ),
        new(
            "window-counter-leak",
            "a send window whose replies were lost opens again",
            "lost replies are waited for",
            "node 3 has all entries",
            WindowCounterLeak
        ),
    ];

    /// <summary>
    /// Figure 8 of the Raft paper: leader 1 replicates an entry of term 1 to a majority in a later term, and leader 5
    /// may still replace it.
    /// </summary>
    private static void OldTermCommit(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);

        world.Connect(3, 4, 5);
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.Elect(5);

        world.Connect(1, 2, 3, 4);
        world.Restart(1);
        world.IsDelivered = message => message.Kind != MessageKind.Append || message.LastIndex <= 2;
        world.Elect(1);

        world.Connect(3, 4, 5);
        world.Restart(5);
        world.Elect(5);
        world.Propose(5, payload: 8);
        Assert.True(world[5].Applied >= 2, "leader 5 commits its entry at the same index");
    }

    private static void CommitBeforeOwnSync(ScriptedWorld world)
    {
        world.Elect(1);
        world.HoldDisk(1);
        world.IsDelivered = message => message.To != new NodeId(3);
        world.Propose(1, payload: 7);
        Assert.Equal(1, world[1].Core!.CommitIndex);
        world.ReleaseDisk(1);
        Assert.Equal(2, world[1].Core!.CommitIndex);
    }

    private static void AckUnverifiedTail(ScriptedWorld world)
    {
        world.Elect(3);
        world.Connect(3);
        world.Propose(3, payload: 7);
        world.Propose(3, payload: 8);

        world.Connect(1, 2);
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.Elect(1);
        world.Connect(1, 3);
        // Long enough for several heartbeats, which correct the log of node 3.
        for (int tick = 0; tick < 10; tick++)
        {
            world.AdvanceTime(id: 1, microseconds: 250_000);
        }

        Assert.Equal(world[1].Core!.Last, world[3].Core!.Last);
    }

    private static void LateAppendShortens(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDuplicated = message => message is { Kind: MessageKind.Append, LastIndex: 2 };
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world.DeliverDelayed();
        Assert.Equal(3, world[3].Core!.Last.Index);
    }

    private static void LateAppendBelowBase(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDuplicated = message => message is { Kind: MessageKind.Append, LastIndex: 2 };
        world.Propose(1, payload: 7);
        world.Flush(3);
        Assert.Equal(2, world[3].Store.Base.Position.Index);
        world.Propose(1, payload: 8);
        world.DeliverDelayed();
        Assert.Equal(3, world[3].Applied);
    }

    private static void RejectCountedAsAck(ScriptedWorld world)
    {
        world.Elect(1);
        world.Connect(1, 2);
        world.Propose(1, payload: 7);
        world.Propose(1, payload: 8);
        world.Connect(1, 3);
        world.Propose(1, payload: 9);
        world.Propose(1, payload: 10);
        Assert.Equal(world[1].Core!.Last, world[3].Core!.Last);
        Assert.Equal(5, world[1].Core!.CommitIndex);
    }

    /// <summary>
    /// While the write of a vote is outstanding, the leader's first entries replace the end of the log. The completion
    /// of that write does not make these entries durable. Found by review.
    /// </summary>
    private static void OverwriteAba(ScriptedWorld world)
    {
        var five = new NodeId(5);
        world.Elect(5);
        world.Connect(5);
        world.Propose(5, payload: 7);
        world.Propose(5, payload: 8);

        world.Connect(1, 2, 3, 4);
        world.IsDelivered = message => message.Kind != MessageKind.Append;
        world.Elect(2);
        world.Connect(1, 3, 4);
        world.Elect(1);

        world.Connect(1, 3, 4, 5);
        world.IsDelayed = message => message.To == five && message.Kind == MessageKind.Append && message.LastIndex >= 2;
        world.IsDelivered = message => message.To != new NodeId(3) || message.Kind != MessageKind.Append;
        world.AdvanceTime(id: 1, microseconds: 300_000);
        world.Propose(1, payload: 9);
        Assert.Equal(world[1].Core!.Term, world[5].Core!.Term);

        world.IsDelivered = message =>
            message.To != five
            && message.From != five
            && (message.To != new NodeId(3) || message.Kind != MessageKind.Append);
        world.HoldDisk(5);
        for (int tick = 0; tick < 60 && world[5].Core!.Role == Role.Follower; tick++)
        {
            world.AdvanceTime(id: 1, microseconds: 100_000);
            world.AdvanceTime(id: 5, microseconds: 0);
        }

        Assert.Equal(Role.PreCandidate, world[5].Core!.Role);
        world.Connect(1, 2, 3, 4, 5);
        world.Receive(
            new Message
            {
                Kind = MessageKind.Vote,
                From = new NodeId(2),
                To = five,
                Term = world[1].Core!.Term,
                StartNumber = 1,
                Position = new LogPosition(Term: 2, Index: 2),
            }
        );
        Assert.Equal(new NodeId(2), world[5].Core!.VotedFor);
        world.DeliverDelayed();
        world.ReleaseDisk(5);
        Assert.Equal(world[1].Core!.Last, world[5].Core!.Last);
        Assert.True(world[5].Core!.DurableIndex >= 3, "the replaced tail becomes durable in its own write");
    }

    private static void StampOfTermNotLed(ScriptedWorld world)
    {
        world.Elect(1);
        world.Propose(2, payload: 99);
        world.Propose(1, payload: 7);
        Assert.Equal(2, world[2].Applied);
    }

    private static void HousePowerCut(ScriptedWorld world)
    {
        world.Elect(1);
        world.HoldDisk(2, 3);
        world.Propose(1, payload: 7);
        Assert.Equal(0, world.Oracle.Acknowledged);
        world.ReleaseDisk(2);
        Assert.Equal(2, world.Oracle.Acknowledged);
        world.Propose(1, payload: 8);
        world.CutPower(1, 2, 3);
        int longestLog = world[1].Core!.Last > world[2].Core!.Last ? 1 : 2;
        world.Elect(longestLog);
        Assert.True(world[world.Leader].Applied > world.Oracle.Acknowledged, "the leader has every acknowledged entry");
    }

    private static void WindowCounterLeak(ScriptedWorld world)
    {
        world.Elect(1);
        world.IsDelivered = message => message.Kind != MessageKind.AppendReply || message.From != new NodeId(3);
        for (int payload = 1; payload <= 100; payload++)
        {
            world.Propose(1, payload);
        }

        Assert.Equal(101, world[1].Applied);
        Assert.True(world[3].Core!.Last.Index < 101, "the leader sends no more than its window without replies");
        world.IsDelivered = _ => true;
        world.AdvanceTimeOfAll(seconds: 4);
        Assert.True(world[3].Applied == 101, "node 3 has all entries after its replies arrive again");
    }
}
