using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>
/// The format of a store's directory: earlier versions of it are read, newer ones and incomplete directories are
/// refused, and a copy is a store of its own.
/// </summary>
public sealed class EngineFormatTests
{
    // The stored directory of format 1 was written with these; ROOKERY_WRITE_GOLDEN writes it again.
    private const int GoldenSeed = 42;
    private const int GoldenSteps = 120;

    // The calls that change files of a store; opening one may create its directory.
    private const DiskCalls Changing =
        DiskCalls.Write | DiskCalls.SetLength | DiskCalls.Rename | DiskCalls.Link | DiskCalls.Delete;

    // Of a manifest's header.
    private const int VersionOffset = 8;
    private const int FeatureLevelOffset = 20;

    [Fact]
    public void A_directory_of_format_1_is_read()
    {
        if (Environment.GetEnvironmentVariable("ROOKERY_WRITE_GOLDEN") is { Length: > 0 })
        {
            WriteGolden(GoldenDirectory());
        }

        SimulatedDisk disk = GoldenDisk();
        using StorageEngine engine = EngineWorkload.Open(disk);
        Assert.Null(engine.Problem);
        Assert.Equal(GoldenSteps, engine.Durable.Index);
        using Snapshot snapshot = engine.OpenSnapshot();
        Assert.Equal(File.ReadAllText(GoldenRowsPath()), Describe(snapshot));
    }

    [Fact]
    public void Opening_a_store_does_not_change_a_manifest_that_an_older_program_encoded_differently()
    {
        // A power cut during a change could damage both copies of the newest manifest.
        SimulatedDisk disk = GoldenDisk();
        EngineWorkload.Open(disk).Dispose();
        using IDiskFile slot = disk.Open("/data/manifest-0", DiskOpen.Read);
        byte[] bytes = new byte[slot.Length];
        slot.Read(bytes, offset: 0);
        Assert.Equal(File.ReadAllBytes(Path.Join(GoldenDirectory(), "manifest-0")), bytes);
    }

    [Theory]
    [InlineData(VersionOffset, 4, "format version 4")]
    [InlineData(FeatureLevelOffset, 2, "feature level 2")]
    public void A_newer_store_is_refused_by_name_before_anything_is_written(int offset, int newer, string name)
    {
        var disk = new SimulatedDisk("/data");
        EngineWorkload.Open(disk).Dispose();
        Rewrite(disk, "/data/manifest-0", copy => BinaryPrimitives.WriteInt32LittleEndian(copy[offset..], newer));
        long changes = disk.CallCount(Changing);
        string sentence = Assert.Throws<StorageFormatException>(() => EngineWorkload.Open(disk)).Message;
        Assert.Contains($"/data/manifest-0 has {name}", sentence, StringComparison.Ordinal);
        Assert.Equal(changes, disk.CallCount(Changing));
        Assert.Equal(StorageUse.InUse, StorageEngine.UseOf(disk, "/data"));
    }

    [Fact]
    public void A_store_with_rows_of_an_unknown_group_is_refused_before_anything_is_written()
    {
        var disk = new SimulatedDisk("/data");
        WriteFlushedStore(disk);
        StorageOptions older = EngineWorkload.Options with { Tables = [EngineWorkload.Tables[0]] };
        long changes = disk.CallCount(Changing);
        string sentence = Assert.Throws<StorageFormatException>(() => EngineWorkload.Open(disk, older)).Message;
        Assert.Contains("/data has rows of group 2", sentence, StringComparison.Ordinal);
        Assert.Equal(changes, disk.CallCount(Changing));
    }

    [Fact]
    public void Runs_without_a_manifest_are_refused_and_not_deleted()
    {
        var disk = new SimulatedDisk("/data");
        WriteFlushedStore(disk);
        int runs = disk.Files.Count(IsRun);
        disk.Delete("/data/manifest-0");
        disk.Delete("/data/manifest-1");
        Assert.Throws<StorageFormatException>(() => EngineWorkload.Open(disk));
        Assert.Equal(runs, disk.Files.Count(IsRun));
    }

