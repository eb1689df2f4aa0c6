using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>
/// An index that is not stale reflects one snapshot of the documents, never a part of a transaction. A pass of an index
/// reads the changes up to one snapshot.
/// </summary>
public sealed class ConsistentStatesTests
{
    private const string Totals = "Totals";
    private const string Pairs = "Pairs";
    private const int Accounts = 12;

    // A step indexes one document, and its entries are written at once because they may take almost no memory.
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

    [Fact]
    public void A_document_that_moves_to_another_id_is_seen_once_after_each_step()
    {
        using var node = IndexedNode.New(TinySteps);
        node.Define(ByName.Name, ByName);
        node.Put("users/0", "\"name\":\"ann\"");
        node.SettleAll();
        for (int i = 0; i < 20; i++)
        {
            node.Transact(
                ($"users/{i + 1}", "\"name\":\"ann\"", "Users"),
                ($"users/{i}", null, "Users"),
                ("others/1", $"\"name\":{i}", "Others")
            );
            while (node.Step())
            {
                using var snapshot = node.Serving(ByName.Name).OpenSnapshot();
                Assert.Single(StoreContents.Of(snapshot));
            }
        }

        Assert.False(node.Status(ByName.Name).IsStale);
        node.Check(ByName.Name, ByName);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Sums_and_loaded_documents_come_from_one_snapshot_while_a_client_writes(int seed)
    {
        var random = new Random(seed);
        var options = TinySteps with
        {
            DocumentsPerStep = 1 + random.Next(4),
            MinPendingBytes = random.Next(2) == 0 ? 1 : 1 << 10,
        };
        var node = IndexedNode.New(options);
        int[] amounts = new int[Accounts];
        node.Transact([.. Enumerable.Range(0, Accounts).SelectMany(account => DocumentsOf(account, 0))]);
        Define(node);
        node.SettleAll();
        long restartedAt = 0;
        for (int step = 0; step < 600; step++)
        {
            if (random.Next(3) == 0)
            {
                int from = random.Next(Accounts);
                int to = (from + 1 + random.Next(Accounts - 1)) % Accounts;
                int amount = random.Next(1, 9);
                (amounts[from], amounts[to]) = (amounts[from] - amount, amounts[to] + amount);
                node.Transact([.. DocumentsOf(from, amounts[from]), .. DocumentsOf(to, amounts[to])]);
            }

            if (random.Next(150) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null, options);
                node.Follow();
                restartedAt = node.Database().LastEtag;
            }

            if (random.Next(100) == 0)
            {
                node.Host.Reset(node.Database(), random.Next(2) == 0 ? Totals : Pairs);
            }

            node.Step();
            node.Time.Advance(TimeSpan.FromSeconds(random.Next(3)));
            Check($"step {step}");
        }

        node.SettleAll();
        Check("end");
        Assert.All(node.Host.ReadStatus(node.Database()), static status => Assert.False(status.IsStale));
        Assert.Equal(Accounts, Read(node, Pairs).Count);
        node.Dispose();

        // An index that was opened again may show a part of a transaction until its pass is complete.
        void Check(string context)
        {
            if (IsChecked(Totals))
            {
                Assert.True(Read(node, Totals).Sum(static row => row.GetProperty("total").GetInt32()) == 0, context);
            }

            if (IsChecked(Pairs))
            {
                var rows = Read(node, Pairs);
                Assert.True(rows.Sum(static row => row.GetProperty("own").GetInt32()) == 0, context);
                Assert.All(
                    rows,
                    row => Assert.Equal(row.GetProperty("own").GetInt32(), row.GetProperty("loaded").GetInt32())
                );
            }
        }

        bool IsChecked(string name) =>
            node.Host.TryGetSlot(node.Database(), name, out var slot)
            && slot.Serving.VisibleEtag > 0
            && slot.Serving.VisibleEtag >= restartedAt;
    }

