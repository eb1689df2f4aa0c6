using Rookery.Cluster.Log;
using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Clusters of the real consensus and store with damaged journals; each test is one scenario.</summary>
public sealed class HostDamageScriptTests
{
    /// <summary>
    /// The end of the journal rots, but its entries are in the runs. The member continues after them and gets entries
    /// or a state from the others.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_member_whose_runs_contain_more_than_its_damaged_journal_receives_the_missing_entries(
        bool entriesAreReleased
    )
    {
        using var cluster = new SteppedCluster(seed: 1)
        {
            RetainedJournalBytes = entriesAreReleased ? 0 : 1 << 20,
        }.Form(members: 3);
        for (int i = 0; i < 4; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i);
        }

        cluster.AwaitEqual();
        cluster.C.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        long durableIndex = cluster.C.Store!.DurablePosition.Index;
        Assert.Equal(cluster.C.Consensus!.AppliedIndex, durableIndex);
        cluster.C.Kill();
        RotJournalEnd(cluster.C.Disk);
        for (int i = 0; i < (entriesAreReleased ? 200 : 3); i++)
        {
            cluster.Put(cluster.A, $"users/{i}", 100 + i, padding: 900);
        }

        cluster.RunFor(milliseconds: 3_000);
        cluster.C.Open();
        Assert.Equal(durableIndex, cluster.C.Store!.Journal.LastIndex);
        cluster.AwaitEqual(seconds: 20);
        Assert.Equal(entriesAreReleased ? 1 : 0, cluster.Wire.StatesFetched);
        Assert.Equal(cluster.A.Store!.Journal.LastIndex, cluster.C.Store!.Journal.LastIndex);
        cluster.C.LosePower();
        cluster.C.Open();
        cluster.AwaitEqual();
    }

    /// <summary>
    /// The leader A cannot read entries that C needs. If A's tables contain these entries, C gets a snapshot. Otherwise
    /// B, which can read them, becomes leader.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_member_catches_up_although_the_leader_cannot_read_the_entries(bool isFlushed)
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        for (int i = 10; i < 40; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i);
        }

        if (isFlushed)
        {
            cluster.A.Store!.Storage.Memtables.RequestFlush();
        }

        // Unneeded entries leave the cache.
        cluster.RunFor(milliseconds: 15_000);
        Assert.Equal((cluster.A, isFlushed), (cluster.Leader, cluster.A.Store!.DurablePosition.Index > 30));
        JournalRot.At(cluster.A, "users/20");
        cluster.C.Open();
        cluster.AwaitEqual(seconds: 20);
        Assert.Equal((39, isFlushed ? 1 : 0), (cluster.C.Peek("users/39").Value, cluster.Wire.StatesFetched));
        Assert.Equal(isFlushed, cluster.Leader == cluster.A);
        Assert.Single(cluster.A.Troubles, trouble => trouble.Contains("cannot be read", StringComparison.Ordinal));
        cluster.Put(cluster.C, "users/after", 1);
    }

    /// <summary>
    /// A's journal is damaged. B, which has the writes acknowledged after C left, is off. A must not vote for C,
    /// however often A is restarted.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Acknowledged_entries_of_a_damaged_journal_are_not_outvoted_even_after_restarts(bool stopsCleanly)
    {
        using var cluster = new SteppedCluster(seed: 1) { CautionMicroseconds = 0 }.Form(members: 3);
        cluster.Put(cluster.A, "users/early", 1);
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.Put(cluster.A, "users/known", 3);
        cluster.AwaitEqual();
        cluster.C.Kill();
        cluster.Put(cluster.A, "users/late", 4);
        cluster.Put(cluster.A, "users/later", 5);
        long starts = LogStart.NextStartNumber(cluster.A.Store!.Journal);
        cluster.A.LosePower();
        cluster.B.LosePower();
        JournalRot.At(cluster.A, "users/rotten");

        cluster.A.Open();
        Assert.Equal('B', cluster.A.Store!.Journal.Recovery.Label);
        Assert.Equal(starts + 1, LogStart.NextStartNumber(cluster.A.Store!.Journal));
        cluster.RunFor(milliseconds: 500);
        Stop(cluster.A);
        cluster.A.Open();
        cluster.C.Open();
        cluster.RunFor(milliseconds: 30_000);
        Assert.Null(cluster.Leader);

        cluster.B.Open();
        cluster.AwaitEqual();
        Assert.Equal(5, cluster.C.Peek("users/later").Value);
        Stop(cluster.B);
        Assert.NotNull(cluster.AwaitLeader());
        cluster.Put(cluster.A, "users/after", 6);

        void Stop(SteppedMember member)
        {
            if (stopsCleanly)
            {
                member.StopCleanly();
            }
            else
            {
                member.Kill();
            }
        }
    }

    /// <summary>
    /// Only the record of the clean stop follows the damaged entry. A member that did not know its loss would vote for
    /// a candidate that lacks the entry too.
    /// </summary>
    [Fact]
    public void A_member_whose_last_entry_is_damaged_after_a_clean_stop_knows_what_it_had_acknowledged()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/early", 1);
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.AwaitEqual();
        long last = cluster.B.Store!.Journal.LastIndex;
        cluster.B.StopCleanly();
        JournalRot.At(cluster.B, "users/rotten", inHeader: true);
        cluster.B.Open();
        var journal = cluster.B.Store!.Journal;
        Assert.Equal(
            ('B', last - 1, last),
            (journal.Recovery.Label, journal.LastIndex, journal.Recovery.MayHaveAcknowledged.Index)
        );
        cluster.AwaitEqual();
    }

    /// <summary>
    /// The standby does not vote. Only a leader could send the lost entries again, so the voter would wait for ever.
    /// </summary>
    [Fact]
    public void An_only_voter_that_lost_acknowledged_entries_reports_that_only_a_recovery_helps()
    {
        using var cluster = SteppedCluster.Of(members: 1);
        cluster.Members.Add(new SteppedMember(cluster, number: 1, mayBegin: false));
        cluster.B.Open();
        cluster.Change(Raft.MemberChange.Learner, cluster.B);
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.Put(cluster.A, "users/late", 3);
        cluster.AwaitEqual();
        cluster.A.Kill();
        JournalRot.At(cluster.A, "users/rotten");
        cluster.A.Open();
        cluster.RunFor(milliseconds: 30_000);
        Assert.Null(cluster.Leader);
        string trouble = cluster.A.Consensus!.ReadCluster().Trouble!;
        Assert.Contains("Delete nothing", trouble, StringComparison.Ordinal);
        Assert.Contains("`rookery cluster recover`", trouble, StringComparison.Ordinal);
    }

    /// <summary>
    /// Entries that the tables contain, or that the others have, are not lost: the member opens and soon equals the
    /// others.
    /// </summary>
    /// <param name="from">The first damaged write, counted from the last that is flushed.</param>
    /// <param name="through">The last damaged write, counted the same way.</param>
    /// <param name="label">The label of the journal's recovery.</param>
    [Theory]
    [InlineData(-1, 0, 'D')]
    [InlineData(-1, 3, 'B')]
    public void A_damaged_journal_prevents_no_start_if_tables_or_other_members_have_its_entries(
        int from,
        int through,
        char label
    )
    {
        using var cluster = SteppedCluster.Of(members: 3);
        var indexes = new Dictionary<long, string>();
        for (int i = 0; i < 100; i++)
        {
            string document = $"users/number-{i}-";
            cluster.Put(cluster.A, document, i, padding: 900);
            cluster.RunUntil(
                () => cluster.B.Consensus!.AppliedIndex == cluster.A.Consensus!.AppliedIndex,
                "B has applied the write"
            );
            indexes.Add(cluster.B.Consensus!.AppliedIndex, document);
        }

        cluster.RunFor(milliseconds: 2_000);
        long flushed = cluster.B.Store!.DurablePosition.Index;
        Assert.True(flushed + through < cluster.B.Consensus!.AppliedIndex);
        cluster.B.LosePower();
        for (int i = from; i <= through; i++)
        {
            JournalRot.At(cluster.B, indexes[flushed + i], inHeader: true);
        }

        cluster.B.Open();
        Assert.Equal(label, cluster.B.Store!.Journal.Recovery.Label);
        cluster.AwaitEqual();
        Assert.Null(cluster.B.Consensus!.Refusal);
        cluster.B.LosePower();
        cluster.B.Open();
        cluster.AwaitEqual();
    }

    /// <summary>
    /// An entry after the manifest needs a damaged row. Alone, the member serves local reads and does not retry
    /// the entry, because the outcome hash already contains an earlier write of the same frame. When the cluster
    /// continues, it takes the leader's state.
    /// </summary>
    [Fact]
    public async Task A_member_that_needs_a_damaged_row_for_its_journal_serves_reads_until_it_installs_a_leaders_state()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/rotten", 1);
        cluster.AwaitEqual();
        cluster.C.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        long durableIndex = cluster.C.Store!.DurablePosition.Index;
        var sound = cluster.A.Propose(SteppedCluster.PutOf("zz/sound", value: 2));
        var damaged = cluster.A.Propose(SteppedCluster.PutOf("users/rotten", value: 3));
        cluster.RunUntil(() => sound.IsCompleted && damaged.IsCompleted, "two writes");
        Assert.Equal((durableIndex + 1, durableIndex + 1), ((await sound).Index, (await damaged).Index));
        cluster.Put(cluster.A, "zz/later", 4);
        cluster.AwaitEqual();
        foreach (var member in new[] { cluster.A, cluster.B, cluster.C })
        {
            member.Kill();
        }

        RotRow(cluster.C.Disk, "users/rotten");
        cluster.C.Open();
        var consensus = cluster.C.Consensus!;
        Assert.Equal(durableIndex, consensus.AppliedIndex);
        cluster.RunFor(milliseconds: 5_000);
        Assert.True(
            consensus.ReadState().CommitIndex > durableIndex,
            "what the member could not apply is known to be committed"
        );
        long chain = cluster.C.Store!.Applier.OutcomeHash;
        cluster.RunFor(milliseconds: 30_000);
        Assert.Null(consensus.Refusal);
        Assert.Equal(
            (durableIndex, chain, 0),
            (consensus.AppliedIndex, cluster.C.Store!.Applier.OutcomeHash, cluster.C.Peek("zz/sound").Value)
        );

        cluster.A.Open();
        cluster.B.Open();
        cluster.AwaitEqual();
        Assert.Equal(
            (3, 2, 1),
            (cluster.C.Peek("users/rotten").Value, cluster.C.Peek("zz/sound").Value, cluster.Wire.StatesFetched)
        );
    }

    /// <summary>
    /// The others continue to write, so the commit index is always ahead of any state to fetch. Acknowledged and
    /// unapplied entries stay in the member's journal.
    /// </summary>
    [Fact]
    public void A_member_whose_damaged_row_is_written_to_installs_the_leaders_state_while_writes_continue()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/rotten", 1);
        cluster.AwaitEqual();
        cluster.C.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        RotRow(cluster.C.Disk, "users/rotten");
        cluster.Wire.FetchFailure = new StateTransferException("The first time it breaks off.");
        cluster.Put(cluster.A, "users/rotten", 2);
        int number = 0;
        for (; cluster.Wire.StatesFetched == 0; number++)
        {
            Assert.True(number < 2_000, cluster.DescribeMembers());
            cluster.Put(cluster.A, $"users/{number}", number);
        }

        Assert.Contains(
            cluster.C.Troubles,
            static trouble =>
                trouble.StartsWith(
                    "This node cannot apply further writes, because a part of its data cannot be read. It fetches "
                        + "the state of another member as soon as that member leads. ",
                    StringComparison.Ordinal
                )
        );
        cluster.Put(cluster.A, "users/rotten", 3);
        cluster.AwaitEqual();
        Assert.Equal(
            (3, number - 1),
            (cluster.C.Peek("users/rotten").Value, cluster.C.Peek($"users/{number - 1}").Value)
        );
        Assert.Null(cluster.C.Consensus!.ReadCluster().Trouble);
        Assert.False(cluster.C.Store!.Storage.HasDamage);
        cluster.C.LosePower();
        cluster.C.Open();
        cluster.AwaitEqual();
    }

    /// <summary>
    /// Only A has the last entry, so only A can be elected, and A cannot apply the entry. A leads until B has it too.
    /// </summary>
    [Fact]
    public void A_leader_that_needs_a_damaged_row_hands_leadership_over_and_installs_the_next_leaders_state()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/rotten", 1);
        cluster.AwaitEqual();
        cluster.A.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        cluster.B.Kill();
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.A.Kill();
        cluster.C.Kill();
        RotRow(cluster.A.Disk, "users/rotten");
        cluster.A.Open();
        cluster.B.Open();
        cluster.RunUntil(() => cluster.A.Consensus!.ReadState().Role == Raft.Role.Leader, "A leads");
        var answer = cluster.A.Propose(SteppedCluster.PutOf("users/asked", value: 4));
        cluster.RunUntil(() => cluster.Leader == cluster.B, "B leads");
        cluster.RunUntil(() => answer.IsCompleted, "an answer");
        cluster.AwaitEqual();
        Assert.Equal(
            (2, 4, 1),
            (cluster.A.Peek("users/rotten").Value, cluster.A.Peek("users/asked").Value, cluster.Wire.StatesFetched)
        );
        cluster.Put(cluster.A, "users/rotten", 3);
        cluster.C.Open();
        cluster.AwaitEqual();
    }

    /// <summary>
    /// Only A and B can be elected, and neither can apply: they must neither transfer leadership to each other nor
    /// wait for each other's state.
    /// </summary>
    [Fact]
    public void Two_of_five_members_that_need_damaged_rows_install_another_members_state()
    {
        using var cluster = SteppedCluster.Of(members: 5);
        var (d, e) = (cluster.Members[3], cluster.Members[4]);
        cluster.Put(cluster.A, "users/rotten", 1);
        cluster.AwaitEqual();
        cluster.A.Store!.Storage.Memtables.RequestFlush();
        cluster.B.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        d.Kill();
        e.Kill();
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.RunFor(milliseconds: 1_000);
        foreach (var member in new[] { cluster.A, cluster.B, cluster.C })
        {
            member.Kill();
        }

        RotRow(cluster.A.Disk, "users/rotten");
        RotRow(cluster.B.Disk, "users/rotten");
        foreach (var member in new[] { cluster.A, cluster.B, d, e })
        {
            member.Open();
        }

        cluster.RunUntil(() => cluster.Leader == d || cluster.Leader == e, "a member that can apply leads");
        cluster.AwaitEqual();
        Assert.Equal(
            (2, 2, 2),
            (cluster.A.Peek("users/rotten").Value, cluster.B.Peek("users/rotten").Value, cluster.Wire.StatesFetched)
        );
    }

    /// <summary>
    /// The same row is damaged on both members: no member can repair it, and callers must not wait for it.
    /// </summary>
    [Fact]
    public async Task A_write_to_a_leader_that_cannot_apply_is_answered_even_without_a_successor()
    {
        using var cluster = SteppedCluster.Of(members: 2);
        cluster.Put(cluster.A, "users/rotten", 1);
        cluster.AwaitEqual();
        cluster.A.Store!.Storage.Memtables.RequestFlush();
        cluster.B.Store!.Storage.Memtables.RequestFlush();
        cluster.RunFor(milliseconds: 1_000);
        cluster.Put(cluster.A, "users/rotten", 2);
        cluster.AwaitEqual();
        foreach (var member in new[] { cluster.A, cluster.B })
        {
            member.Kill();
            RotRow(member.Disk, "users/rotten");
        }

        cluster.A.Open();
        cluster.B.Open();
        cluster.RunUntil(
            () => cluster.Members.Exists(static member => member.Consensus!.ReadState().Role == Raft.Role.Leader),
            "a member leads"
        );
        foreach (var member in cluster.Members)
        {
            var answer = member.Propose(SteppedCluster.PutOf("users/asked", value: 4));
            cluster.RunUntil(() => answer.IsCompleted, "an answer");
            Assert.Equal(RejectionKind.NoLeader, (await answer).Rejection!.Kind);
            Assert.NotNull(member.Consensus!.ReadCluster().Trouble);
        }
    }

    /// <summary>Flips a bit in each run that contains a text.</summary>
    private static void RotRow(SimulatedDisk disk, string text)
    {
        byte[] searched = System.Text.Encoding.UTF8.GetBytes(text);
        var places = disk
            .Files.Where(static file => file.EndsWith(".run", StringComparison.Ordinal))
            .Select(file => (File: file, At: disk.ReadAll(file).AsSpan().IndexOf(searched)))
            .Where(static place => place.At >= 0)
            .ToList();
        Assert.NotEmpty(places);
        places.ForEach(place => disk.Rot(place.File, place.At, mask: 1));
    }

    /// <summary>Flips a bit in each of the last three blocks of a journal with one segment.</summary>
    private static void RotJournalEnd(SimulatedDisk disk)
    {
        string path = disk
            .Files.Where(static file => file.EndsWith(".segment", StringComparison.Ordinal))
            .Order(StringComparer.Ordinal)
            .First();
        byte[] bytes = disk.ReadAll(path);
        const int blockBytes = 4096;
        const int offsetInPayload = 70;
        int lastBlock = Array.FindLastIndex(bytes, static each => each != 0) / blockBytes;
        for (int block = lastBlock; block > lastBlock - 3; block--)
        {
            disk.Rot(path, (block * blockBytes) + offsetInPayload, mask: 1);
        }
    }

    /// <summary>
    /// Two of three disks report syncs that they did not make. The third member is right but outvoted. Its message must
    /// not ask the operator to discard its data.
    /// </summary>
    [Fact]
    public void A_member_that_alone_holds_acknowledged_writes_reports_that_when_it_halts()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/1", 1);
        cluster.AwaitEqual();
        int[] honest = [cluster.A.Disk.OperationCount, cluster.B.Disk.OperationCount];
        for (int i = 2; i <= 5; i++)
        {
            cluster.Put(cluster.C, $"users/{i}", i);
        }

        cluster.AwaitEqual();
        cluster.A.LoseAllSince(honest[0]);
        cluster.B.LoseAllSince(honest[1]);
        cluster.C.LosePower();
        cluster.A.Open();
        cluster.B.Open();
        cluster.Put(cluster.AwaitLeader(), "users/6", 6);

        cluster.C.Open();
        cluster.RunUntil(() => cluster.C.Consensus!.Refusal is { Kind: RejectionKind.Diagnosis }, "a halt");
        Assert.Equal(
            "A rule of consensus was found broken, so this node stopped taking part: committed entries are "
                + "never replaced. This node holds acknowledged writes that the other members lost: "
                + "keep its disk, and export its data with `rookery export` before you replace this node with another.",
            cluster.C.Consensus!.Refusal!.Message
        );
        Assert.Equal(4, cluster.C.Peek("users/4").Value);
    }
}