    [Fact]
    public void A_directory_cannot_be_opened_twice()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk);
        Assert.Equal(Errno.WouldBlock, Assert.Throws<DiskException>(() => EngineWorkload.Open(disk)).Error);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_copy_contains_the_durable_state_and_stays_unchanged(bool acrossFileSystems)
    {
        var disk = new SimulatedDisk("/data", "/backup");
        var work = new EngineWorkload(seed: 7);
        using StorageEngine engine = EngineWorkload.Open(disk);
        RunSteps(work, engine, count: 100);
        if (acrossFileSystems)
        {
            disk.Inject(new DiskFault(AtCall: 1, Errno.CrossDevice) { Calls = DiskCalls.Link, Sticky = true });
        }

        ManifestPosition position = engine.CopyTo("/backup/one");
        EngineModel expected = work.Models[(int)position.Index];
        RunSteps(work, engine, count: 100);
        using StorageEngine opened = EngineWorkload.Open(
            disk,
            EngineWorkload.Options with
            {
                Directory = "/backup/one",
                IsReadOnly = true,
            }
        );
        Assert.Equal(position, opened.Durable);
        using Snapshot snapshot = opened.OpenSnapshot();
        expected.Check(snapshot, "checkpoint");
        Assert.Equal(Guid.Empty, opened.StoreId);
    }

    [Fact]
    public void A_store_keeps_its_id_and_a_copy_gets_a_new_one()
    {
        var disk = new SimulatedDisk("/data", "/backup");
        StorageOptions copyOptions = EngineWorkload.Options with { Directory = "/backup/one" };
        Guid original;
        using (StorageEngine engine = EngineWorkload.Open(disk))
        {
            original = engine.StoreId;
            RunSteps(new EngineWorkload(seed: 7), engine, count: 50);
            engine.CopyTo("/backup/one");
            Assert.Equal(original, engine.StoreId);
        }

        Guid copy;
        using (StorageEngine engine = EngineWorkload.Open(disk, copyOptions))
        {
            copy = engine.StoreId;
        }

        Assert.Equal(3, new HashSet<Guid> { original, copy, Guid.Empty }.Count);
        using StorageEngine originalAgain = EngineWorkload.Open(disk.AfterPowerLoss(seed: 1));
        using StorageEngine copyAgain = EngineWorkload.Open(disk.AfterPowerLoss(seed: 2), copyOptions);
        Assert.Equal((original, copy), (originalAgain.StoreId, copyAgain.StoreId));
    }

    [Fact]
    public void Closing_a_store_frees_its_memory_even_if_a_leftover_run_cannot_be_deleted()
    {
        var disk = new SimulatedDisk("/data");
        WriteFlushedStore(disk);
        using (IDiskFile leftover = disk.Open("/data/0000000000009999.run", DiskOpen.CreateNew))
        {
            leftover.Sync();
        }

        disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Delete });
        var budget = new MemoryBudget(64L * 1024 * 1024);
        using (
            var engine = StorageEngine.Open(
                disk,
                EngineWorkload.Options,
                budget,
                NoRecorder.Instance,
                new SimulatedTimeProvider()
            )
        )
        {
            Assert.Throws<DiskException>(engine.DeleteUnnamedRuns);
        }

        Assert.Equal(0, budget.UsedBytes);
    }

    /// <summary>Changes the first copy in a manifest slot, and its checksum.</summary>
    private static void Rewrite(SimulatedDisk disk, string path, Action<Span<byte>> change)
    {
        const int checksumOffset = 12;
        const int lengthOffset = 16;
        const int headerBytes = 32;
        using IDiskFile slot = disk.Open(path, DiskOpen.ReadWrite);
        byte[] copy = new byte[4096];
        slot.Read(copy, offset: 0);
        change(copy);
        // The checksum covers everything but itself.
        int length = BinaryPrimitives.ReadInt32LittleEndian(copy.AsSpan(lengthOffset));
        uint state = Checksum.Append(
            Checksum.Append(Checksum.Start, copy.AsSpan(0, checksumOffset)),
            copy.AsSpan(lengthOffset, headerBytes - lengthOffset + length)
        );
        BinaryPrimitives.WriteUInt32LittleEndian(copy.AsSpan(checksumOffset), Checksum.Finish(state));
        slot.Write(copy, offset: 0);
    }

    private static EngineWorkload WriteFlushedStore(SimulatedDisk disk)
    {
        var work = new EngineWorkload(GoldenSeed);
        using StorageEngine engine = EngineWorkload.Open(disk);
        RunSteps(work, engine, GoldenSteps);
        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }

        return work;
    }

    private static void RunSteps(EngineWorkload work, StorageEngine engine, int count)
    {
        for (int step = 0; step < count; step++)
        {
            work.Step(engine);
            engine.MergeOnce();
        }
    }

    private static SimulatedDisk GoldenDisk()
    {
        var disk = new SimulatedDisk("/data");
        foreach (string path in Directory.GetFiles(GoldenDirectory()))
        {
            using IDiskFile file = disk.Open($"/data/{Path.GetFileName(path)}", DiskOpen.CreateNew);
            file.Write(File.ReadAllBytes(path), 0);
        }

        return disk;
    }

    private static void WriteGolden(string directory)
    {
        var disk = new SimulatedDisk("/data");
        EngineWorkload work = WriteFlushedStore(disk);
        Directory.CreateDirectory(directory);
        foreach (string path in disk.Files)
        {
            using IDiskFile file = disk.Open(path, DiskOpen.Read);
            byte[] bytes = new byte[file.Length];
            file.Read(bytes, offset: 0);
            File.WriteAllBytes(Path.Join(directory, Path.GetFileName(path)), bytes);
        }

        using StorageEngine engine = EngineWorkload.Open(disk);
        using Snapshot snapshot = engine.OpenSnapshot();
        work.Model.Check(snapshot, "golden");
        File.WriteAllText(GoldenRowsPath(), Describe(snapshot));
    }

    // One line for each row, found by a scan and read again by key: key, sequence, length, CRC-32C of the value.
    private static string Describe(in Snapshot snapshot)
    {
        var text = new StringBuilder();
        var value = new ArrayBufferWriter<byte>();
        using RowCursor cursor = snapshot.Seek([0], []);
        while (cursor.MoveNext())
        {
            Assert.True(snapshot.TryGet(cursor.Key, out Row row));
            using (row)
            {
                value.ResetWrittenCount();
                row.CopyTo(value, 0, row.Length);
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"{Convert.ToHexString(cursor.Key)} {row.Sequence} {row.Length} "
                        + $"{Checksum.Of(value.WrittenSpan):X8}\n"
                );
            }
        }

        return text.ToString();
    }

    private static string GoldenRowsPath() => GoldenDirectory() + ".rows";

    private static string GoldenDirectory([CallerFilePath] string testFile = "") =>
        Path.Join(Path.GetDirectoryName(testFile), "Golden", "v1");

    private static bool IsRun(string path) => path.EndsWith(".run", StringComparison.Ordinal);
}
