using System.Globalization;
using System.Text;
using Rookery.Fixtures;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>The segments of an index: batches, merges, snapshots, power cuts and damage.</summary>
public sealed class SegmentStoreTests
{
    private const string Folder = "/data/index";

    /// <summary>If other indexes use all indexing memory, each document must not become a separate segment.</summary>
    [Fact]
    public void A_batch_buffers_some_documents_even_if_memory_is_short()
    {
        var share = new MemoryBudget(1 << 20).AddShare("batches", limitBytes: 1 << 20);
        share.Reserve(1 << 20);
        using var store = SegmentStore.Open(StoreContents.ContextOf(CreateDisk()) with { Share = share }, Folder);
        var entry = new IndexEntry();
        int documents = 0;
        for (; store.PendingBytes < long.MaxValue && documents < 100_000; documents++)
        {
            entry.Clear();
            entry.Add(0, Encoding.UTF8.GetBytes($"term {documents}"));
            entry.EndEntry();
            store.Put(Encoding.UTF8.GetBytes($"d/{documents}"), documents + 1, entry);
        }

        Assert.InRange(documents, 100, 10_000);
    }

    /// <summary>
    /// An earlier version kept the memory until no index had work. So the first build on a small node left none to the
    /// next ones, and they wrote a segment for each 64 KiB.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_store_holds_no_memory_for_batches_after_its_first_build_or_while_it_is_idle(bool isBuilt)
    {
        var share = new MemoryBudget(1 << 20).AddShare("batches", limitBytes: 1 << 20);
        using var store = SegmentStore.Open(StoreContents.ContextOf(CreateDisk()) with { Share = share }, Folder);
        Put(1);
        store.Apply(watermark: 0);
        Put(2);
        Assert.NotEqual(0, share.UsedBytes);
        store.Apply(watermark: isBuilt ? 2 : 0);
        Assert.Equal(isBuilt, share.UsedBytes == 0);
        store.TrimIdle();
        Assert.Equal(0, share.UsedBytes);

        Put(3);
        store.TrimIdle();
        store.Apply(watermark: 3);
        Assert.Equal(3, store.Documents);

        void Put(int number)
        {
            var entry = new IndexEntry();
            entry.Add(0, "t"u8);
            entry.EndEntry();
            store.Put(Encoding.UTF8.GetBytes($"d/{number}"), number, entry);
        }
    }

    [Fact]
    public void Open_segments_are_charged_to_the_memory_of_the_cache_until_they_are_closed()
    {
        const int Segments = 20;
        const int LeastBytes = 1024;
        var share = new MemoryBudget(1 << 20).AddShare("pages", limitBytes: Segments * LeastBytes);
        using (var store = SegmentStore.Open(StoreContents.ContextOf(CreateDisk()) with { Cache = new(share) }, Folder))
        {
            for (int number = 1; number <= Segments; number++)
            {
                var entry = new IndexEntry();
                entry.Add(0, "t"u8);
                entry.EndEntry();
                store.Put(Encoding.UTF8.GetBytes($"d/{number}"), number, entry);
                store.Apply(number);
            }

            Assert.InRange(share.UsedBytes, Segments * LeastBytes, 4 * Segments * LeastBytes);
            Assert.Equal(0, share.YieldableBytes);
            Assert.Equal(Segments, StoreContents.Of(store).Count);
        }

        Assert.Equal(0, share.UsedBytes);
    }

    /// <summary>A segment with more fields could be written and not be read.</summary>
    [Fact]
    public void A_segment_has_no_more_fields_than_its_reader_accepts()
    {
        const int Most = 1 << 16;
        using var store = Open(CreateDisk());
        PutFields(Most);
        store.Apply(watermark: 1);
        Assert.Equal(1, store.Documents);
        PutFields(Most + 1);
        Assert.Throws<InvariantViolationException>(() => store.Apply(watermark: 2));

        void PutFields(int fields)
        {
            var entry = new IndexEntry();
            for (int field = 0; field < fields; field++)
            {
                entry.Add(field, "t"u8);
            }

            entry.EndEntry();
            store.Put(Encoding.UTF8.GetBytes("d/1"), etag: 1, entry);
        }
    }

