using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Install;
using Rookery.Storage.Runs;

namespace Rookery.Storage.Tests;

/// <summary>
/// A run is replaced by an undamaged one of another store, or of an older copy of this store, with the same file name,
/// length and keys.
/// </summary>
public sealed class ForeignRunTests
{
    private static readonly byte[] Key = EngineWorkload.Key(database: 1, table: 1, "key");

    [Fact]
    public void A_run_of_another_store_is_damage_and_is_named()
    {
        SimulatedDisk own = CreateStore("own");
        SimulatedDisk other = CreateStore("new");
        AssertRefused(own, ReplaceNewestRun(own, other), "it is another file");
    }

    [Fact]
    public void A_run_that_an_older_copy_of_the_store_wrote_later_is_damage_and_is_named()
    {
        SimulatedDisk own = CreateStore("old");
        SimulatedDisk copy = own.AfterPowerLoss(seed: 1);
        Flush(own, 2, "own");
        Flush(copy, 2, "new");
        AssertRefused(own, ReplaceNewestRun(own, copy), "it is another file");
    }

    [Fact]
    public void Runs_of_changes_that_two_stores_sent_have_different_numbers()
    {
        string[] names =
        [
            .. Enumerable.Range(0, 2).Select(_ => WriteChanges(CreateStore("own"))).Order(StringComparer.Ordinal),
        ];
        Assert.NotEqual(names[0], names[1], StringComparer.Ordinal);
    }

    /// <summary>Runs of earlier versions have small numbers, which other stores use too.</summary>
    [Theory]
    [InlineData("key", "own", 2, "range of sequences is")]
    [InlineData("kez", "owl", 1, "range of keys is")]
    public void A_run_whose_keys_or_sequences_differ_from_the_manifest_is_damage(
        string key,
        string value,
        long sequence,
        string difference
    )
    {
        SimulatedDisk own = CreateStore("own");
        string path = RunsOf(own)[^1];
        Assert.True(RunFileName.TryParse(Path.GetFileName(path), out long number));
        long length = own.ReadAll(path).Length;
        own.Delete(path);
        var options = new RunWriterOptions(4096, HasFilter: true, SyncsRegularly: false, IoKind.RunWrite);
        using (var writer = new RunWriter(own, path, number, options, NoRecorder.Instance))
        {
            byte[] keyBytes = EngineWorkload.Key(database: 1, table: 1, key);
            writer.Add(keyBytes, sequence, RowKind.Put, System.Text.Encoding.UTF8.GetBytes(value));
            Assert.Equal(length, writer.Finish().FileBytes);
        }

        AssertRefused(own, path, difference);
    }

    private static void AssertRefused(SimulatedDisk disk, string path, string reason)
    {
        using StorageEngine engine = EngineWorkload.Open(disk);
        Assert.Contains($"{path} is damaged", engine.Problem, StringComparison.Ordinal);
        Assert.Contains(reason, engine.Problem, StringComparison.Ordinal);
        using Snapshot snapshot = engine.OpenSnapshot();
        DamagedException refused = Assert.Throws<DamagedException>(() => _ = Read(snapshot));
        Assert.Contains(path, refused.Message, StringComparison.Ordinal);
    }

    private static string Read(in Snapshot snapshot)
    {
        Assert.True(snapshot.TryGet(Key, out Row row));
        using (row)
        {
            return System.Text.Encoding.UTF8.GetString(row.Value);
        }
    }

    // Replaces the newest run of a store by the newest of another. The two have equal lengths, because all values here
    // have three letters. Returns the path of the replaced run.
    private static string ReplaceNewestRun(SimulatedDisk disk, SimulatedDisk other)
    {
        string path = RunsOf(disk)[^1];
        byte[] bytes = other.ReadAll(RunsOf(other)[^1]);
        Assert.Equal(disk.ReadAll(path).Length, bytes.Length);
        disk.Delete(path);
        using IDiskFile file = disk.Open(path, DiskOpen.CreateNew);
        file.Write(bytes, offset: 0);
        file.Sync();
        return path;
    }

    // Returns the file name of the only run of the written changes.
    private static string WriteChanges(SimulatedDisk disk)
    {
        using StorageEngine engine = EngineWorkload.Open(disk);
        using StateChanges changes = engine.BeginChanges(1)!;
        Assert.True(changes.Write("/data/changes", long.MaxValue));
        return disk.List("/data/changes").Single(static name => name.EndsWith(".run", StringComparison.Ordinal));
    }

    private static SimulatedDisk CreateStore(string value)
    {
        var disk = new SimulatedDisk("/data");
        Flush(disk, 1, value);
        return disk;
    }

    // Writes the row of Key as the entry with this index, and flushes it to a run.
    private static void Flush(SimulatedDisk disk, long index, string value)
    {
        using StorageEngine engine = EngineWorkload.Open(disk);
        WriteBatch batch = engine.Begin(index, term: 1);
        batch.Put(Key, index, System.Text.Encoding.UTF8.GetBytes(value), default);
        engine.Apply(batch, index);
        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }
    }

    private static string[] RunsOf(SimulatedDisk disk) =>
        [
            .. disk
                .Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal))
                .Order(StringComparer.Ordinal),
        ];
}
