using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

public sealed class IndexFeederTests
{
    private static readonly AutoIndexDefinition ByName = DefinitionOf("Users", "name");

    [Fact]
    public void An_index_includes_existing_documents_and_later_puts_deletes_and_changes_of_collection()
    {
        using var node = IndexedNode.New();
        for (int i = 0; i < 50; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i % 7}\",\"age\":{i}");
            node.Put($"orders/{i}", $"\"name\":\"o{i}\"", "Orders");
        }

        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Check(ByName.Name, ByName);
        Assert.Equal(50, node.Status(ByName.Name).Documents);
        Assert.False(node.Status(ByName.Name).IsStale);

        node.Put("Users/3", "\"name\":\"changed\"");
        node.Delete("users/4");
        node.Put("users/5", "\"name\":\"moved\"", "Orders");
        node.Put("orders/6", "\"name\":\"came\"");
        node.Put("users/7", "");
        node.Put("new", "\"name\":[\"a\",[\"b\"],null,{\"c\":1}]");
        Assert.True(node.Status(ByName.Name).IsStale);
        node.SettleAll();
        node.Check(ByName.Name, ByName);
        Assert.False(StoreContents.Of(node.StoreOf(ByName.Name)).ContainsKey("users/5"));
    }

    /// <summary>
    /// An earlier version merged only while no index had documents to read: a build beside others wrote 1,400 segments,
    /// and each query of the index opened all of them.
    /// </summary>
    [Fact]
    public void A_build_waits_for_merges_before_it_writes_very_many_segments()
    {
        const int Most = 64;
        var options = IndexedNode.SmallSteps with { PendingBytes = 1 << 10, MinPendingBytes = 1 << 10 };
        using var node = IndexedNode.New(options);
        for (int i = 0; i < 700; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i}\"");
        }

        node.Define(ByName.Name, ByName);
        int most = 0;
        while (node.Step())
        {
            using var snapshot = node.StoreOf(ByName.Name).OpenSnapshot();
            most = Math.Max(most, snapshot.Segments.Count);
        }

        Assert.Equal(Most, most);
        node.Check(ByName.Name, ByName);
    }

    /// <summary>
    /// The only group has one entry, so its segments never need a merge. The rows of all documents do: a run of each of
    /// three groups of tables at each write.
    /// </summary>
    [Fact]
    public void A_map_reduce_build_waits_for_merges_of_its_rows_before_it_writes_very_many_runs()
    {
        const int Most = 3 * 64;
        const int Written = 4; // outputs of a merge, beside its inputs until these are deleted
        var options = IndexedNode.SmallSteps with { PendingBytes = 1 << 10, MinPendingBytes = 1 << 10 };
        using var node = IndexedNode.New(options);
        for (int i = 0; i < 1400; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i}\"");
        }

        node.Define(
            """{"Maps":["map('Users', u => ({ k: 1, n: 1 }))"],"Reduce":"groupBy(x => x.k).aggregate(g => ({ k: g.key, n: g.values.reduce((s, v) => s + v.n, 0) }))"}""",
            "counts"
        );
        int most = 0;
        while (node.Step())
        {
            var files = node.Disk.List(IndexedNode.Directory + "/indexes/1/1/rows");
            most = Math.Max(most, files.Count(static name => name.EndsWith(".run", StringComparison.Ordinal)));
        }

        Assert.InRange(most, Most / 2, Most + Written);
        Assert.Equal(["""{"k":1,"n":1400}"""], node.ReadRows("counts"));
    }

    [Fact]
    public void A_finished_build_is_visible_at_once_and_later_changes_are_buffered()
    {
        using var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"a\"");
        node.Define(ByName.Name, ByName);
        node.Settle();
        Assert.False(node.Status(ByName.Name).IsStale);
        node.Put("users/2", "\"name\":\"b\"");
        node.Settle();
        Assert.True(node.Status(ByName.Name).IsStale);
    }

    [Fact]
    public void A_write_of_a_document_makes_an_index_stale_but_one_of_a_compare_exchange_value_does_not()
    {
        using var node = IndexedNode.New();
        node.Put("users/1", "\"name\":\"a\"");
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        Write("lock"u8);
        Assert.False(node.Status(ByName.Name).IsStale);
        Assert.True(node.Database().LastEtagForIndexes < node.Database().LastEtag);

        node.Put("users/2", "\"name\":\"b\"");
        Write("other"u8);
        Assert.True(node.Status(ByName.Name).IsStale);
        node.SettleAll();
        Assert.False(node.Status(ByName.Name).IsStale);
        node.Check(ByName.Name, ByName);

        void Write(ReadOnlySpan<byte> key) =>
            node.Run(
                CommandEncoder.PutCompareExchange(
                    node.Database().Number,
                    key,
                    index: 0,
                    new ParsedDocument { BodyHead = "\"Object\":1"u8 },
                    requestKey: default
                )
            );
    }

    [Fact]
    public void Indexes_of_all_documents_keep_a_document_that_changes_its_collection()
    {
        using var node = IndexedNode.New();
        var all = DefinitionOf(null, "name");
        node.Define(all.Name, all);
        node.Put("a", "\"name\":1", "Users");
        node.SettleAll();
        node.Put("a", "\"name\":2", "Orders");
        node.Put("b", "\"name\":3", "Orders");
        node.SettleAll();
        Assert.Equal(["a", "b"], StoreContents.Of(node.StoreOf(all.Name)).Keys);
        node.Check(all.Name, all);
    }

    [Fact]
    public void Indexes_at_one_position_share_each_read_and_lagging_ones_join_them()
    {
        using var node = IndexedNode.New();
        for (int i = 0; i < 60; i++)
        {
            node.Put($"users/{i}", $"\"name\":{i}");
        }

        string[] names = [.. Enumerable.Range(0, 4).Select(static i => $"index{i}")];
        foreach (string name in names)
        {
            node.Define(name, DefinitionOf("Users", name, "name"));
        }

        node.SettleAll();
        Assert.Equal(60, Feeder(node).DocumentsRead);

        // An index that was paused reads the missed changes alone, and later ones with the others.
        node.Host.SetPaused(node.Database(), "index0", isPaused: true);
        Write(node, from: 60, to: 80);
        node.SettleAll();
        Assert.Equal(80, Feeder(node).DocumentsRead);
        node.Host.SetPaused(node.Database(), "index0", isPaused: false);
        Write(node, from: 80, to: 90);
        node.SettleAll();
        Assert.InRange(Feeder(node).DocumentsRead, 110, 120);
        long before = Feeder(node).DocumentsRead;
        Write(node, from: 90, to: 100);
        node.SettleAll();
        Assert.Equal(before + 10, Feeder(node).DocumentsRead);
        Assert.All(names, name => node.Check(name, DefinitionOf("Users", name, "name")));
    }

    [Fact]
    public void A_lagging_index_catches_up_with_the_next_one_and_both_continue_together()
    {
        using var node = IndexedNode.New();
        node.Define("far", ByName);
        node.Define("behind", ByName);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), "far", isPaused: true);
        Write(node, from: 0, to: 100);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), "behind", isPaused: true);
        Write(node, from: 100, to: 300);
        node.SettleAll();
        Assert.Equal(100, Feeder(node).DocumentsRead);

        node.Host.SetPaused(node.Database(), false);
        node.SettleAll();
        Assert.InRange(Feeder(node).DocumentsRead, 400, 400 + (300 / IndexedNode.SmallSteps.DocumentsPerStep) + 1);
        node.Check("far", ByName);
        node.Check("behind", ByName);
    }

    [Fact]
    public void Nothing_is_written_without_changes_and_small_changes_are_buffered()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.Define("other", DefinitionOf("Others", "name"));
        node.SettleAll();
        long before = node.StoreOf(ByName.Name).Watermark;
        Write(node, from: 0, to: 20);
        node.Settle();
        Assert.Equal(before, node.StoreOf(ByName.Name).Watermark);
        Assert.True(node.Status(ByName.Name).IsStale);
        Assert.False(node.Status("other").IsStale);
        node.SettleAll();
        Assert.Equal(node.Database().LastEtag, node.StoreOf(ByName.Name).Watermark);
        Assert.Equal(before, node.StoreOf("other").Watermark);

        int operations = node.Disk.OperationCount;
        for (int i = 0; i < 10; i++)
        {
            node.Time.Advance(TimeSpan.FromMinutes(1));
            Assert.False(node.Host.Step());
            Assert.False(node.Host.HasPending);
        }

        Assert.Equal(operations, node.Disk.OperationCount);
    }

    [Fact]
    public void An_index_without_matching_documents_is_not_built_again_after_a_restart()
    {
        var options = IndexedNode.SmallSteps with { EtagsBetweenPositionWrites = 50 };
        var node = IndexedNode.New(options);
        Write(node, from: 0, to: 30);
        node.Define("other", DefinitionOf("Others", "name"));
        node.SettleAll();
        long before = node.StoreOf("other").Watermark;
        Write(node, from: 30, to: 90);
        node.SettleAll();
        Assert.True(node.StoreOf("other").Watermark >= before + options.EtagsBetweenPositionWrites);
        Write(node, from: 90, to: 95);
        node = node.Restart(powerLossSeed: 3, options);
        node.SettleAll();
        Assert.InRange(Feeder(node).DocumentsRead, 5, 20);
        node.Dispose();
    }

    [Fact]
    public async Task A_wait_ends_as_soon_as_the_awaited_etag_is_visible()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("a", "\"name\":1");
        bool isWakeRequested = false;
        node.Host.WakeRequested = () => isWakeRequested = true;
        var waiting = node.Host.WaitAsync(
            node.Database(),
            ByName.Name,
            node.Database().LastEtag,
            TimeSpan.FromSeconds(1),
            CancellationToken.None
        );
        Assert.True(isWakeRequested && !waiting.IsCompleted);
        node.Settle();
        Assert.True(await waiting);
        node.Check(ByName.Name, ByName);

        waiting = node.Host.WaitAsync(
            node.Database(),
            ByName.Name,
            node.Database().LastEtag + 1,
            TimeSpan.FromSeconds(1),
            CancellationToken.None
        );
        node.Settle();
        Assert.False(waiting.IsCompleted);
        node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.False(await waiting);
        Assert.False(node.Host.IsAwaited);
        Assert.False(
            await node.Host.WaitAsync(node.Database(), "none", 1, TimeSpan.FromSeconds(1), CancellationToken.None)
        );
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: true);
        Assert.False(
            await node.Host.WaitAsync(
                node.Database(),
                ByName.Name,
                node.Database().LastEtag + 1,
                TimeSpan.FromSeconds(1),
                CancellationToken.None
            )
        );
    }

    [Fact]
    public async Task Entries_before_an_awaited_etag_are_written_at_the_end_of_the_pass()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        Write(node, from: 0, to: 100);
        long before = node.Serving(ByName.Name).VisibleEtag;
        long last = node.Database().LastEtag;
        var waitings = new[] { last - 50, last }
            .Select(etag =>
                node.Serving(ByName.Name).Waits.WaitAsync(etag, TimeSpan.FromHours(1), CancellationToken.None)
            )
            .ToArray();
        while (node.Serving(ByName.Name).VisibleEtag == before)
        {
            Assert.True(node.Host.Step());
        }

        Assert.Equal(last, node.Serving(ByName.Name).VisibleEtag);
        Assert.All(await Task.WhenAll(waitings), Assert.True);
        using var snapshot = node.StoreOf(ByName.Name).OpenSnapshot();
        Assert.Single(snapshot.Segments);
    }

    /// <summary>Clients wait for an index by reading statistics repeatedly.</summary>
    [Fact]
    public void An_index_whose_freshness_was_requested_does_not_buffer_changes()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("a", "\"name\":\"x\"");
        node.Settle();
        Assert.True(node.Status(ByName.Name).IsStale);
        node.Serving(ByName.Name).Waits.RequestFreshness(node.Database().LastEtag);
        node.Settle();
        Assert.False(node.Status(ByName.Name).IsStale);
        Assert.False(node.Serving(ByName.Name).IsAwaited);

        // A request has an effect for less than a second, and none while the index is paused.
        node.Put("b", "\"name\":\"x\"");
        node.Serving(ByName.Name).Waits.RequestFreshness(node.Database().LastEtag);
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: true);
        Assert.False(node.Serving(ByName.Name).IsAwaited);
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: false);
        Assert.True(node.Serving(ByName.Name).IsAwaited);
        node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.False(node.Serving(ByName.Name).IsAwaited);
    }

    [Fact]
    public void Other_indexes_read_changes_during_a_long_build()
    {
        using var node = IndexedNode.New();
        Write(node, from: 0, to: 300);
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        var late = DefinitionOf("Users", "age");
        node.Define(late.Name, late);
        node.Put("fresh", "\"name\":\"fresh\"");
        for (int i = 0; i < 4; i++)
        {
            Assert.True(node.Host.Step());
        }

        Assert.Equal(node.Database().LastEtag, node.Serving(ByName.Name).Position);
        Assert.Equal(0, node.Serving(late.Name).Position);
        var progress = node.Status(late.Name).Progress;
        Assert.InRange(progress.Done, 7, 30);
        Assert.Equal(301, progress.Total);
        node.SettleAll();
        node.Check(late.Name, late);
    }

    [Fact]
    public void An_index_that_lags_behind_removed_tombstones_is_rebuilt()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        Write(node, from: 0, to: 20);
        node.SettleAll();
        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: true);
        node.Delete("users/3");
        node.Run(CommandEncoder.SetTombstoneHorizon(node.Database().Number, node.Database().LastEtag));
        node.Store.Storage.Memtables.RequestFlush();
        while (node.Store.Background.DoStep()) { }

        node.Host.SetPaused(node.Database(), ByName.Name, isPaused: false);
        node.SettleAll();
        node.Check(ByName.Name, ByName);
        Assert.Equal(19, node.Status(ByName.Name).Documents);
    }

    [Fact]
    public void A_refused_write_is_tried_again_and_shown_in_the_status()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        Write(node, from: 0, to: 20);
        node.Settle();
        node.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Create,
                PathContains = "/segment-",
                Sticky = true,
            }
        );
        Write(node, from: 20, to: 25);
        node.SettleAll();
        Assert.Contains("cannot be written", node.Status(ByName.Name).Trouble, StringComparison.Ordinal);
        Assert.True(node.Status(ByName.Name).IsStale);
        node.Put("more", "\"name\":1");
        node.SettleAll();

        node.Disk.ClearFaults();
        node.SettleAll();
        node.SettleAll();
        Assert.Null(node.Status(ByName.Name).Trouble);
        node.Check(ByName.Name, ByName);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_step_ends_when_the_entries_of_its_documents_take_many_bytes(bool isBuild)
    {
        using var node = IndexedNode.New(
            new IndexFeederOptions { MinPendingBytes = 32 << 10, PendingBytes = 32 << 10 }
        );
        var definition = DefinitionOf("Users", "tags");
        if (!isBuild)
        {
            node.Define("tags", definition);
            node.SettleAll();
        }

        for (int i = 0; i < 200; i++)
        {
            node.Put($"users/{i}", $"\"tags\":[{string.Join(',', Enumerable.Range(i * 60, 60))}]");
        }

        if (isBuild)
        {
            node.Define("tags", definition);
        }

        Assert.True(node.Host.Step());
        Assert.InRange(node.StoreOf("tags").Documents, 1, 40);
        node.SettleAll();
        node.Check("tags", definition);
    }

    [Fact]
    public void A_document_with_too_many_values_is_an_error_and_other_documents_are_indexed()
    {
        using var node = IndexedNode.New(new IndexFeederOptions());
        node.Define("tags", DefinitionOf("Users", "tags"));
        node.Put("many", $"\"tags\":[{string.Join(',', Enumerable.Range(0, 140_000))}]");
        node.Put("few", "\"tags\":[1,2]");
        node.SettleAll();
        var terms = StoreContents.TermsOf(node.StoreOf("tags"));
        Assert.Equal(["few", "many"], terms.Keys);
        string mark = $"{MappedField.PresenceOf(1)}:01";
        Assert.Equal([mark], terms["many"]);
        Assert.Contains(
            "131072 values",
            Assert.Single(node.Host.ReadErrors(node.Database(), "tags")).Message,
            StringComparison.Ordinal
        );
    }

    /// <summary>Earlier versions defined such an index for a query, before they refused the query.</summary>
    [Fact]
    public void An_index_of_a_collection_whose_name_is_longer_than_that_of_any_document_is_empty()
    {
        var definition = DefinitionOf(new string('x', 2_000), "name");
        using var node = IndexedNode.New();
        node.Put("a", "\"name\":1");
        node.Define("long", definition);
        node.SettleAll();
        node.Put("b", "\"name\":2");
        node.SettleAll();
        Assert.False(node.Status("long").IsStale);
        node.Check("long", definition);
    }

    [Fact]
    public void Nothing_is_indexed_without_free_space()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.HasRoom = false;
        node.Put("a", "\"name\":1");
        node.SettleAll();
        Assert.True(node.Status(ByName.Name).IsStale);
        node.HasRoom = true;
        node.SettleAll();
        node.Check(ByName.Name, ByName);
    }

    private static AutoIndexDefinition DefinitionOf(string? collection, params string[] fields) =>
        new(collection, fields.Select(static field => new AutoIndexField([field], AutoIndexFieldUses.Exact)));

    private static IndexFeeder Feeder(IndexedNode node) =>
        node.Host.TryGetCatalog(node.Database(), out var catalog)
            ? catalog.Feeder
            : throw new InvalidOperationException();

    private static void Write(IndexedNode node, int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            node.Put($"users/{i}", $"\"name\":\"n{i}\",\"age\":{i}");
        }
    }
}
