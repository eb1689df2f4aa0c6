using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// A lagging member receives its missing entries from the leader's cache or journal, or a snapshot of its tables.
/// </summary>
public sealed class HostCatchUpTests
{
    [Fact]
    public void A_member_that_was_off_gets_its_missing_entries_from_the_journal()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 40; i++)
        {
            cluster.Do(cluster.A, SteppedCluster.PutOf($"users/{i}", i, padding: 900));
        }

        cluster.C.Open();
        var writes = Enumerable
            .Range(40, 20)
            .Select(i => cluster.A.Propose(SteppedCluster.PutOf($"users/{i}", i, padding: 900)))
            .ToList();
        cluster.AwaitEqual(seconds: 5);
        Assert.All(writes, write => Assert.Null(write.Result.Rejection));
        Assert.Equal(39, cluster.C.Peek("users/39").Value);
    }

    [Fact]
    public void Frames_applied_from_the_journal_are_counted_if_they_were_written_after_the_start()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Put(cluster.A, "users/0", 0, padding: 900);
        cluster.AwaitEqual();
        cluster.C.Kill();
        long before = cluster.A.Consensus!.ReadStatistics().Frames;
        for (int i = 1; i < 40; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        cluster.C.Open();
        cluster.AwaitEqual(seconds: 5);
        Assert.Equal(
            cluster.A.Consensus!.ReadStatistics().Frames - before,
            cluster.C.Consensus!.ReadStatistics().Frames
        );
    }

    [Fact]
    public void A_member_that_lags_by_many_messages_gets_them_in_their_order()
    {
        using var cluster = new SteppedCluster(seed: 1) { MaxMessageBytes = 2 << 10 }.Form(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 200; i++)
        {
            cluster.Do(cluster.A, SteppedCluster.PutOf($"users/{i}", i, padding: 900));
        }

        cluster.C.Open();
        cluster.AwaitEqual(seconds: 5);
        Assert.Equal(199, cluster.C.Peek("users/199").Value);
    }

    /// <summary>
    /// The newest entries are cached, the older ones are read from the journal, which takes longer. The member would
    /// refuse all entries that arrive before the older ones, and get them again and again.
    /// </summary>
    [Fact]
    public void A_lagging_member_is_sent_no_entries_before_the_earlier_ones()
    {
        using var cluster = new SteppedCluster(seed: 1) { MaxMessageBytes = 2 << 10 }.Form(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 40; i++)
        {
            cluster.Do(cluster.A, SteppedCluster.PutOf($"users/{i}", i, padding: 900));
        }

        long sentThrough = 0;
        var gaps = new List<Message>();
        cluster.Wire.MessageSent = message =>
        {
            if (
                message.Kind == MessageKind.Append
                && message.To == cluster.C.Id
                && message.LastIndex > message.Position.Index
            )
            {
                gaps.AddRange(sentThrough > 0 && message.Position.Index > sentThrough ? [message] : []);
                sentThrough = message.LastIndex;
            }
        };
        cluster.C.Open();
        cluster.AwaitEqual(seconds: 5);
        Assert.True(sentThrough > 40, "C got its entries from the log");
        Assert.Empty(gaps);
    }

    [Fact]
    public void A_member_gets_the_state_when_the_entries_that_it_misses_were_released_after_the_last_flush()
    {
        using var cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 0 }.Form(members: 3);
        cluster.C.Kill();
        // While the journal is read, it releases no segment.
        using (cluster.A.Store!.Journal.Read())
        {
            for (int i = 0; i < 200; i++)
            {
                cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
            }

            cluster.RunFor(milliseconds: 3_000);
        }

        cluster.RunFor(milliseconds: 3_000);
        Assert.True(cluster.A.Store!.Journal.FirstIndex > 100, "the entries that C lacks are released");
        cluster.Wire.FetchFailure = new TimeoutException("No failure of a fetch may prevent later fetches.");
        cluster.C.Open();
        cluster.RunUntil(
            () =>
                cluster.C.Consensus!.ReadCluster().Trouble is { } trouble
                && trouble.EndsWith(
                    "could not be fetched, and is requested again: the log says why.",
                    StringComparison.Ordinal
                ),
            "C reports what keeps it back"
        );
        cluster.AwaitEqual(seconds: 20);
        Assert.Null(cluster.C.Consensus!.ReadCluster().Trouble);
        Assert.Equal(1, cluster.Wire.StatesFetched);
        Assert.Null(cluster.Wire.FetchFailure);
    }

    [Fact]
    public void A_founder_retains_entries_once_another_member_may_need_them()
    {
        using var cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 1 << 30 }.Form(members: 1);
        PutMany(from: 0);
        long firstIndexAlone = cluster.A.Store!.Journal.FirstIndex;
        Assert.True(firstIndexAlone > 100, "alone, the member releases its entries");

        cluster.Members.Add(new SteppedMember(cluster, number: 1, mayBegin: false));
        cluster.B.Open();
        cluster.Change(MemberChange.Learner, cluster.B);
        long joinIndex = cluster.A.Consensus!.ReadState().ConfigurationIndex;
        PutMany(from: 200);
        Assert.InRange(cluster.A.Store!.Journal.FirstIndex, firstIndexAlone, joinIndex);

        void PutMany(int from)
        {
            for (int i = from; i < from + 200; i++)
            {
                cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
            }

            cluster.RunFor(milliseconds: 6_000);
        }
    }

    [Fact]
    public void A_member_that_misses_few_changes_of_a_large_state_fetches_only_the_changes()
    {
        using var cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 0 }.Form(members: 3);
        for (int i = 0; i < 600; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        cluster.AwaitEqual();
        cluster.C.Kill();
        for (int i = 0; i < 200; i++)
        {
            cluster.Put(cluster.A, $"users/{i * 3 % 100}", 1_000 + i, padding: 900);
        }

        cluster.RunFor(milliseconds: 6_000);
        Assert.True(cluster.A.Store!.Journal.FirstIndex > 700, "some of the entries that C lacks are released");
        cluster.C.Open();
        cluster.AwaitEqual(seconds: 20);
        Assert.Equal((1, 1), (cluster.Wire.StatesFetched, cluster.Wire.ChangesFetched));
        Assert.Equal((599, 1_199), (cluster.C.Peek("users/599").Value, cluster.C.Peek("users/97").Value));
    }

    /// <summary>
    /// A member that offers a snapshot keeps the entries after it until the snapshot is fetched, even if much is
    /// written and flushed (docs/explanation/consensus.md, manifest-treadmill).
    /// </summary>
    [Fact]
    public void A_member_that_fetches_a_state_catches_up_while_writes_continue()
    {
        using var cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 0 }.Form(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 400; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        cluster.RunFor(milliseconds: 6_000);
        Assert.True(cluster.A.Store!.Journal.FirstIndex > 300, "the entries that C lacks are released");
        bool isWriting = true;
        long mostKeptEntries = 0;
        _ = WriteAsync();
        cluster.C.Open();
        cluster.RunUntil(
            () =>
            {
                mostKeptEntries = Math.Max(
                    mostKeptEntries,
                    cluster.A.Store!.DurablePosition.Index - cluster.A.Store.Journal.FirstIndex
                );
                return cluster.Wire.StatesFetched > 0
                    && cluster.C.Consensus!.AppliedIndex > cluster.A.Consensus!.AppliedIndex - 5;
            },
            "C has caught up while writes go on"
        );
        Assert.Equal(1, cluster.Wire.StatesFetched);
        Assert.True(mostKeptEntries > 150, $"only {mostKeptEntries} entries were kept only for C");
        isWriting = false;
        cluster.AwaitEqual();

        async Task WriteAsync()
        {
            for (int i = 0; isWriting; i++)
            {
                await cluster.A.Propose(SteppedCluster.PutOf($"later/{i}", i, padding: 900));
            }
        }
    }

    [Fact]
    public void A_member_applies_its_own_journal_before_it_fetches_changes()
    {
        using var cluster = new SteppedCluster(seed: 1) { RetainedJournalBytes = 0 }.Form(members: 3);
        for (int i = 0; i < 600; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        cluster.AwaitEqual();
        long neededSince = cluster.C.Store!.Installation.ChangesNeededSince!.Value;
        cluster.C.Kill();
        for (int i = 0; i < 200; i++)
        {
            cluster.Put(cluster.A, $"users/{i * 3 % 100}", 1_000 + i, padding: 900);
        }

        cluster.RunFor(milliseconds: 6_000);
        cluster.LongestApplyMilliseconds = 60;
        cluster.C.Open();
        Assert.True(
            cluster.C.Store!.Installation.ChangesNeededSince < neededSince - 20,
            "there are entries to apply at its start"
        );
        cluster.AwaitEqual(seconds: 60);
        Assert.Equal(1, cluster.Wire.ChangesFetched);

        // C first applies all its entries but the last: each write records the commit index before it.
        Assert.InRange(cluster.Wire.FetchedSince!.Value, neededSince - 5, neededSince);
    }

    /// <summary>The next leader's message arrives between fetch and install, which waits for a journal write.</summary>
    [Fact]
    public void A_state_is_not_fetched_again_because_a_journal_write_delays_its_installation()
    {
        using var cluster = new SteppedCluster(seed: 1)
        {
            RetainedJournalBytes = 0,
            WrapDisk = static (member, disk) => new StallingDisk(disk, member),
        }.Form(members: 3);
        for (int i = 0; i < 200; i++)
        {
            cluster.Put(cluster.A, $"users/{i}", i, padding: 900);
        }

        cluster.AwaitEqual();
        cluster.C.Kill();
        for (int i = 0; i < 200; i++)
        {
            cluster.Put(cluster.A, $"users/{i % 100}", 1_000 + i, padding: 900);
        }

        cluster.RunFor(milliseconds: 6_000);
        cluster.C.Open();
        cluster.RunUntil(() => cluster.Wire.StatesFetched == 1, "C has fetched the state");
        Assert.True(
            cluster.C.Consensus!.AppliedIndex < cluster.A.Store!.Journal.FirstIndex,
            "the fetched state is not installed yet"
        );
        cluster.C.StallNextSync(3_000);
        cluster.A.Consensus!.Transfer(cluster.B.Id);
        cluster.RunUntil(() => cluster.B.Consensus!.IsLeader, "B leads");
        cluster.AwaitEqual(seconds: 20);
        Assert.Equal(1, cluster.Wire.StatesFetched);
    }

    [Fact]
    public void A_lagging_member_catches_up_while_writes_continue()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.C.Kill();
        for (int i = 0; i < 30; i++)
        {
            cluster.Do(cluster.A, SteppedCluster.PutOf($"users/{i}", i, padding: 900));
        }

        cluster.C.Open();
        long target = cluster.A.Consensus!.AppliedIndex;
        for (int i = 30; i < 400 && cluster.C.Consensus!.AppliedIndex < target; i++)
        {
            cluster.Do(cluster.A, SteppedCluster.PutOf($"users/{i}", i));
        }

        Assert.True(cluster.C.Consensus!.AppliedIndex >= target, cluster.DescribeMembers());
    }
}
