using System.Buffers;
using System.Text;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Indexing.Tests.Reducing;

/// <summary>The store of mapped rows in groups, each group a tree of pages whose rows are reduced in turn.</summary>
public sealed class ReduceStoreTests
{
    private const int RowsPerPage = 16;

    /// <summary>
    /// Random changes and deletions of documents with several rows, and reopened stores. The stored groups and the
    /// reported changes equal a computation from scratch.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Groups_equal_a_computation_from_scratch(bool hasOrder)
    {
        for (int seed = 0; seed < 3; seed++)
        {
            var disk = new SimulatedDisk("/data");
            var work = new ReduceWorkload(seed);
            var collected = new CollectedGroups();
            var store = ReduceWorkload.Open(disk, hasOrder);
            for (int batch = 0; batch < 120; batch++)
            {
                work.AddBatch();
                work.Apply(store, batch);
                if (batch % 3 is 0)
                {
                    store.VisitChanges(collected);
                    store.AcknowledgeChanges();
                    Assert.Equal(work.Compute(batch + 1), collected.Rows);
                }

                if (batch % 10 is 9)
                {
                    store.Flush();
                    store.MergeOnce();
                }

                if (batch % 40 is 39)
                {
                    store.Dispose();
                    store = ReduceWorkload.Open(disk, hasOrder);
                    Assert.Equal(batch + 1, store.Watermark);
                }

                Check(store, work, batch + 1, $"seed {seed}");
            }

            store.Dispose();
        }
    }

    [Fact]
    public void A_failed_flush_names_its_cause_and_can_be_repeated()
    {
        var disk = new SimulatedDisk("/data");
        using (var store = ReduceWorkload.Open(disk))
        {
            Put(store, new MappedRows(), "a", ("all", 1));
            store.Apply(1);
            disk.Inject(new DiskFault(AtCall: 1, Errno.NoSpace) { Calls = DiskCalls.Write });
            Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(store.Flush).Error);
            store.Flush();
        }

