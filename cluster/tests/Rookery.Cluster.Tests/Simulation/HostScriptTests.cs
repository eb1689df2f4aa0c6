using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The real consensus and store under simulation; each test is one scenario.</summary>
public sealed class HostScriptTests
{
    [Fact]
    public void A_write_through_any_member_reaches_all_members()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        foreach (var member in cluster.Members)
        {
            cluster.Put(member, $"users/{member}", 7);
            Assert.Equal(7, member.Peek($"users/{member}").Value);
        }

        cluster.AwaitEqual();
        Assert.All(cluster.Members, member => Assert.Equal(7, member.Peek("users/C").Value));
    }

    /// <summary>
    /// Each write records the commit index before it, so a member without a majority can serve all writes but the last.
    /// </summary>
    [Fact]
    public void A_member_that_starts_without_a_majority_serves_what_it_knew_to_be_committed()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        for (int i = 1; i <= 10; i++)
        {
            cluster.Put(cluster.B, $"users/{i}", i);
        }

        cluster.AwaitEqual();
        cluster.Members.ForEach(static member => member.LosePower());
        cluster.C.Open();
        cluster.RunFor(milliseconds: 2_000);
        Assert.Null(cluster.Leader);
        Assert.Equal(0, cluster.C.Store!.DurablePosition.Index);
        var statistics = cluster.C.Consensus!.ReadCluster();
        Assert.Null(statistics.Clock.Time.Known);
        Assert.Equal(0, statistics.Clock.OwnAheadSeconds);
        Assert.All(Enumerable.Range(1, 9), i => Assert.Equal(i, cluster.C.Peek($"users/{i}").Value));

        cluster.A.Open();
        cluster.B.Open();
        cluster.AwaitEqual();
        Assert.Equal(10, cluster.C.Peek("users/10").Value);
    }

    /// <summary>
    /// A returning member receives the leader's messages before its own connection to the leader is open.
    /// </summary>
    [Fact]
    public void A_write_waits_until_its_member_reaches_the_leader_but_not_for_ever()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.B.Peers!.Unreached.Add(cluster.A.Id);
        var write = cluster.B.Propose(SteppedCluster.PutOf("users/1", value: 1));
        cluster.RunFor(milliseconds: 300);
        Assert.False(write.IsCompleted);
        cluster.B.Peers.Unreached.Clear();
        Assert.Null(cluster.Await(write).Rejection);

        cluster.B.Peers.Unreached.Add(cluster.A.Id);
        Assert.Equal("never sent", cluster.Do(cluster.B, SteppedCluster.PutOf("users/2", value: 2)).Rejection?.Message);
    }

    [Fact]
    public void A_receipt_names_the_members_that_synced_the_write_through_any_member()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        Assert.Null(cluster.Do(cluster.A, SteppedCluster.PutOf("users/unasked", value: 1)).Receipt);

        cluster.Wire.Isolate(cluster.C);
        foreach (var through in new[] { cluster.A, cluster.B })
        {
            var asking = SteppedCluster.PutOf("users/asked", value: 2, padding: 5000);
            asking.WantsReceipt = true;
            var receipt = cluster.Do(through, asking).Receipt!;
            Assert.Equal(
                new[] { cluster.A.Id.ToString(), cluster.B.Id.ToString() }.Order(StringComparer.Ordinal),
                receipt.Synced.Select(TagOf).Order(StringComparer.Ordinal)
            );
            Assert.True(receipt.Synced[^1].Microseconds > 0, "the way to the other member and back takes time");
            Assert.Equal(1, receipt.Commands);
            Assert.True(
                receipt.JournalBytes is > 0 and <= 8192 && receipt.JournalBytes % 4096 == 0,
                "the journal is written in whole blocks, one or two here"
            );
        }

        // Members of this simulation have no tags, so they are named by id, except the one that is asked.
        string TagOf(SyncedMember synced) =>
            string.Equals(synced.Tag, "A", StringComparison.Ordinal) ? cluster.A.Id.ToString() : synced.Tag;
    }

    [Fact]
    public void A_read_on_a_stopped_member_ends()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        foreach (var member in new[] { cluster.A, cluster.C })
        {
            var stopped = member.Consensus!;
            member.StopCleanly();
            Assert.False(cluster.Await(stopped.ReadBarrierAsync().AsTask()));
        }
    }

    /// <summary>No simulated time passes after the stop, so no timeout ends the reads.</summary>
    [Fact]
    public void Reads_that_wait_end_at_once_when_their_member_stops()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.RunFor(milliseconds: 2_000);
        cluster.Wire.Isolate(cluster.B);
        var consensus = cluster.B.Consensus!;
        var waiting = consensus.ReadBarrierAsync().AsTask();
        var next = consensus.ReadBarrierAsync().AsTask();
        Assert.False(waiting.IsCompleted || next.IsCompleted);
        consensus.EndWaitingReads();
        var late = consensus.ReadBarrierAsync().AsTask();
        foreach (var read in new[] { waiting, next, late })
        {
            Assert.True(read.IsCompleted, "a read ends without the passing of time");
            Assert.False(cluster.Await(read));
        }
    }

    [Fact]
    public void A_read_that_waits_for_committed_entries_to_be_applied_ends_at_once_when_its_member_stops()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.RunFor(milliseconds: 2_000);
        cluster.LongestApplyMilliseconds = 10_000;
        _ = cluster.A.Propose(SteppedCluster.PutOf("users/1", value: 1));
        var consensus = cluster.B.Consensus!;
        cluster.RunUntil(() => consensus.Applies.HasToApply, "B knows of the commit");
        var read = consensus.ReadBarrierAsync().AsTask();
        cluster.RunFor(milliseconds: 100);
        Assert.True(consensus.Applies.HasToApply, "the commit is not applied yet");
        Assert.False(read.IsCompleted);
        consensus.EndWaitingReads();
        Assert.True(read.IsCompleted);
        Assert.False(cluster.Await(read));
    }

    [Fact]
    public void Acknowledged_writes_outlive_their_leader()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 1);
        cluster.A.LosePower();
        var next = cluster.AwaitLeader();
        Assert.NotEqual(cluster.A, next);
        Assert.Equal(1, cluster.Await(next.ReadAsync("users/1"))?.Value);
        cluster.Put(next, "users/2", 2);
        cluster.A.Open();
        cluster.AwaitEqual();
        Assert.Equal(2, cluster.A.Peek("users/2").Value);
    }

    [Fact]
    public void An_isolated_leader_answers_with_unknown_outcomes_and_truncates_its_log()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 1);
        cluster.Wire.Isolate(cluster.A);
        var lostWrite = cluster.A.Propose(SteppedCluster.PutOf("users/lost", value: 1));
        cluster.RunUntil(() => cluster.B.Consensus!.IsLeader || cluster.C.Consensus!.IsLeader, "another member leads");
        var next = cluster.B.Consensus!.IsLeader ? cluster.B : cluster.C;
        cluster.Put(next, "users/2", 2);
        Assert.Equal(RejectionKind.OutcomeUnknown, cluster.Await(lostWrite).Rejection?.Kind);
        long firstWrite = cluster.A.Store!.Journal.LastWrite;
        cluster.Wire.Heal();
        cluster.AwaitEqual();
        Assert.True(cluster.A.Store!.Journal.LastWrite > firstWrite, "the journal has a record of the truncation");
        Assert.All(cluster.Members, member => Assert.Equal(0, member.Peek("users/lost").Value));

        // The truncation is in the journal: the removed entries stay away after a power cut too.
        cluster.A.LosePower();
        cluster.A.Open();
        cluster.AwaitEqual();
    }

    [Fact]
    public void A_write_that_the_next_leader_commits_is_answered_by_the_leader_that_proposed_it()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 1);
        cluster.Wire.Cut(cluster.B.Id, cluster.A.Id);
        cluster.Wire.Cut(cluster.C.Id, cluster.A.Id);
        var write = cluster.A.Propose(SteppedCluster.PutOf("users/2", value: 2));
        cluster.RunUntil(() => !cluster.A.Consensus!.IsLeader, "a leader that hears nobody steps down");
        Assert.False(write.IsCompleted);
        cluster.Wire.Heal();
        Assert.Null(cluster.Await(write).Rejection);
        Assert.Equal(2, cluster.A.Peek("users/2").Value);
    }

    [Fact]
    public void Log_time_never_falls_back_when_the_next_leader_has_an_earlier_clock()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.B.Time.Ahead = cluster.C.Time.Ahead = TimeSpan.FromDays(-400);
        long before = cluster.Put(cluster.A, "users/1").LogTimeTicks;
        cluster.A.LosePower();
        long after = cluster.Put(cluster.AwaitLeader(), "users/2").LogTimeTicks;
        cluster.A.Open();
        cluster.AwaitLeader().Consensus!.Transfer(cluster.A.Id);
        cluster.RunUntil(() => cluster.A.Consensus!.IsLeader, "A leads");
        cluster.A.Time.Ahead = TimeSpan.FromDays(-9000);
        long later = cluster.Put(cluster.A, "users/3").LogTimeTicks;
        Assert.True(before < after && after < later, $"{before}, {after}, {later}");
    }

    [Fact]
    public void A_retry_with_the_same_key_at_the_next_leader_is_applied_once()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var first = cluster.Do(cluster.B, SteppedCluster.PutOf("users/", value: 1, new IdempotencyKey(7, 1)));
        cluster.A.LosePower();
        var again = cluster.Do(
            cluster.AwaitLeader(),
            SteppedCluster.PutOf("users/", value: 1, new IdempotencyKey(7, 1))
        );
        Assert.Equal((first[0].Id, first[0].Etag), (again[0].Id, again[0].Etag));
    }

    [Fact]
    public void No_member_reads_a_version_from_before_an_acknowledged_write()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        for (int value = 1; value <= 20; value++)
        {
            cluster.Put(cluster.Members[value % 3], "users/1", value);
            Assert.All(
                cluster.Members,
                member => Assert.Equal(value, cluster.Await(member.ReadAsync("users/1"))?.Value)
            );
        }

        cluster.Wire.Isolate(cluster.A);
        var cutOff = cluster.A.ReadAsync("users/1");
        cluster.RunUntil(() => cluster.Leader is { } leader && leader != cluster.A, "another member leads");
        cluster.Put(cluster.Leader!, "users/1", 21);
        Assert.Null(cluster.Await(cutOff));
        var during = cluster.A.ReadAsync("users/1");
        cluster.RunFor(milliseconds: 500);
        cluster.Wire.Heal();
        Assert.True(cluster.Await(during) is null or { Value: 21 });
        Assert.Equal(21, cluster.Await(cluster.A.ReadAsync("users/1"))?.Value);
    }

    [Fact]
    public void One_of_two_voters_refuses_writes_and_reads_within_seconds_without_the_other()
    {
        using var cluster = SteppedCluster.Of(members: 2);
        cluster.Put(cluster.B, "users/1", 1);
        cluster.B.LosePower();
        var open = cluster.A.Propose(SteppedCluster.PutOf("users/2", value: 2));
        Assert.Equal(RejectionKind.OutcomeUnknown, cluster.Await(open, seconds: 5).Rejection?.Kind);
        Assert.Equal(
            RejectionKind.NoLeader,
            cluster.Await(cluster.A.Propose(SteppedCluster.PutOf("users/3", value: 3)), seconds: 5).Rejection?.Kind
        );
        Assert.Null(cluster.Await(cluster.A.ReadAsync("users/1"), seconds: 10));
        cluster.B.Open();
        cluster.AwaitEqual();
        cluster.Put(cluster.B, "users/4", 4);
    }

    [Fact]
    public void A_cluster_recovers_after_all_members_lose_power()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        for (int round = 0; round < 4; round++)
        {
            for (int i = 0; i < 20; i++)
            {
                cluster.Put(cluster.Members[i % 3], $"users/{i}", (round * 100) + i);
            }

            cluster.Members.ForEach(member => member.LosePower());
            cluster.Members.ForEach(member => member.Open());
            cluster.RunUntil(() => cluster.Leader is not null, "a member leads after the power cut", seconds: 10);
            cluster.AwaitEqual();
            Assert.Equal((round * 100) + 19, cluster.B.Peek("users/19").Value);
        }
    }

    [Fact]
    public void A_cluster_recovers_after_all_members_stop_cleanly()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.B, "users/1", 1);
        cluster.Members.ForEach(member => member.StopCleanly());
        cluster.Members.ForEach(member => member.Open());
        cluster.Put(cluster.C, "users/2", 2);
        cluster.AwaitEqual();
    }

    [Fact]
    public void Leadership_is_transferred_during_writes_without_a_failed_request()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var writes = new List<Task<CommandOutcome>>();
        for (int i = 0; i < 400; i++)
        {
            writes.Add(cluster.Members[i % 3].Propose(SteppedCluster.PutOf($"users/{i}", i)));
            cluster.RunFor(cluster.Random.NextDouble() * 5);
            if (i % 80 == 40)
            {
                cluster.Leader?.Consensus!.Transfer(NodeId.None);
            }
        }

        cluster.RunUntil(() => writes.TrueForAll(write => write.IsCompleted), "all writes are answered");
        Assert.All(writes, write => Assert.Null(write.Result.Rejection));
        Assert.True(cluster.Leader!.Consensus!.Term > 3, "leadership was transferred several times");
        cluster.AwaitEqual();
    }

    [Theory]
    [InlineData(1970)]
    [InlineData(2080)]
    public void A_leader_with_a_wrong_clock_follows_the_other_clocks_and_so_does_the_next_leader(int year)
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.RunFor(milliseconds: 2_000);
        cluster.A.Time.SetToYear(year);
        cluster.RunFor(milliseconds: 3_000);
        long ticks = cluster.Put(cluster.A, "users/1").LogTimeTicks;
        Assert.InRange(cluster.Time.GetUtcNow().UtcTicks - ticks, 0, TimeSpan.TicksPerMinute);
        Assert.True(cluster.A.Consensus!.Time.IsSure);

        cluster.B.Time.SetToYear(year);
        cluster.C.Time.SetToYear(year);
        cluster.RunFor(milliseconds: 3_000);
        Assert.Contains(
            "The clocks jumped",
            Assert.Single(cluster.A.Troubles, trouble => trouble.Contains("clocks", StringComparison.Ordinal)),
            StringComparison.Ordinal
        );
        Assert.All([cluster.A, cluster.B, cluster.C], member => Assert.False(member.Consensus!.Time.IsSure));
        cluster.A.LosePower();
        ticks = cluster.Put(cluster.AwaitLeader(), "users/2").LogTimeTicks;
        Assert.InRange(cluster.Time.GetUtcNow().UtcTicks - ticks, 0, TimeSpan.TicksPerMinute);
    }

    [Fact]
    public void A_member_that_computes_other_results_halts_and_the_others_continue()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 1);
        cluster.RunFor(milliseconds: 2_000);
        Assert.Equal(cluster.A.Consensus!.AppliedIndex, cluster.Wire.AgreedThrough);
        cluster.Wire.Alters = (to, frame) =>
            to == cluster.C.Id && frame.Type == FrameType.Batch ? frame with { Payload = EncodeRefusedPut() } : frame;
        cluster.Put(cluster.A, "users/2", 2);
        cluster.RunUntil(() => cluster.C.Consensus!.Refusal is { Kind: RejectionKind.Diagnosis }, "C halts");
        Assert.Contains(
            "other results than a majority",
            cluster.C.Consensus!.Refusal!.Message,
            StringComparison.Ordinal
        );
        cluster.Put(cluster.B, "users/3", 3);
    }

    // The payload of a put of an existing document that expects none, so its outcome is a refusal.
    private static byte[] EncodeRefusedPut()
    {
        using var command = SteppedCluster.PutOf("users/1", value: 2, expected: ExpectedChangeVector.MustNotExist);
        byte[] content = EntryContent.Of(DateTime.UnixEpoch.AddYears(60).Ticks, command.Written.Span);
        byte[] payload = new byte[Payload.MaxEncodedLength(content.Length)];
        return payload[..Payload.Encode(content, payload)];
    }

    [Fact]
    public void A_member_whose_journal_fails_answers_its_callers_and_another_member_leads()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.LongestApplyMilliseconds = 40;
        var writes = Enumerable
            .Range(0, 10)
            .Select(i =>
            {
                cluster.RunFor(milliseconds: 4);
                return cluster.A.Propose(SteppedCluster.PutOf($"users/{i}", i));
            })
            .ToList();
        cluster.A.Disk.Inject(
            new DiskFault(AtCall: 1, Platform.Errno.InputOutput)
            {
                Calls = DiskCalls.Sync,
                PathContains = "/journal",
                Sticky = true,
            }
        );
        writes.Add(cluster.A.Propose(SteppedCluster.PutOf("users/10", value: 10)));
        writes.Add(cluster.A.Propose(SteppedCluster.PutOf("users/11", value: 11)));
        cluster.RunUntil(() => writes.TrueForAll(write => write.IsCompleted), "all writes are answered", seconds: 10);
        Assert.Equal(RejectionKind.Diagnosis, cluster.A.Consensus!.Refusal?.Kind);
        cluster.RunUntil(() => cluster.Leader is { } leader && leader != cluster.A, "another member leads");
        cluster.Put(cluster.Leader!, "users/12", 12);
        cluster.A.Disk.ClearFaults();
        cluster.A.Kill();
        cluster.A.Open();
        cluster.AwaitEqual();
        for (int i = 0; i < writes.Count; i++)
        {
            Assert.True(
                cluster.Await(writes[i]).Rejection is not null || cluster.B.Peek($"users/{i}").Value == i,
                $"write {i} was refused or is on B"
            );
        }
    }
}
