using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Install;
using Rookery.Storage.Manifest;
using Rookery.Storage.State;

namespace Rookery.Storage.Tests;

/// <summary>
/// A store that stopped receives the changes since then from another store with the same log, and must become equal to
/// it. Each store flushes and merges at different times. <see cref="InstallCrashTests"/> cuts the power at every point.
/// </summary>
public sealed class ChangesTests
{
    private const string Incoming = EngineWorkload.Directory + "/incoming";
    private const string Sender = "/data/sender";
    private const string Third = "/data/third";
    private const int Seeds = 120;

    [Fact]
    public void A_lagging_store_equals_the_other_after_it_installs_the_changes()
    {
        var counts = new Counts();
        for (int seed = 0; seed < Seeds; seed++)
        {
            string? difference = Play(seed, static manifest => manifest, counts);
            Assert.True(difference is null, $"seed {seed}: {difference}");
        }

        // Some senders that retain few tombstones must refuse, and most must not. A run installs changes up to three
        // times.
        Assert.InRange(counts.Refused, 5, Seeds - 20);
        Assert.InRange(counts.Changes, 60, 3 * Seeds);
    }

    [Fact]
    public void The_search_catches_a_store_that_drops_tombstones_without_recording_it() =>
        Assert.True(IsRevealed(static manifest => manifest with { DroppedThrough = 0 }));

    [Fact]
    public void The_search_catches_a_store_that_drops_deleted_ranges() =>
        Assert.True(IsRevealed(static manifest => manifest with { PastRangeTombstones = [] }));

