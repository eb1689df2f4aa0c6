using System.Globalization;
using System.Text;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>Disk errors and power cuts while an index's segments are written or merged.</summary>
public sealed class SegmentStoreFaultTests
{
    private const string Folder = "/data/index";
    private const int DocumentsPerBatch = 5;
    private const int SegmentsPerMerge = 8;

    /// <summary>
    /// Each disk operation that changes something fails in turn while a batch is applied, followed by a power cut. The
    /// index then opens in the state before or after the batch.
    /// </summary>
    [Fact]
    public void A_disk_error_while_a_batch_is_applied_leaves_an_index_that_opens()
    {
        FailEachCall(
            prepare: static store => Fill(store, batches: 1),
            act: static store =>
            {
                Put(store, batch: 2);
                store.Apply(watermark: 2);
            },
            watermarks: [1, 2],
            checkRetry: static store =>
            {
                store.Apply(watermark: 2);
                Assert.Equal(2, ReadWatermark(store));
            }
        );
    }

    /// <summary>Each disk operation fails in turn while segments are merged, followed by a power cut.</summary>
    [Fact]
    public void A_disk_error_while_segments_are_merged_leaves_an_index_that_opens()
    {
        FailEachCall(
            prepare: static store => Fill(store, SegmentsPerMerge),
            act: MergeAll,
            watermarks: [SegmentsPerMerge],
            checkRetry: MergeAll
        );
    }

    /// <summary>
    /// Each disk operation fails in turn while a batch is applied, also the opening of the written segment. After the
    /// store has repeated its work and another batch, the folder has only the files of the segments.
    /// </summary>
    [Fact]
    public void A_disk_error_while_a_batch_is_applied_leaves_no_file_behind() =>
        LeaveNoFile(
            prepare: static store => Fill(store, batches: 1),
            act: static store =>
            {
                if (store.PendingBytes == 0)
                {
                    Put(store, batch: 2);
                }

                store.Apply(watermark: 2);
            }
        );

    /// <summary>The same while segments are merged.</summary>
    [Fact]
    public void A_disk_error_while_segments_are_merged_leaves_no_file_behind() =>
        LeaveNoFile(prepare: static store => Fill(store, SegmentsPerMerge), act: MergeAll);