    [Fact]
    public void A_query_reads_documents_in_the_snapshot_that_the_index_reflects_also_during_a_write()
    {
        Action? check = null;
        using var node = IndexedNode.New(TinySteps, wrapStore: store => new CheckedStore(store, () => check?.Invoke()));
        node.Define(ByName.Name, ByName);
        node.Put("users/0", "\"name\":\"ann\"");
        node.SettleAll();
        int compared = 0;
        check = Compare;
        for (int i = 0; i < 20; i++)
        {
            node.Transact(($"users/{i + 1}", "\"name\":\"ann\"", "Users"), ($"users/{i}", null, "Users"));
            node.SettleAll();
            Compare();
        }

        Assert.InRange(compared, 60, int.MaxValue);

        void Compare()
        {
            using var snapshot = node.Serving(ByName.Name).OpenSnapshot(out _, out var documents);
            string id = Assert.Single(StoreContents.Of(snapshot)).Key;
            Assert.NotNull(documents);
            using var reader = documents.Value;
            Assert.True(reader.TryGetDocument(System.Text.Encoding.UTF8.GetBytes(id), out var document), id);
            document.Dispose();
            compared++;
        }
    }

    [Fact]
    public async Task An_awaited_etag_is_reached_while_a_client_writes_faster_than_the_index_reads()
    {
        using var node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
        node.Define(ByName.Name, ByName);
        for (int i = 0; i < 40; i++)
        {
            node.Put($"users/{i}", "\"name\":1");
        }

        node.SettleAll();
        int written = 0;
        for (int round = 0; round < 5; round++)
        {
            // The index is in the middle of a pass.
            WriteTwo();
            var index = node.Serving(ByName.Name);
            for (int steps = 0; steps < 20; steps++)
            {
                WriteTwo();
                Assert.True(node.Step());
            }

            long awaited = node.Database().LastEtag;
            var waiting = index.Waits.WaitAsync(awaited, TimeSpan.FromHours(1), CancellationToken.None);

            // The current pass moves to the newest snapshot, and reads each document at most once.
            for (int steps = 42; index.VisibleEtag < awaited; steps--)
            {
                Assert.True(steps > 0, $"round {round}");
                WriteTwo();
                Assert.True(node.Step());
            }

            Assert.True(await waiting);
        }

        Assert.True(node.Serving(ByName.Name).VisibleEtag < node.Database().LastEtag);
        node.SettleAll();
        node.Check(ByName.Name, ByName);

        void WriteTwo()
        {
            for (int i = 0; i < 2; i++, written++)
            {
                node.Put($"users/{written % 40}", $"\"name\":{written}");
            }
        }
    }

    [Fact]
    public void An_awaited_pass_is_not_continued_in_the_newer_snapshot_of_another_index()
    {
        using var node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
        node.Define(ByName.Name, ByName);
        node.DefineField("Other", "o.name");
        node.SettleAll();
        SetPaused(ByName.Name, isPaused: true);
        Write(5);
        node.SettleAll();
        SetPaused("Other", isPaused: true);
        Write(5);
        long awaited = node.Database().LastEtag;
        SetPaused(ByName.Name, isPaused: false);
        node.Step();
        Write(60);
        SetPaused("Other", isPaused: false);
        var index = node.Serving(ByName.Name);
        var other = node.Serving("Other");
        Wait(other, node.Database().LastEtag);
        while (other.Pass is null)
        {
            Assert.True(node.Step());
        }

        Assert.True(index.Position < other.Position);
        Assert.True(index.Pass!.LastEtag < other.Pass.LastEtag);
        Wait(index, awaited);
        for (int steps = 30; index.ConsistentEtag < awaited; steps--)
        {
            Assert.True(steps > 0);
            Assert.True(node.Step());
        }

        node.SettleAll();
        node.Check(ByName.Name, ByName);

        static void Wait(RunningIndex index, long etag) =>
            _ = index.Waits.WaitAsync(etag, TimeSpan.FromHours(1), CancellationToken.None);

        void SetPaused(string name, bool isPaused) => node.Host.SetPaused(node.Database(), name, isPaused);

        void Write(int count)
        {
            for (int i = 0; i < count; i++)
            {
                node.Put($"users/{node.Database().LastEtag}", "\"name\":1");
            }
        }
    }

