using System.Buffers;
using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>A store with one damaged byte or a missing run never gives a wrong row, and names its damage.</summary>
public sealed class EngineDamageTests
{
    [Fact]
    public void A_damaged_byte_anywhere_never_gives_a_wrong_row_and_is_found_by_the_scrub()
    {
        var random = new Random(11);
        for (int round = 0; round < 150; round++)
        {
            int seed = round % 5;
            var (disk, work) = CreateFilledStore(seed);
            string[] files = [.. disk.Files.Where(path => !path.EndsWith("lock", StringComparison.Ordinal))];
            string path = files[random.Next(files.Length)];
            using var file = disk.Open(path, Platform.DiskOpen.Read);
            long offset = random.NextInt64(file.Length);
            disk.Rot(path, offset, (byte)(1 << random.Next(8)));
            string story = $"seed {seed}, {path} at {offset}";

            using StorageEngine engine = EngineWorkload.Open(disk);
            Assert.True(engine.Durable.Index == work.Models.Count - 1, $"{story}: the manifest is not the newest");
            using Snapshot snapshot = engine.OpenSnapshot();
            bool wasRefused = ReadAll(snapshot, work.Model, story);
            WalkReadable(snapshot, work.Model, story);
            while (!engine.ScrubOnce(budgetBytes: 1 << 20)) { }

            // The byte may be one that no read needs: in an older manifest, or in the rest of a slot. A scrub reads
            // every byte of a run.
            bool isFound = engine.Statistics().Damage.Count > 0;
            Assert.True(isFound || !wasRefused, $"{story}: a read was refused and nothing is reported");
            Assert.True(
                isFound || !path.EndsWith(".run", StringComparison.Ordinal),
                $"{story}: the scrub did not find it"
            );
            Assert.True(
                !isFound || engine.Problem!.Contains(path, StringComparison.Ordinal),
                $"{story}: the problem does not name the file: {engine.Problem}"
            );
        }
    }

    [Fact]
    public void A_missing_run_fails_only_reads_of_its_key_range_and_is_named()
    {
        var (disk, work) = CreateFilledStore(seed: 1);
        string path = disk.Files.First(name => name.EndsWith(".run", StringComparison.Ordinal));
        disk.Delete(path);
        using StorageEngine engine = EngineWorkload.Open(disk);
        using Snapshot snapshot = engine.OpenSnapshot();
        Assert.True(ReadAll(snapshot, work.Model, "a missing run"));
        WalkReadable(snapshot, work.Model, "a missing run");
        Assert.Contains(path, engine.Problem, StringComparison.Ordinal);
        Assert.NotEmpty(disk.Files);
    }

    [Fact]
    public void Flushes_and_merges_continue_despite_damage_and_later_reads_return_no_wrong_row()
    {
        var random = new Random(12);
        for (int round = 0; round < 60; round++)
        {
            int seed = round % 5;
            var (disk, work) = CreateFilledStore(seed);
            string[] runs = [.. disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal))];
            string path = runs[random.Next(runs.Length)];
            using var file = disk.Open(path, Platform.DiskOpen.Read);
            long offset = random.NextInt64(file.Length);
            disk.Rot(path, offset, (byte)(1 << random.Next(8)));
            string story = $"seed {seed}, {path} at {offset}";

            using StorageEngine engine = EngineWorkload.Open(
                disk,
                EngineWorkload.Options with
                {
                    Filter = new DocumentsDecide(),
                }
            );
            for (int batches = 0; batches < 6; batches++)
            {
                PutRows(engine, batches);
                engine.Memtables.RequestFlush();
                Assert.True(engine.Memtables.Flush(), $"{story}: nothing was flushed");
                int steps = 0;
                while (engine.MergeOnce())
                {
                    Assert.True(++steps < 500, $"{story}: merges do not end");
                }
            }