    [Fact]
    public void Retries_leave_no_further_file_while_the_manifest_cannot_be_replaced()
    {
        var disk = CreateDisk();
        using var store = Open(disk);
        Fill(store, batches: 1);
        Put(store, batch: 2);
        disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Rename, Sticky = true });
        Assert.Throws<DiskException>(() => store.Apply(watermark: 2));
        int files = disk.Files.Count;
        Assert.Throws<DiskException>(() => store.Apply(watermark: 2));
        Assert.Equal(files, disk.Files.Count);
    }

    [Fact]
    public void A_merge_that_meets_a_damaged_segment_releases_its_memory()
    {
        var disk = CreateDisk();
        var budget = new MemoryBudget(16 << 20);
        var share = budget.AddShare("batches", limitBytes: 8 << 20);
        var withoutPages = new SegmentCache(budget.AddShare("pages", limitBytes: 0));
        using var store = SegmentStore.Open(
            new SegmentStoreContext(disk, withoutPages, share, NoRecorder.Instance),
            Folder
        );
        for (int batch = 1; batch <= SegmentsPerMerge; batch++)
        {
            var entry = new IndexEntry();
            entry.Add(0, "t"u8);
            entry.SetSortKey(0, "t"u8);
            entry.EndEntry();
            store.Put(Encoding.UTF8.GetBytes($"d/{batch}"), batch, entry);
            store.Apply(batch);
        }

        store.TrimIdle();
        Assert.Equal(0, share.UsedBytes);
        string last = disk.List(Folder)
            .Where(static name => name.StartsWith("segment-", StringComparison.Ordinal))
            .MaxBy(static name => long.Parse(name["segment-".Length..], CultureInfo.InvariantCulture))!;
        disk.Rot($"{Folder}/{last}", offset: 60, mask: 0x10);
        Assert.Throws<SegmentDamagedException>(() => MergeAll(store));
        Assert.Equal(0, share.UsedBytes);
    }

    [Fact]
    public void A_closed_store_opens_no_snapshot()
    {
        var store = Open(CreateDisk());
        Fill(store, batches: 1);
        store.Dispose();
        Assert.Throws<ObjectDisposedException>(() => store.OpenSnapshot().Dispose());
    }

    /// <summary>
    /// Fails each changing disk operation of <paramref name="act"/> in turn. Afterwards a store must open, with one of
    /// the watermarks, and the running store must be able to repeat its work.
    /// </summary>
    private static void FailEachCall(
        Action<SegmentStore> prepare,
        Action<SegmentStore> act,
        long[] watermarks,
        Action<SegmentStore> checkRetry
    )
    {
        var broken = new List<string>();
        bool wasHit = true;
        for (int call = 1; wasHit; call++)
        {
            var disk = CreateDisk();
            using var store = Open(disk);
            prepare(store);
            disk.Inject(new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.Changing });
            wasHit = false;
            try
            {
                act(store);
            }
            catch (DiskException)
            {
                wasHit = true;
            }

            disk.ClearFaults();
            for (long seed = 0; seed < 8; seed++)
            {
                var image = disk.AfterPowerLoss(seed);
                try
                {
                    using var reopened = Open(image);
                    Assert.Contains(reopened.Watermark, watermarks);
                    Assert.Equal(reopened.Watermark * DocumentsPerBatch, reopened.Documents);
                    using var snapshot = reopened.OpenSnapshot();
                    Assert.All(snapshot.Segments, static segment => segment.Reader.Verify());
                }
                catch (SegmentDamagedException damaged)
                {
                    broken.Add(
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $"call {call} refused, power cut {seed}: {damaged.Message}"
                        )
                    );
                }
            }

            if (wasHit)
            {
                checkRetry(store);
                using var again = Open(disk.AfterPowerLoss(call));
                Assert.Equal(store.Watermark, again.Watermark);
                Assert.Equal(store.Documents, again.Documents);
            }
        }

        Assert.True(broken.Count == 0, $"indexes are damaged after a disk error:\n{string.Join('\n', broken)}");
    }

    private static void LeaveNoFile(Action<SegmentStore> prepare, Action<SegmentStore> act)
    {
        bool wasHit = true;
        for (int call = 1; wasHit; call++)
        {
            var disk = CreateDisk();
            using var store = Open(disk);
            prepare(store);

            // A file that could not be deleted stays until the next start. After an unreadable page the whole index is
            // deleted.
            disk.Inject(
                new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.All & ~(DiskCalls.Delete | DiskCalls.Read) }
            );
            wasHit = false;
            try
            {
                act(store);
            }
            catch (DiskException)
            {
                wasHit = true;
            }

            disk.ClearFaults();
            act(store);
            Put(store, batch: 100);
            store.Apply(watermark: 100);
            using var snapshot = store.OpenSnapshot();
            int files = disk.List(Folder).Count(static name => name.StartsWith("segment-", StringComparison.Ordinal));
            Assert.True(files == snapshot.Segments.Count, $"call {call}: {files} files");
        }
    }

    private static void Fill(SegmentStore store, int batches)
    {
        for (int batch = 1; batch <= batches; batch++)
        {
            Put(store, batch);
            store.Apply(batch);
        }
    }

    private static void Put(SegmentStore store, int batch)
    {
        var entry = new IndexEntry();
        for (int i = 0; i < DocumentsPerBatch; i++)
        {
            entry.Clear();
            entry.Add(0, Encoding.UTF8.GetBytes($"t{i}"));
            entry.EndEntry();
            store.Put(Encoding.UTF8.GetBytes($"d/{batch}/{i}"), batch, entry);
        }
    }

    private static void MergeAll(SegmentStore store)
    {
        while (store.MergeOnce())
        {
            // Steps until the work is done.
        }
    }

    private static long ReadWatermark(SegmentStore store)
    {
        using var snapshot = store.OpenSnapshot();
        return snapshot.Watermark;
    }

    private static SimulatedDisk CreateDisk() => new("/data", Folder);

    private static SegmentStore Open(SimulatedDisk disk)
    {
        var budget = new MemoryBudget(16 << 20);
        return SegmentStore.Open(
            new SegmentStoreContext(
                disk,
                new SegmentCache(budget.AddShare("pages", limitBytes: 1 << 20)),
                budget.AddShare("batches", limitBytes: 8 << 20),
                NoRecorder.Instance
            ),
            Folder
        );
    }
}