        using var reopened = ReduceWorkload.Open(disk);
        Assert.Equal(1, reopened.Watermark);
    }

    [Fact]
    public void After_any_power_cut_feeding_from_the_watermark_restores_the_groups() =>
        new CrashSearch { Points = 90, Runs = 3 }.Verify(RunBatches, CheckImage);

    /// <summary>Even in a group of a hundred thousand rows, one change reduces only one page of each level.</summary>
    [Fact]
    public void One_change_of_a_large_group_costs_a_page_of_each_level()
    {
        var disk = new SimulatedDisk("/data");
        using var store = ReduceWorkload.Open(disk);
        var mapped = new MappedRows();
        for (int document = 0; document < 100_000; document++)
        {
            Put(store, mapped, $"things/{document}", ("all", document));
            if (document % 1000 is 999)
            {
                store.Apply(document);
                store.Flush();
            }
        }

        // Pages are filled once, from the left; each batch continues with the last page of the one before.
        Assert.InRange(store.RowsReduced, 100_000, 130_000);
        Assert.Equal((100_000, 4_999_950_000L, 99_999), Read(store, "all"));

        var random = new Random(3);
        long watermark = 100_000;
        for (int round = 0; round < 300; round++)
        {
            long before = store.RowsReduced;
            string id = $"things/{random.Next(100_000)}";
            if (round % 3 is 0)
            {
                store.Delete(Encoding.UTF8.GetBytes(id));
            }
            else
            {
                Put(store, mapped, id, ("all", 1));
            }

            store.Apply(++watermark);
            // The tree of 100,000 rows has five levels.
            Assert.InRange(store.RowsReduced - before, 0, 5 * RowsPerPage);
        }
    }

    [Fact]
    public void An_unchanged_row_is_not_reduced_again_and_its_group_is_not_reported()
    {
        using var store = ReduceWorkload.Open(new SimulatedDisk("/data"));
        var mapped = new MappedRows();
        Put(store, mapped, "a", ("x", 1), ("y", 2));
        store.Apply(1);
        store.AcknowledgeChanges();
        long before = store.RowsReduced;
        Put(store, mapped, "a", ("x", 1), ("y", 3));
        store.Apply(2);
        var collected = new CollectedGroups();
        store.VisitChanges(collected);
        Assert.Equal(1, store.RowsReduced - before);
        Assert.Equal(["y"], collected.Rows.Keys);
    }

    [Fact]
    public void A_group_whose_rows_cannot_be_reduced_is_removed_until_they_change()
    {
        using var store = ReduceWorkload.Open(new SimulatedDisk("/data"));
        List<string> failures = [];
        store.ReduceFailed = failures.Add;
        var mapped = new MappedRows();
        for (int document = 0; document < 300; document++)
        {
            Put(store, mapped, $"{document}", ("x", document is 150 ? TotalsReducer.Bad : 1), ("y", 1));
        }

        store.Apply(1);
        Assert.Equal(["a row is bad"], failures);
        var collected = new CollectedGroups();
        collected.Put("x"u8, "{}"u8);
        store.VisitChanges(collected);
        Assert.Equal(["y"], collected.Rows.Keys);
        Put(store, mapped, "150", ("x", 5), ("y", 1));
        store.Apply(2);
        Assert.Equal((300, 304, 5), Read(store, "x"));
    }

    [Fact]
    public void Deleted_documents_leave_no_rows()
    {
        var disk = new SimulatedDisk("/data");
        using (var store = ReduceWorkload.Open(disk))
        {
            var mapped = new MappedRows();
            for (int document = 0; document < 6000; document++)
            {
                Put(store, mapped, $"{document}", ("all", 1), ($"own{document % 100}", 2));
            }

            store.Apply(1);
            store.Flush();
            var random = new Random(4);
            int[] order = [.. Enumerable.Range(0, 6000)];
            random.Shuffle(order);
            foreach (int[] chunk in order.Chunk(500))
            {
                Array.ForEach(chunk, document => store.Delete(Encoding.UTF8.GetBytes($"{document}")));
                store.Apply(2);
            }

            var collected = new CollectedGroups();
            store.VisitChanges(collected);
            Assert.Equal((101, 0), (collected.Changes, collected.Rows.Count)); // "all" and "own0" to "own99"
            store.AcknowledgeChanges();
            store.Flush();
        }

        using var engine = StorageEngine.Open(
            disk,
            new StorageOptions { Directory = ReduceWorkload.Directory, Tables = ReduceKeys.Tables },
            new MemoryBudget(8 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );
        using var snapshot = engine.OpenSnapshot();
        using var rows = snapshot.Seek([0, 0, 0, 1], []);
        Assert.True(rows.MoveNext());
        Assert.Equal(ReduceKeys.StateKey, rows.Key.ToArray());
        Assert.False(rows.MoveNext());
    }

    /// <summary>Pages that deletions emptied are joined, so that the remaining rows form a small tree.</summary>
    [Fact]
    public void The_tree_of_a_large_group_shrinks_with_deletions()
    {
        using var store = ReduceWorkload.Open(new SimulatedDisk("/data"));
        var mapped = new MappedRows();
        for (int document = 0; document < 20_000; document++)
        {
            Put(store, mapped, $"{document}", ("all", 1));
        }

        store.Apply(1);
        for (int document = 0; document < 20_000; document++)
        {
            if (document % 500 is not 0)
            {
                store.Delete(Encoding.UTF8.GetBytes($"{document}"));
            }
        }

        store.Apply(2);
        long before = store.RowsReduced;
        Put(store, mapped, "0", ("all", 7));
        store.Apply(3);
        // Of 40 remaining rows, 39 have the value 1, and one 7.
        Assert.Equal((40, 46, 7), Read(store, "all"));
        Assert.InRange(store.RowsReduced - before, 1, 2 * RowsPerPage);
    }

    [Fact]
    public void The_largest_rows_keys_and_documents_are_stored_and_larger_ones_refused()
    {
        var disk = new SimulatedDisk("/data");
        var mapped = new MappedRows();
        string padding = new(' ', MappedRows.MaxRowBytes - TotalsReducer.Row(1).Length);
        byte[] longest = [.. TotalsReducer.Row(1), .. Encoding.UTF8.GetBytes(padding)];
        byte[] key = Encoding.UTF8.GetBytes(new string('k', MappedRows.MaxKeyBytes));
        using (var store = ReduceWorkload.Open(disk))
        {
            for (int document = 0; document < 20; document++)
            {
                mapped.Clear();
                mapped.Add(key, longest);
                store.Put(Encoding.UTF8.GetBytes(new string('d', 500) + document), mapped);
            }

            Put(
                store,
                mapped,
                "wide",
                [.. Enumerable.Range(0, MappedRows.MaxRows).Select(static number => ($"wide{number}", (long)number))]
            );
            Assert.Throws<IndexEntryException>(() => mapped.Add("x"u8, "{}"u8));
            store.Apply(1);
            store.Flush();
        }

        using var reopened = ReduceWorkload.Open(disk);
        Assert.Equal((20, 20, 1), Read(reopened, Encoding.UTF8.GetString(key)));
        Assert.Equal((1, 2047, 2047), Read(reopened, "wide2047"));
        mapped.Clear();
        Assert.Throws<IndexEntryException>(() => mapped.Add([.. key, 1], "{}"u8));
        Assert.Throws<IndexEntryException>(() => mapped.Add("x"u8, [.. longest, 1]));
    }

    /// <summary>The record of such a document has more than 64 KiB, so it is stored in chunks.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_document_in_the_most_groups_can_be_changed_and_removed(bool hasOrder)
    {
        var disk = new SimulatedDisk("/data");
        var mapped = new MappedRows();
        (string, long)[] rows =
        [
            .. Enumerable.Range(0, MappedRows.MaxRows).Select(static number => ($"wide{number}", (long)number)),
        ];
        using (var store = ReduceWorkload.Open(disk, hasOrder))
        {
            Put(store, mapped, "wide", rows);
            store.Apply(1);
            store.Flush();
        }

        using var reopened = ReduceWorkload.Open(disk, hasOrder);
        Put(reopened, mapped, "wide", [("wide0", 7), .. rows[2..]]);
        reopened.Apply(2);
        Assert.Equal((1, 7, 7), Read(reopened, "wide0"));
        Assert.False(reopened.TryGet("wide1"u8, new ArrayBufferWriter<byte>()));
        Assert.Equal((1, 2047, 2047), Read(reopened, "wide2047"));

        // Twice in one batch: the second change reads the record that the first one wrote.
        Put(reopened, mapped, "wide", rows);
        Put(reopened, mapped, "wide", rows[1..]);
        reopened.Apply(3);
        Assert.False(reopened.TryGet("wide0"u8, new ArrayBufferWriter<byte>()));
        Assert.Equal((1, 1, 1), Read(reopened, "wide1"));

        reopened.Delete("wide"u8);
        reopened.Apply(4);
        reopened.Flush();
        reopened.MergeOnce();
        Assert.False(reopened.TryGet("wide1"u8, new ArrayBufferWriter<byte>()));
        Assert.False(reopened.TryGet("wide2047"u8, new ArrayBufferWriter<byte>()));
    }

    /// <summary>Applies batches, and records which watermark is durable after which disk operation.</summary>
    private static (SimulatedDisk Disk, CrashRun Run) RunBatches(int seed)
    {
        var disk = new SimulatedDisk("/data");
        var work = new ReduceWorkload(seed);
        var promised = new List<(int Operation, long Watermark)>();
        var acknowledged = new List<(int Operation, SortedDictionary<string, string> Rows)>
        {
            (0, new(StringComparer.Ordinal)),
        };
        var collected = new CollectedGroups();
        using var store = ReduceWorkload.Open(disk);
        for (int batch = 0; batch < 60; batch++)
        {
            work.AddBatch();
            work.Apply(store, batch);
            if (batch % 4 is 3)
            {
                store.VisitChanges(collected);
                acknowledged.Add((disk.OperationCount, new(collected.Rows, StringComparer.Ordinal)));
                store.AcknowledgeChanges();
            }

            if (batch % 5 is 4)
            {
                store.Flush();
                promised.Add((disk.OperationCount, store.Watermark));
                store.MergeOnce();
            }
        }

        return (disk, new CrashRun(work, promised, acknowledged));
    }

    private static void CheckImage(SimulatedDisk image, CrashRun run, int operation)
    {
        using var store = ReduceWorkload.Open(image);
        long promised = run.Promised.LastOrDefault(promise => promise.Operation <= operation).Watermark;
        Assert.True(
            store.Watermark >= promised,
            $"the store has changes up to {store.Watermark}, but those up to {promised} must be durable"
        );
        Check(store, run.Work, (int)store.Watermark, "reopened");

        // The changes reported before and after the power cut together equal those without a cut.
        var collected = new CollectedGroups();
        foreach (
            var (key, row) in run.Acknowledged.Last(acknowledgement => acknowledgement.Operation <= operation).Rows
        )
        {
            collected.Put(Encoding.UTF8.GetBytes(key), Encoding.UTF8.GetBytes(row));
        }

        for (int batch = (int)store.Watermark; batch < run.Work.Batches.Count; batch++)
        {
            run.Work.Apply(store, batch);
        }

        Check(store, run.Work, run.Work.Batches.Count, "replayed");
        store.VisitChanges(collected);
        Assert.Equal(run.Work.Compute(run.Work.Batches.Count), collected.Rows);
    }

    private static void Check(ReduceStore store, ReduceWorkload work, int batches, string context)
    {
        var groups = work.Compute(batches);
        string[] keys = ["k0", "k1", .. Enumerable.Range(0, 60).Select(static number => $"rare{number}")];
        var row = new ArrayBufferWriter<byte>();
        foreach (string key in keys)
        {
            row.ResetWrittenCount();
            string? actual = store.TryGet(Encoding.UTF8.GetBytes(key), row)
                ? Encoding.UTF8.GetString(row.WrittenSpan)
                : null;
            Assert.True(
                string.Equals(groups.GetValueOrDefault(key), actual, StringComparison.Ordinal),
                $"{context}, after {batches}: {key} is {actual}, not {groups.GetValueOrDefault(key)}"
            );
        }
    }

    private static void Put(ReduceStore store, MappedRows mapped, string id, params (string Key, long Value)[] rows)
    {
        mapped.Clear();
        foreach (var (key, value) in rows)
        {
            mapped.Add(Encoding.UTF8.GetBytes(key), TotalsReducer.Row(value));
        }

        store.Put(Encoding.UTF8.GetBytes(id), mapped);
    }

    private static (long Count, long Sum, long Max) Read(ReduceStore store, string key)
    {
        var row = new ArrayBufferWriter<byte>();
        Assert.True(store.TryGet(Encoding.UTF8.GetBytes(key), row));
        return TotalsReducer.Read(row.WrittenSpan);
    }

    private sealed record CrashRun(
        ReduceWorkload Work,
        List<(int Operation, long Watermark)> Promised,
        List<(int Operation, SortedDictionary<string, string> Rows)> Acknowledged
    );
}