            using Snapshot snapshot = engine.OpenSnapshot();
            ReadAll(snapshot, work.Model, story);
        }
    }

    // Adds rows of table 2 that are not in the model.
    private static void PutRows(StorageEngine engine, int number)
    {
        WriteBatch batch = engine.Begin(engine.AppliedIndex + 1, term: 1);
        long sequence = engine.Sequence + 1;
        for (int i = 0; i < 20; i++)
        {
            batch.Put(EngineWorkload.Key(database: 1, table: 2, $"other{number}-{i:D3}"), sequence, new byte[100]);
        }

        engine.Apply(batch, sequence);
    }

    private static (SimulatedDisk Disk, EngineWorkload Work) CreateFilledStore(int seed)
    {
        var disk = new SimulatedDisk("/data");
        var work = new EngineWorkload(seed);
        using StorageEngine engine = EngineWorkload.Open(disk);
        for (int step = 0; step < 80; step++)
        {
            work.Step(engine);
        }

        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }

        return (disk, work);
    }

    // Each lookup returns the right value or throws DamagedException. Returns whether one threw.
    private static bool ReadAll(in Snapshot snapshot, EngineModel model, string story)
    {
        bool wasRefused = false;
        var buffer = new ArrayBufferWriter<byte>();
        foreach (var (key, (sequence, value)) in model.Rows)
        {
            try
            {
                Assert.True(snapshot.TryGet(key, out Row row), $"{story}: {Convert.ToHexString(key)} is missing");
                using (row)
                {
                    buffer.ResetWrittenCount();
                    row.CopyTo(buffer, 0, row.Length);
                    Assert.True(
                        row.Sequence == sequence && buffer.WrittenSpan.SequenceEqual(value),
                        $"{story}: {Convert.ToHexString(key)} differs"
                    );
                }
            }
            catch (DamagedException)
            {
                wasRefused = true;
            }
        }

        return wasRefused;
    }

    // A readable cursor returns exactly the rows that lookups find, and reports each range that it skips.
    private static void WalkReadable(Snapshot snapshot, EngineModel model, string story)
    {
        // Only database 1: byte 3 of a key is its database, byte 4 its table.
        foreach (byte table in EngineWorkload.Tables.Select(table => table.Number))
        {
            var expected = new List<string>();
            int hidden = 0;
            foreach (var (key, (sequence, _)) in model.Rows.Where(row => row.Key[4] == table && row.Key[3] == 1))
            {
                try
                {
                    Assert.True(snapshot.TryGet(key, out Row row));
                    row.Dispose();
                    expected.Add($"{Convert.ToHexString(key)} {sequence}");
                }
                catch (DamagedException)
                {
                    hidden++;
                }
            }

            var damageSkipped = new List<DamageEvent>();
            var shown = new List<string>();
            using RowCursor cursor = snapshot.SeekReadable(
                EngineWorkload.Key(1, table, string.Empty),
                EngineWorkload.Key(database: 1, (byte)(table + 1), string.Empty),
                damageSkipped.Add
            );
            while (cursor.MoveNext())
            {
                shown.Add($"{Convert.ToHexString(cursor.Key)} {cursor.Sequence}");
            }

            Assert.True(
                expected.SequenceEqual(shown, StringComparer.Ordinal),
                $"{story}, table {table}: {shown.Count} rows instead of {expected.Count}"
            );
            Assert.True(
                hidden == 0 || damageSkipped.Count > 0,
                $"{story}, table {table}: {hidden} rows are left out and nothing is named"
            );
        }
    }

    // A merge filter that keeps every row, but looks up documents first, like the filter of Rookery.Documents.
    private sealed class DocumentsDecide : IMergeFilter
    {
        public bool Concerns(byte table) => table is 2 or 3;

        public bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot)
        {
            // Byte 4 of a key is its table, and documents are in table 1.
            byte[] document = key.ToArray();
            document[4] = 1;
            if (snapshot.TryGet(document, out Row row))
            {
                row.Dispose();
            }

            return false;
        }
    }
}