    /// <summary>
    /// The last consistent state of the index gets older with each interrupted pass. So the visible state advances with
    /// a part of a transaction, and is stale.
    /// </summary>
    [Fact]
    public void The_visible_state_advances_although_the_node_ends_each_pass_early()
    {
        using var node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        string text = new('x', 20 << 10);
        var clients = new List<DatabaseReader>();
        var seen = new HashSet<long>();
        int written = 0;
        for (int round = 0; round < 80; round++)
        {
            for (int i = 0; i < 3; i++, written++)
            {
                node.Put($"users/{written % 40}", $"\"name\":{written},\"text\":\"{text}{written}\"");
            }

            clients.Add(node.Database().OpenReader());
            node.Store.Storage.Memtables.RequestFlush();
            while (node.Store.Background.DoStep())
            {
                // Flushes and merges.
            }

            node.Step();
            node.Time.Advance(TimeSpan.FromSeconds(1));
            using var snapshot = node.Serving(ByName.Name).OpenSnapshot(out var published, out var documents);
            documents?.Dispose();
            if (published.IsPartial)
            {
                seen.Add(published.Etag);
                Assert.Null(documents);
                Assert.True(node.Status(ByName.Name).IsStale);
                Assert.Equal(0, node.Serving(ByName.Name).ConsistentEtag);
            }
        }

        Assert.True(seen.Count > 3, $"{seen.Count} states");
        clients.ForEach(static client => client.Dispose());
        node.SettleAll();
        Assert.False(node.Status(ByName.Name).IsStale);
        node.Check(ByName.Name, ByName);
    }

    [Fact]
    public void Counts_and_times_are_those_of_the_state_that_queries_see()
    {
        using var node = IndexedNode.New(TinySteps);
        node.Define(ByName.Name, ByName);
        Write(0, 5);
        node.SettleAll();
        var before = node.Status(ByName.Name);
        Assert.Equal(5, before.Documents);
        Write(5, 5);
        node.Time.Advance(TimeSpan.FromMinutes(1));
        node.Step();
        node.Step();
        Assert.InRange(node.StoreOf(ByName.Name).Documents, 6, 9);
        var middle = node.Status(ByName.Name);
        Assert.Equal((5, before.LastIndexed), (middle.Documents, middle.LastIndexed));
        node.SettleAll();
        var end = node.Status(ByName.Name);
        Assert.Equal(10, end.Documents);
        Assert.True(end.LastIndexed > before.LastIndexed);

        void Write(int from, int count)
        {
            for (int i = from; i < from + count; i++)
            {
                node.Put($"users/{i}", "\"name\":1");
            }
        }
    }

    /// <summary>
    /// A restart loses the last consistent state, and a disabled index does not advance to the next one.
    /// </summary>
    [Fact]
    public void An_index_that_is_disabled_in_the_middle_of_a_pass_is_stale_after_a_restart()
    {
        var node = IndexedNode.New(TinySteps);
        node.Define(ByName.Name, ByName);
        node.Put("users/0", "\"name\":\"ann\"");
        node.SettleAll();
        node.Transact(("users/1", "\"name\":\"ann\"", "Users"), ("users/0", null, "Users"));
        node.Step();
        node.ChangeIndexes(static writer =>
            writer.Configure(ByName.Name, new IndexSettingsChange { IsDisabled = true })
        );
        node.Settle();
        node = node.Restart(powerLossSeed: null, TinySteps);
        node.SettleAll();
        Assert.Equal(IndexState.Disabled, node.Status(ByName.Name).State);
        Assert.True(node.Status(ByName.Name).IsStale);
        node.ChangeIndexes(static writer =>
            writer.Configure(ByName.Name, new IndexSettingsChange { IsDisabled = false })
        );
        node.SettleAll();
        Assert.False(node.Status(ByName.Name).IsStale);
        node.Check(ByName.Name, ByName);
        node.Dispose();
    }