    [Fact]
    public void Changes_are_smaller_than_a_full_snapshot_and_report_their_size()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retainedTombstones: 1000));
        var work = new EngineWorkload(seed: 5);
        InstallTests.RunBatches(work, engine, batches: 400);
        long since = engine.Sequence;
        InstallTests.RunBatches(work, engine, batches: 4);
        using StateChanges changes = engine.BeginChanges(since)!;
        Assert.True(changes.Write(Incoming, maxBytes: long.MaxValue));
        ReceivedState received = engine.Installer.Check(Incoming);
        Assert.Equal((engine.Durable, since), (received.Position, received.Since!.Value));
        Assert.InRange(received.Bytes, 1, changes.WholeBytes / 2);
        // The estimate is rough: right to a factor of four.
        Assert.InRange(changes.EstimatedBytes, received.Bytes / 4, 4 * received.Bytes);
        Assert.False(engine.BeginChanges(since)!.Write(Incoming + "2", maxBytes: received.Bytes / 4));
    }

    /// <summary>
    /// Retained tombstones stay within their limit however much is written and deleted, and suffice for a store that
    /// lags a little.
    /// </summary>
    [Fact]
    public void The_number_of_retained_tombstones_is_bounded()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retainedTombstones: 200));
        long sequence = 0;
        // A queue of 50 jobs: each new one deletes the oldest.
        for (int i = 0; i < 5000; i++)
        {
            WriteBatch batch = engine.Begin(i + 1, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"job{i:D6}"), ++sequence, new byte[20]);
            if (i >= 50)
            {
                batch.Delete(EngineWorkload.Key(database: 1, table: 1, $"job{i - 50:D6}"), ++sequence);
            }

            engine.Apply(batch, sequence);
            while (engine.MergeOnce()) { }

            long rows = engine.Statistics().Groups.Sum(group => group.Rows);
            Assert.True(rows < 1000, $"{rows} rows in runs after {i} jobs, but fewer than 1000 are expected");
        }

        engine.Memtables.RequestFlush();
        engine.Memtables.Flush();
        Assert.NotNull(engine.BeginChanges(sequence - 20));
        Assert.Null(engine.BeginChanges(sequence - 5000));
    }

    [Fact]
    public void A_store_that_lags_by_fewer_deletions_than_are_retained_receives_the_changes_at_any_time()
    {
        const int retained = 200;
        const int lag = 150;
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retained));
        long sequence = 0;
        for (int i = 0; i < 2000; i++)
        {
            WriteBatch batch = engine.Begin(i + 1, term: 1);
            batch.Put(EngineWorkload.Key(database: 1, table: 1, $"job{i:D6}"), ++sequence, new byte[20]);
            batch.Delete(EngineWorkload.Key(database: 1, table: 1, $"job{i - 50:D6}"), ++sequence);
            engine.Apply(batch, sequence);
            if (i % 10 == 9)
            {
                engine.Memtables.RequestFlush();
                engine.Memtables.Flush();
                while (engine.MergeOnce()) { }
            }

            // Each job deletes one row and takes two sequences.
            long since = engine.Durable.Sequence - (2 * lag);
            using StateChanges? changes = since > 0 ? engine.BeginChanges(since) : null;
            Assert.True(since <= 0 || changes is not null, $"job {i}");
        }
    }

    /// <summary>
    /// Each part of the merges has tombstones of all ages, because keys are deleted in ten rounds. The estimate of
    /// their number is rough, so three quarters of the limit are required. A merge continues after a failed step. If
    /// its remaining inputs were another merge, these merges would not end, as each first attempt fails.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_merge_of_many_parts_retains_the_newest_deletions(bool failsFirst)
    {
        const int retained = 2000;
        const int rows = 2000;
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retained) with { RunBytes = 2 << 10 });
        long sequence = 0;
        Write(Enumerable.Range(0, rows), isDelete: false);
        for (int round = 0; round < 10; round++)
        {
            Write(Enumerable.Range(0, rows / 2).Select(i => (i * 10) + round), isDelete: true);
        }

        int steps = 0;
        while (failsFirst ? MergeOnceAfterFailure() : engine.MergeOnce())
        {
            steps++;
            Assert.True(steps < 1000, "the merges end");
            using StateChanges? changes = engine.BeginChanges(sequence - (retained * 3 / 4));
            Assert.True(changes is not null, $"after step {steps}");
        }

        Assert.InRange(steps, 10, int.MaxValue);

        bool MergeOnceAfterFailure()
        {
            disk.Inject(
                new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Write, PathContains = "manifest-" }
            );
            Assert.False(engine.MergeOnce());
            disk.ClearFaults();
            return engine.MergeOnce();
        }

        void Write(IEnumerable<int> keys, bool isDelete)
        {
            foreach (int key in keys)
            {
                WriteBatch batch = engine.Begin(sequence + 1, term: 1);
                byte[] row = EngineWorkload.Key(database: 1, table: 1, $"row{key:D6}");
                if (isDelete)
                {
                    batch.Delete(row, ++sequence);
                }
                else
                {
                    batch.Put(row, ++sequence, new byte[20]);
                }

                engine.Apply(batch, sequence);
            }

            engine.Memtables.RequestFlush();
            engine.Memtables.Flush();
        }
    }

    [Fact]
    public void The_number_of_retained_records_of_released_large_values_is_bounded()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retainedTombstones: 200));
        byte[] key = EngineWorkload.Key(database: 1, table: 1, "large");
        for (int i = 1; i <= 3000; i++)
        {
            WriteBatch batch = engine.Begin(i, term: 1);
            if (batch.TryGet(key, out Row previous))
            {
                batch.ReleaseLarge(previous, i);
                previous.Dispose();
            }

            batch.Put(key, i, new byte[2 * EngineWorkload.Options.ChunkBytes]);
            engine.Apply(batch, i);
            while (engine.MergeOnce()) { }
        }

        long records = engine.Statistics().Groups.Single(static group => group.Group == TableMap.Released).Rows;
        Assert.InRange(records, 100, 1000);
    }

    [Fact]
    public void Changes_are_refused_if_entries_before_them_are_missing_or_the_store_is_damaged()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine sender = EngineWorkload.Open(disk, Options(Sender, retainedTombstones: 1000));
        var work = new EngineWorkload(seed: 5);
        InstallTests.RunBatches(work, sender, batches: 100);
        long since = sender.Sequence;
        InstallTests.RunBatches(work, sender, batches: 50);
        using (StateChanges changes = sender.BeginChanges(since)!)
        {
            Assert.True(changes.Write(Incoming, maxBytes: long.MaxValue));
        }

        using (StorageEngine engine = EngineWorkload.Open(disk))
        {
            // The changes begin after batch 100, so a store with 90 lacks ten.
            InstallTests.RunBatches(new EngineWorkload(seed: 5), engine, batches: 90);
            string sentence = Assert
                .Throws<ReceivedStateException>(() =>
                    engine.Installer.Install(engine.Installer.Check(Incoming), note: null)
                )
                .Message;
            Assert.Contains("changes in between are missing", sentence, StringComparison.Ordinal);
            Assert.Equal(90, engine.Durable.Index);
        }

        string run = disk.List(EngineWorkload.Directory)
            .First(static name => name.EndsWith(".run", StringComparison.Ordinal));
        disk.Rot(Path.Join(EngineWorkload.Directory, run), offset: 300, mask: 40);
        using StorageEngine damaged = EngineWorkload.Open(disk);
        while (!damaged.ScrubOnce(budgetBytes: 1 << 20)) { }

        Assert.NotNull(damaged.Problem);
        Assert.Throws<ReceivedStateException>(() =>
            damaged.Installer.Install(damaged.Installer.Check(Incoming), note: null)
        );
        Assert.Contains(
            "only the changes of a state",
            Assert
                .Throws<StorageFormatException>(() =>
                    EngineWorkload.Open(disk, Options(Incoming, retainedTombstones: 0))
                )
                .Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_manifest_that_does_not_record_dropped_tombstones_counts_as_if_all_were_dropped()
    {
        var disk = new SimulatedDisk("/data");
        using (StorageEngine engine = EngineWorkload.Open(disk, Options(Sender, retainedTombstones: 1000)))
        {
            InstallTests.RunBatches(new EngineWorkload(seed: 5), engine, batches: 100);
            Assert.NotNull(engine.BeginChanges(engine.Sequence / 2));
        }

        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var manifest = new ManifestSlots(disk, Sender, NoRecorder.Instance).Read()!;
        ManifestCodec.Encode(manifest, buffer);
        // Earlier versions wrote none of the last fields: past range tombstones, what was dropped, and since when. The
        // old form is the new one without the bytes of these fields.
        int fixedBytes = sizeof(int) + sizeof(long) + sizeof(int) + sizeof(long) + sizeof(long) + sizeof(int);
        int rangeBytes = manifest.PastRangeTombstones.Sum(static range =>
            (2 * sizeof(int)) + range.From.Length + range.ToExclusive.Length + sizeof(long)
        );
        var old = ManifestCodec.Decode(
            buffer.WrittenSpan[..^(fixedBytes + rangeBytes)],
            manifest.Revision,
            manifest.FeatureLevel
        );
        Assert.Equal((manifest.Position.Sequence, null), (old.DroppedThrough, old.Since));
        Assert.Equal(
            (manifest.DroppedThrough, manifest.Files.Count()),
            (ManifestCodec.Decode(buffer.WrittenSpan, revision: 1, featureLevel: 1).DroppedThrough, old.Files.Count())
        );
    }

    // Whether some seed fails when each manifest that a store has written is changed by a mistake.
    private static bool IsRevealed(Func<ManifestRecord, ManifestRecord> mistake)
    {
        for (int seed = 0; seed < Seeds; seed++)
        {
            if (Play(seed, mistake, new Counts()) is not null)
            {
                return true;
            }
        }

        return false;
    }

    private static StorageOptions Options(string directory, long retainedTombstones) =>
        EngineWorkload.Options with
        {
            Directory = directory,
            RetainedTombstones = retainedTombstones,
        };

    /// <summary>
    /// Three stores of one log. The second stops and receives the changes from the first, twice. The third stops
    /// earlier, or in between, and receives them from the second.
    /// </summary>
    /// <returns>The failure, if a store differs from its model; otherwise null.</returns>
    private static string? Play(int seed, Func<ManifestRecord, ManifestRecord> mistake, Counts counts)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk("/data");
        long retainedTombstones = random.Next(4) switch
        {
            0 => 0,
            1 => 8,
            2 => 60,
            _ => 1000,
        };
        var first = new Member(disk, Options(Sender, retainedTombstones), seed, random);
        var second = new Member(disk, Options(EngineWorkload.Directory, retainedTombstones), seed, random);
        var third = new Member(disk, Options(Third, retainedTombstones), seed, random);
        try
        {
            // The number of batches after which the second store stops.
            int stop = random.Next(5, 120);
            second.WriteBatches(stop);
            third.WriteBatches(random.Next(5, stop + 1));
            first.WriteBatches(stop);
            for (int round = 0; round < 2; round++)
            {
                first.WriteBatches(random.Next(1, 120));
                first.Reopen(mistake);
                if (!second.TakeChanges(first, counts))
                {
                    return null;
                }

                second.Check($"round {round}");
                second.WriteBatches(random.Next(30));
                second.Check($"round {round}, after more batches");
                second.Reopen(mistake);
                second.Check($"round {round}, opened again");
                first.WriteBatches(Math.Max(0, second.Index - first.Index));
            }

            if (third.TakeChanges(second, counts))
            {
                third.Check("after the changes of the second store");
                third.WriteBatches(20);
                third.Check("after the changes of the second store, after more batches");
            }

            return null;
        }
        catch (Xunit.Sdk.XunitException failure)
        {
            return failure.Message;
        }
        catch (InvariantViolationException failure)
        {
            return failure.Message;
        }
        finally
        {
            first.Dispose();
            second.Dispose();
            third.Dispose();
        }
    }

    /// <summary>How many times changes were installed, and how many times the sender could give none.</summary>
    private sealed class Counts
    {
        public int Changes { get; set; }

        public int Refused { get; set; }
    }

    /// <summary>A store, and the part of the log that it has applied.</summary>
    private sealed class Member(SimulatedDisk disk, StorageOptions options, int seed, Random random) : IDisposable
    {
        private readonly int _seed = seed;
        private StorageEngine _engine = EngineWorkload.Open(disk, options);
        private EngineWorkload _work = new(seed);

        public int Index => (int)_engine.AppliedIndex;

        public void WriteBatches(int batches)
        {
            for (int i = 0; i < batches; i++)
            {
                _work.Step(_engine);
                if (random.Next(12) == 0)
                {
                    _engine.Memtables.RequestFlush();
                    _engine.Memtables.Flush();
                }

                for (int steps = random.Next(3); steps > 0; steps--)
                {
                    _engine.MergeOnce();
                }
            }
        }

        /// <summary>
        /// Flushes the applied rows, and reopens the store with a manifest that a faulty program would have written.
        /// </summary>
        public void Reopen(Func<ManifestRecord, ManifestRecord> mistake)
        {
            _engine.Memtables.RequestFlush();
            while (_engine.Memtables.IsFlushDue)
            {
                _engine.Memtables.Flush();
            }

            _engine.Dispose();
            var slots = new ManifestSlots(disk, options.Directory, NoRecorder.Instance);
            ManifestRecord manifest = slots.Read()!;
            slots.Write(mistake(manifest) with { Revision = manifest.Revision + 1 });
            _engine = EngineWorkload.Open(disk, options);
        }

        /// <summary>Receives and installs the changes of another store.</summary>
        /// <returns>False if the other store no longer knows all deletions.</returns>
        public bool TakeChanges(Member from, Counts counts)
        {
            long since = _engine.Sequence;
            using StateChanges? changes = from._engine.BeginChanges(since);
            if (changes is null)
            {
                counts.Refused++;
                return false;
            }

            // Later work of the other store is not part of the changes.
            from.WriteBatches(random.Next(10));
            foreach (string name in disk.Exists(Incoming) ? disk.List(Incoming) : [])
            {
                disk.Delete(Path.Join(Incoming, name));
            }

            Assert.True(changes.Write(Incoming, maxBytes: long.MaxValue), "the changes are written without a limit");
            _engine.Installer.Install(_engine.Installer.Check(Incoming), note: null);
            Assert.Equal(changes.Position, _engine.Durable);
            counts.Changes++;
            _work = Replay((int)changes.Position.Index);
            return true;
        }

        public void Check(string story)
        {
            Assert.Null(_engine.Problem);
            using Snapshot snapshot = _engine.OpenSnapshot();
            _work.Model.Check(snapshot, story);
            CheckChunks(snapshot, story);
        }

        public void Dispose() => _engine.Dispose();

        // Each chunk belongs to an existing value, or to one whose release is recorded, so no chunk stays for ever.
        // Byte 4 of a key is its table; a chunk's stem is the key of its value without the table.
        private static void CheckChunks(in Snapshot snapshot, string story)
        {
            var stems = new HashSet<string>();
            var live = new HashSet<string>();
            using RowCursor rows = snapshot.Seek([0], []);
            while (rows.MoveNext())
            {
                string stem =
                    rows.Key.Length < LargeValue.StemBytes
                        ? string.Empty
                        : Convert.ToHexString(rows.Key[..4]) + Convert.ToHexString(rows.Key[5..LargeValue.StemBytes]);
                switch (rows.Key[4])
                {
                    case TableMap.Chunks:
                        stems.Add(stem);
                        break;
                    case TableMap.Released:
                        live.Add(stem);
                        break;
                    default:
                        if (rows.IsLarge && snapshot.TryGet(rows.Key, out Row row))
                        {
                            using (row)
                            {
                                var referenced = new LargeValue(row.Stored).Stem;
                                live.Add(Convert.ToHexString(referenced[..4]) + Convert.ToHexString(referenced[5..]));
                            }
                        }

                        break;
                }
            }

            stems.ExceptWith(live);
            Assert.True(stems.Count == 0, $"{story}: chunks of {stems.Count} values stay for good");
        }

        // The workload at an index of the log. It makes its batches one after the other, so they are applied to another
        // engine.
        private EngineWorkload Replay(int through)
        {
            var replayed = new EngineWorkload(_seed);
            using StorageEngine other = EngineWorkload.Open(
                new SimulatedDisk("/data"),
                EngineWorkload.Options with
                {
                    MemtableBytes = 64 << 20,
                }
            );
            while (other.AppliedIndex < through)
            {
                replayed.Step(other);
            }

            return replayed;
        }
    }
}