    /// <summary>
    /// Words are prefetched in groups. In texts of any length, with other parts between the words, each word is indexed
    /// at its positions.
    /// </summary>
    [Fact]
    public void Each_word_of_a_long_text_is_indexed_at_its_positions()
    {
        var random = new Random(21);
        using var store = Open(CreateDisk());
        var expected = new List<string[]>();
        for (int document = 0; document < 60; document++)
        {
            var entry = new IndexEntry();
            var places = new SortedDictionary<string, List<int>>(StringComparer.Ordinal);
            int words = random.Next(400);
            for (int position = 0; position < words; position++)
            {
                int field = 1 + random.Next(2);
                string word = $"w{random.Next(1 + random.Next(300))}";
                entry.AddWord(field, Encoding.UTF8.GetBytes(word), position);
                string name = $"w:{field}:{Convert.ToHexString(Encoding.UTF8.GetBytes(word))}";
                places.TryAdd(name, []);
                places[name].Add(position);
                if (random.Next(70) == 0)
                {
                    entry.Add(0, "term"u8);
                }
            }

            entry.SetWordCount(field: 1, words);
            entry.SetWordCount(field: 2, words);
            entry.EndEntry();
            store.Put(
                Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"texts/{document:D2}")),
                document + 1,
                entry
            );
            expected.Add([
                .. places
                    .Select(static word => $"{word.Key}@{string.Join(',', word.Value)}")
                    .Order(StringComparer.Ordinal),
            ]);
        }

        store.Apply(watermark: 100);
        Assert.Equal(
            expected,
            StoreContents
                .Of(store)
                .Values.Select(static entries =>
                    entries
                        .SelectMany(static entry => entry.Split('|'))
                        .Where(static part => part.StartsWith("w:", StringComparison.Ordinal))
                        .Order(StringComparer.Ordinal)
                        .ToArray()
                )
        );
    }

    /// <summary>
    /// Random documents, deletions, interrupted merges, restarts and power cuts. A snapshot shows what was applied last
    /// or, after a power cut, at one of the watermarks that were being applied.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void Snapshots_show_what_was_applied_across_merges_and_power_cuts(int seed)
    {
        var random = new Random(seed);
        var disk = CreateDisk();
        var store = Open(disk);
        var applied = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        var pending = new Dictionary<string, string[]>(StringComparer.Ordinal);
        long watermark = 0;
        for (int round = 0; round < 400; round++)
        {
            for (int i = random.Next(12); i > 0; i--)
            {
                Change(store, random, pending, watermark + i);
            }

            switch (random.Next(12))
            {
                case 0:
                    disk = disk.AfterPowerLoss(random.NextInt64());
                    goto case 1;
                case 1:
                    store.Dispose();
                    store = Open(disk);
                    pending.Clear();
                    break;
                case < 7:
                    store.Apply(watermark += 100);
                    MovePending(applied, pending);
                    break;
                default:
                    for (int i = random.Next(30); i > 0 && store.MergeOnce(); i--)
                    {
                        // Merges as many steps as there are.
                    }

                    break;
            }

            if (round % 5 == 0)
            {
                Check(applied, store, watermark, $"seed {seed} round {round}");
            }
        }

        while (store.MergeOnce())
        {
            // Steps until the work is done.
        }

        Check(applied, store, watermark, $"seed {seed}, merged");
        using var snapshot = store.OpenSnapshot();
        Assert.True(snapshot.Segments.Count < 24, "merges keep segments few");
        foreach (var segment in snapshot.Segments)
        {
            segment.Reader.Verify();
            Assert.True(2 * segment.Live.DeadCount < segment.Live.Entries);
        }

        store.Dispose();
    }

    /// <summary>
    /// Power is cut at each disk operation while a batch is applied and merged. The index then opens in the state
    /// before or after.
    /// </summary>
    [Fact]
    public void A_power_cut_at_any_operation_leaves_an_applied_state()
    {
        var disk = CreateDisk();
        var store = Open(disk);
        var random = new Random(7);
        var pending = new Dictionary<string, string[]>(StringComparer.Ordinal);
        var applied = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        var states = new Dictionary<long, SortedDictionary<string, string[]>> { [0] = new(StringComparer.Ordinal) };
        int firstOperation = disk.OperationCount;
        for (long watermark = 1; watermark <= 12; watermark++)
        {
            for (int i = 0; i < 6; i++)
            {
                Change(store, random, pending, watermark);
            }

            store.Apply(watermark);
            MovePending(applied, pending);
            states[watermark] = new SortedDictionary<string, string[]>(applied, StringComparer.Ordinal);
            while (store.MergeOnce())
            {
                // Steps until the work is done.
            }
        }

        for (int operation = firstOperation; operation <= disk.OperationCount; operation++)
        {
            var image = disk.CrashAt(operation, seed: operation);
            using var reopened = Open(image);
            Check(states[reopened.Watermark], reopened, reopened.Watermark, $"operation {operation}");
            var files = image.List(Folder);
            reopened.Apply(reopened.Watermark + 1);
            using var snapshot = reopened.OpenSnapshot();
            Assert.Equal(
                snapshot.Segments.Count,
                files.Count(static name => name.StartsWith("segment-", StringComparison.Ordinal))
            );
        }

        store.Dispose();
    }

    [Fact]
    public void A_batch_can_be_applied_again_after_a_disk_error()
    {
        var disk = CreateDisk();
        using var store = Open(disk);
        var pending = new Dictionary<string, string[]>(StringComparer.Ordinal);
        var applied = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        var random = new Random(3);
        for (int i = 0; i < 50; i++)
        {
            Change(store, random, pending, i);
        }

        long used = disk.UsedBytes;
        disk.CapacityBytes = used;
        Assert.Throws<DiskException>(() => store.Apply(watermark: 1));
        Check(applied, store, watermark: 0, "refused");
        Assert.True(store.PendingBytes > 0);
        disk.CapacityBytes = 1L << 40;
        store.Apply(watermark: 1);
        MovePending(applied, pending);
        Check(applied, store, watermark: 1, "applied");
        Assert.Equal(0, store.PendingBytes);
    }

    [Fact]
    public void A_snapshot_is_unchanged_while_its_segments_are_replaced_and_merged()
    {
        var disk = CreateDisk();
        using var store = Open(disk);
        var random = new Random(9);
        var pending = new Dictionary<string, string[]>(StringComparer.Ordinal);
        var applied = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        var snapshots = new List<(IndexSnapshot Snapshot, SortedDictionary<string, string[]> Expected)>();
        for (int i = 0; i < 40; i++)
        {
            for (int j = 0; j < 10; j++)
            {
                Change(store, random, pending, i);
            }

            store.Apply(i + 1);
            MovePending(applied, pending);
            snapshots.Add(
                (store.OpenSnapshot(), new SortedDictionary<string, string[]>(applied, StringComparer.Ordinal))
            );
            while (store.MergeOnce())
            {
                // Steps until the work is done.
            }
        }

        foreach (var (snapshot, expected) in snapshots)
        {
            AssertSame(expected, StoreContents.Of(snapshot), $"watermark {snapshot.Watermark}");
            snapshot.Dispose();
        }

        using var last = store.OpenSnapshot();
        Assert.Equal(
            last.Segments.Count,
            disk.List(Folder).Count(static name => name.StartsWith("segment-", StringComparison.Ordinal))
        );
    }

    /// <summary>
    /// Each byte of each file is flipped in turn. The damage is found when the index is opened or the byte is read, and
    /// everything else that is read is right.
    /// </summary>
    [Fact]
    public void A_flipped_bit_is_detected_and_never_changes_an_answer()
    {
        var disk = CreateDisk();
        var random = new Random(11);
        var pending = new Dictionary<string, string[]>(StringComparer.Ordinal);
        var applied = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        using (var store = Open(disk))
        {
            for (int i = 0; i < 30; i++)
            {
                Change(store, random, pending, i);
            }

            store.Apply(watermark: 1);
            MovePending(applied, pending);
        }

        foreach (string name in disk.List(Folder))
        {
            string path = $"{Folder}/{name}";
            using var file = disk.Open(path, DiskOpen.Read);
            for (long offset = 0; offset < file.Length; offset += 1 + (file.Length / 400))
            {
                disk.Rot(path, offset, mask: 0x10);
                var failure = Assert.ThrowsAny<IOException>(() =>
                {
                    using var damaged = Open(disk);
                    using var snapshot = damaged.OpenSnapshot();
                    foreach (var segment in snapshot.Segments)
                    {
                        segment.Reader.Verify();
                    }
                });
                Assert.IsType<SegmentDamagedException>(failure);
                disk.Rot(path, offset, mask: 0x10);
            }
        }

        using var repaired = Open(disk);
        Check(applied, repaired, watermark: 1, "repaired");
    }

    private static SimulatedDisk CreateDisk() => new("/data", Folder);

    private static SegmentStore Open(SimulatedDisk disk) => SegmentStore.Open(StoreContents.ContextOf(disk), Folder);

    // Puts or deletes a random document, and notes its expected entries in pending.
    private static void Change(SegmentStore store, Random random, Dictionary<string, string[]> pending, long etag)
    {
        string id = $"d/{random.Next(200)}";
        if (random.Next(5) == 0)
        {
            store.Delete(Encoding.UTF8.GetBytes(id));
            pending[id] = [];
            return;
        }

        var entry = new IndexEntry();
        string[] expected =
        [
            .. Enumerable.Range(0, random.Next(8) == 0 ? 3 : 1).Select(_ => WriteEntry(entry, random, etag)),
        ];
        store.Put(Encoding.UTF8.GetBytes(id), etag, entry);
        pending[id] = expected;
    }

    /// <summary>Writes an entry, and returns what a snapshot must show of it.</summary>
    private static string WriteEntry(IndexEntry entry, Random random, long etag)
    {
        var parts = new HashSet<string>(StringComparer.Ordinal)
        {
            string.Create(CultureInfo.InvariantCulture, $"e:{etag}"),
        };
        for (int field = 0; field < 2; field++)
        {
            byte[] last = [];
            for (int i = random.Next(4); i > 0; i--)
            {
                last = Encoding.UTF8.GetBytes(
                    random.Next(40) == 0 ? new string('k', 500) + random.Next(9) : $"t{random.Next(30)}"
                );
                entry.Add(field, last);
                parts.Add($"t:{field}:{Convert.ToHexString(last)}");
            }

            // Field 0 is sorted by a term; field 1 sometimes by a key that is not a term.
            if (last.Length > 0 || (field == 1 && random.Next(4) == 0))
            {
                byte[] key = field == 0 || random.Next(2) == 0 ? last : [1, (byte)random.Next(5)];
                entry.SetSortKey(field, key);
                parts.Add($"s:{field}:{Convert.ToHexString(key)}");
            }
        }

        var words = Enumerable
            .Range(0, random.Next(20))
            .Select(position => (Word: $"w{random.Next(12)}", Position: position))
            .ToList();
        words.ForEach(word => entry.AddWord(field: 2, Encoding.UTF8.GetBytes(word.Word), word.Position));
        if (words.Count > 0)
        {
            entry.SetWordCount(field: 2, words.Count);
            parts.Add(string.Create(CultureInfo.InvariantCulture, $"n:2:{words.Count}"));
            foreach (var word in words.GroupBy(static word => word.Word, StringComparer.Ordinal))
            {
                parts.Add(
                    $"w:2:{Convert.ToHexString(Encoding.UTF8.GetBytes(word.Key))}"
                        + $"@{string.Join(',', word.Select(static occurrence => occurrence.Position))}"
                );
            }
        }

        if (random.Next(3) == 0)
        {
            byte[] value = new byte[1 + random.Next(300)];
            random.NextBytes(value);
            entry.SetStored(value);
            parts.Add($"v:{Convert.ToHexString(value)}");
        }

        entry.EndEntry();
        return string.Join('|', parts.Order(StringComparer.Ordinal));
    }

    // Moves the expected entries of the batch that was applied; no entries delete a document.
    private static void MovePending(SortedDictionary<string, string[]> applied, Dictionary<string, string[]> pending)
    {
        foreach (var (id, entries) in pending)
        {
            applied.Remove(id);
            if (entries.Length > 0)
            {
                applied.Add(id, entries);
            }
        }

        pending.Clear();
    }

    private static void Check(
        SortedDictionary<string, string[]> expected,
        SegmentStore store,
        long watermark,
        string context
    )
    {
        Assert.Equal(watermark, store.Watermark);
        Assert.Equal(expected.Count, store.Documents);
        AssertSame(expected, StoreContents.Of(store), context);
    }

    private static void AssertSame(
        SortedDictionary<string, string[]> expected,
        SortedDictionary<string, string[]> actual,
        string context
    )
    {
        Assert.Equal(expected.Keys, actual.Keys);
        foreach (var (id, entries) in expected)
        {
            Assert.True(
                entries.SequenceEqual(actual[id], StringComparer.Ordinal),
                $"{context} {id}:\n{string.Join('\n', entries)}\nwas expected, and there "
                    + $"is\n{string.Join('\n', actual[id])}"
            );
        }
    }
}