    [Fact]
    public void A_reduce_whose_write_was_refused_is_stale_until_its_entries_are_written()
    {
        using var node = IndexedNode.New();
        node.Transact([.. DocumentsOf(0, 1)]);
        Define(node);
        node.SettleAll();
        long before = node.Serving(Totals).VisibleEtag;
        node.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.NoSpace)
            {
                Calls = DiskCalls.Create,
                PathContains = "/rows/",
                Sticky = true,
            }
        );
        node.Transact([.. DocumentsOf(0, 2)]);
        node.SettleAll();
        var index = node.Serving(Totals);
        Assert.True(index.IsWriteBlocked);
        Assert.True(index.HasPending);

        // These operations change no document. A paused index without unwritten entries would then be up to date.
        node.Host.SetPaused(node.Database(), Totals, isPaused: true);
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        Assert.Equal(before, index.VisibleEtag);
        node.Disk.ClearFaults();
        node.Host.SetPaused(node.Database(), Totals, isPaused: false);
        node.SettleAll();
        node.SettleAll();
        Assert.False(node.Status(Totals).IsStale);
        Assert.Equal(2, Assert.Single(Read(node, Totals)).GetProperty("total").GetInt32());
    }

    [Fact]
    public void An_index_that_is_up_to_date_or_paused_keeps_no_snapshot()
    {
        using var node = IndexedNode.New(IndexedNode.SmallSteps with { DocumentsPerStep = 1 });
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        for (int i = 0; i < 8; i++)
        {
            node.Put($"users/{i}", "\"name\":1");
        }

        node.Step();
        Assert.NotNull(node.Serving(ByName.Name).Pass);
        node.Host.SetPaused(node.Database(), isPaused: true);
        node.Step();
        Assert.Null(node.Serving(ByName.Name).Pass);
        node.Host.SetPaused(node.Database(), isPaused: false);
        node.Step();
        Assert.NotNull(node.Serving(ByName.Name).Pass);
        node.Settle();
        Assert.Null(node.Serving(ByName.Name).Pass);
        node.SettleAll();
        node.Check(ByName.Name, ByName);

        // Queries may read the snapshot of the last pass for some more seconds.
        node.Time.Advance(TimeSpan.FromSeconds(10));
        node.Settle();
        node.Put("users/1", "\"name\":2", "Others");
        node.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.Zero, node.Store.Storage.Statistics().OldestReaderAge);
    }

    private static (string Id, string? Members, string Collection)[] DocumentsOf(int account, int amount) =>
        [
            ($"users/{account}", $"\"amount\":{amount},\"loads\":\"copies/{account}\"", "Users"),
            ($"copies/{account}", $"\"amount\":{amount}", "Copies"),
        ];

    private static void Define(IndexedNode node)
    {
        node.Define(
            """
            {"Maps":["map('Users', u => ({ g: u.loads, total: u.amount }))"],
             "Reduce":"groupBy(x => x.g).aggregate(g => ({g: g.key, total: g.values.reduce((t,x) => t + x.total, 0)}))"}
            """,
            Totals
        );
        node.Define(
            """
            {"Maps":["map('Users', u => ({ own: u.amount, loaded: load(u.loads, 'Copies').amount }))"],
             "Fields":{"own":{"Storage":"Yes"},"loaded":{"Storage":"Yes"}}}
            """,
            Pairs
        );
    }

    private static List<JsonElement> Read(IndexedNode node, string name) =>
        [
            .. node.ReadRows(name)
                .Select(static row =>
                {
                    using var json = JsonDocument.Parse(row);
                    return json.RootElement.Clone();
                }),
        ];

    /// <summary>Calls back before and after each write.</summary>
    private sealed class CheckedStore(IIndexStore inner, Action check) : IIndexStore
    {
        public long Watermark => inner.Watermark;

        public bool IsEmpty => inner.IsEmpty;

        public long Documents => inner.Documents;

        public long PendingBytes => inner.PendingBytes;

        public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry) => inner.Put(lowerId, etag, entry);

        public void Delete(ReadOnlySpan<byte> lowerId) => inner.Delete(lowerId);

        public void Apply(long watermark)
        {
            check();
            inner.Apply(watermark);
            check();
        }

        public IndexSnapshot OpenSnapshot() => inner.OpenSnapshot();

        public bool MergeOnce() => inner.MergeOnce();

        public void TrimIdle() => inner.TrimIdle();

        public void Dispose() => inner.Dispose();
    }
}
