using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>
/// No index continues in a snapshot that is older than one that it has read, and no snapshot or state stays open longer
/// than a pass needs it.
/// </summary>
public sealed class PassSnapshotsTests
{
    private const string Other = "Other";

    private static readonly IndexFeederOptions TinySteps = IndexedNode.SmallSteps with
    {
        DocumentsPerStep = 1,
        PendingBytes = 0,
        MinPendingBytes = 1,
    };

    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    /// <summary>The index is paused at each reading of the clock in a step, in turn.</summary>
    [Fact]
    public void An_index_that_is_paused_anywhere_in_a_step_leaves_no_snapshot_open()
    {
        for (int pausedAt = 1; TryStep(pausedAt); pausedAt++)
        {
            Assert.True(pausedAt < 100, "a step comes to an end");
        }

        static bool TryStep(int pausedAt)
        {
            using var node = NodeWithTwoIndexes();
            node.Put("users/0", "\"name\":2");
            var index = node.Serving(ByName.Name);
            node.Host.SetPaused(node.Database(), Other, isPaused: true);
            index.Waits.RequestFreshness(node.Database().LastEtag);
            int reads = 0;
            node.Time.BeforeRead = () =>
            {
                if (++reads == pausedAt)
                {
                    index.SetPaused(true);
                }
            };
            node.Step();
            node.Time.BeforeRead = null;
            index.SetPaused(true);
            node.Put("users/0", "\"name\":3");
            node.Settle();
            node.Time.Advance(TimeSpan.FromSeconds(10));
            node.Settle();
            Assert.Equal(TimeSpan.Zero, node.Store.Storage.Statistics().OldestReaderAge);
            index.SetPaused(false);
            node.SettleAll();
            node.Check(ByName.Name, ByName);
            return reads >= pausedAt;
        }
    }

    [Fact]
    public void An_index_whose_pass_was_interrupted_does_not_continue_in_an_older_snapshot()
    {
        using var node = NodeWithTwoIndexes();
        var (index, other) = (node.Serving(ByName.Name), node.Serving(Other));
        var passes = new PassSnapshots(node.Database());
        var older = passes.Take([index], mayRenew: false);
        node.Put("users/0", "\"name\":2");
        var newer = passes.Take([other], mayRenew: false);
        Assert.True(newer.Reader.Sequence > older.Reader.Sequence);
        passes.Release(other);
        List<RunningIndex> group = [index, other];
        Assert.True(passes.Take(group, mayRenew: false).Reader.Sequence >= newer.Reader.Sequence);
        Assert.Equal(2, group.Count);
        passes.Release(index);
        passes.Release(other);
        Assert.Equal(0, passes.Count);
    }

    [Fact]
    public void An_awaited_pass_does_not_wait_for_an_index_whose_newer_pass_was_interrupted()
    {
        using var node = NodeWithTwoIndexes();
        var (index, other) = (node.Serving(ByName.Name), node.Serving(Other));
        var passes = new PassSnapshots(node.Database());
        node.Put("users/0", "\"name\":1");
        var older = passes.Take([index], mayRenew: false);
        _ = index.Waits.WaitAsync(older.LastEtag, TimeSpan.FromHours(1), CancellationToken.None);
        node.Put("users/0", "\"name\":2");
        passes.Take([other], mayRenew: false);
        passes.Release(other);
        List<RunningIndex> group = [index, other];
        Assert.Same(older, passes.Take(group, mayRenew: false));
        Assert.Equal([index], group);
        Assert.Null(other.Pass);
        passes.Release(index);
    }

    /// <summary>A build reads a new document shortly before the database knows its etag.</summary>
    [Fact]
    public void An_index_that_was_built_during_an_apply_does_not_reflect_the_snapshot_before_it()
    {
        using var node = NodeWithTwoIndexes();
        for (int i = 1; i < 4; i++)
        {
            node.Put($"users/{i}", "\"name\":1");
        }

        node.SettleAll();
        Assert.True(node.Serving(Other).Visible.HoldsDocuments);
        node.Define("Late", new AutoIndexDefinition("Users", [new AutoIndexField(["late"], AutoIndexFieldUses.None)]));
        node.Follow();
        var late = node.Serving("Late");
        while (node.Serving(Other).Position < node.Database().LastEtag || late.DocumentsLeft != 1)
        {
            Assert.True(node.Step());
        }

        long before = node.Database().LastEtag;
        node.Transact(("users/9", "\"late\":1", "Users"), ("users/1", null, "Users"));
        long last = node.Database().LastEtag;
        node.SetLastEtag(before);
        while (late.Position == 0)
        {
            Assert.True(node.Step());
        }

        Assert.NotEqual(before, late.ConsistentEtag);
        node.SetLastEtag(last);
        node.SettleAll();
        Assert.Equal(last, late.ConsistentEtag);
    }

    [Fact]
    public void A_state_that_is_kept_open_is_released_when_the_disk_has_no_room()
    {
        using var node = NodeWithTwoIndexes();
        for (int i = 0; i < 5; i++)
        {
            node.Put($"users/{i}", "\"name\":2");
        }

        var index = node.Serving(ByName.Name);
        while (!index.Visible.IsKept)
        {
            Assert.True(node.Step());
        }

        node.HasRoom = false;
        Assert.False(node.Step());
        node.Host.InterruptPasses();
        Assert.False(index.Visible.IsKept);
        Assert.True(node.Status(ByName.Name).IsStale);
        Assert.Equal(0, index.ConsistentEtag);
        node.HasRoom = true;
        node.SettleAll();
        Assert.False(node.Status(ByName.Name).IsStale);
        node.Check(ByName.Name, ByName);
    }

    [Fact]
    public void A_replacement_that_is_not_consistent_does_not_replace_a_consistent_index()
    {
        using var node = IndexedNode.New(TinySteps);
        node.DefineField(Other, "o.name");
        Write(10);
        node.SettleAll();
        node.DefineField(Other, "o.name + 1");
        node.Follow();
        Assert.True(node.Host.TryGetSlot(node.Database(), Other, out var slot));
        var replacement = slot.Replacement!;
        while (replacement.DocumentsLeft is null)
        {
            Assert.True(node.Step());
        }

        Write(10);
        while (replacement.Position == 0)
        {
            Assert.True(node.Step());
        }

        // Each pass of the replacement is interrupted, while the serving index is paused.
        slot.Serving.SetPaused(true);
        int partial = 0;
        for (int i = 0; i < 60 && node.Serving(Other) != replacement; i++)
        {
            Write(2);
            node.Step();
            partial += replacement.VisibleEtag >= slot.Serving.VisibleEtag && replacement.ConsistentEtag == 0 ? 1 : 0;
            node.Host.InterruptPasses();
        }

        Assert.NotEqual(0, partial);
        Assert.NotSame(replacement, node.Serving(Other));
        node.SettleAll();
        Assert.Same(replacement, node.Serving(Other));
        Assert.False(node.Status(Other).IsStale);

        void Write(int count)
        {
            for (int i = 0; i < count; i++)
            {
                node.Put($"users/{i}", $"\"name\":{node.Database().LastEtag}");
            }
        }
    }

    private static IndexedNode NodeWithTwoIndexes()
    {
        var node = IndexedNode.New(TinySteps);
        node.Define(ByName.Name, ByName);
        node.DefineField(Other, "o.name");
        node.Put("users/0", "\"name\":1");
        node.SettleAll();
        return node;
    }
}
