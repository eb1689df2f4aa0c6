using Rookery.Documents.Backups;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Backups;

/// <summary>Backups of a node's files, and restores of a whole node or of one database.</summary>
public class BackupTests
{
    private readonly SimulatedDisk _disk = new("/data", "/backups");

    [Fact]
    public void A_restored_node_has_all_data_under_new_history_ids()
    {
        using var node = BackedUp.NewNode(_disk);
        BackedUp.Take(node, _disk);
        Assert.False(_disk.Exists(Path.Join(BackedUp.Node, "checkpoint")), "the checkpoint is deleted");
        node.Put("Shop", "d/after", "{}");

        Assert.Equal([("Other", 2), ("Shop", 300)], BackedUp.Restore(_disk));
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.Equal(node.Documents("Other"), restored.Documents("Other"));
        Assert.Equal(
            node.Documents("Shop").Where(document => document.Key is not "d/after"),
            restored.Documents("Shop")
        );
        Assert.NotEqual(node.Database("Shop").HistoryId, restored.Database("Shop").HistoryId);
        Assert.NotEqual(node.Database("Other").HistoryId, restored.Database("Other").HistoryId);
        Assert.NotEqual(node.Core.NodeId, restored.Core.NodeId);
        Assert.True(restored.Core.Storage.Sequence >= 300, "etags continue from those of the backup");
        restored.Put("Shop", "d/new", """{"b":2}""");
        Assert.Equal("\"b\":2", restored.Documents("Shop")["d/new"]);
    }

    [Fact]
    public void A_node_that_was_never_flushed_is_backed_up_from_its_journal()
    {
        using (var node = SteppedNode.Open(_disk, BackedUp.Node))
        {
            node.CreateDatabase("Shop");
            node.Put("Shop", "a", """{"n":1}""");
            BackedUp.Take(node, _disk);
        }

        Assert.Equal([("Shop", 1)], BackedUp.Restore(_disk));
    }

    [Fact]
    public void One_database_is_restored_alone()
    {
        using var node = BackedUp.NewNode(_disk);
        BackedUp.Take(node, _disk);

        var unknown = Assert.Throws<MissingDatabaseException>(() => BackedUp.Restore(_disk, "Shops"));
        Assert.Contains("Other, Shop", unknown.Message, StringComparison.Ordinal);
        Assert.False(_disk.Exists(BackedUp.Restored), "nothing was written");

        Assert.Equal([("Other", 2)], BackedUp.Restore(_disk, "other"));
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.Equal(node.Documents("Other"), restored.Documents("Other"));
        Assert.False(restored.Core.Databases.TryGet("Shop", out _));
    }

    [Fact]
    public void One_database_is_restored_alone_although_the_others_are_locked()
    {
        using var node = BackedUp.NewNode(_disk, documents: 4);
        node.CreateDatabase("Third");
        Lock("Shop", "\"PreventDeletesError\""u8);
        Lock("Third", "\"PreventDeletesIgnore\""u8);
        BackedUp.Take(node, _disk);
        Assert.Equal([("Other", 2)], BackedUp.Restore(_disk, "Other"));

        void Lock(string name, ReadOnlySpan<byte> mode) =>
            node.Run(CommandEncoder.SetConfiguration(node.Database(name).Number, ConfigurationName.LockMode, mode));
    }

    [Fact]
    public void Backup_and_restore_refuse_directories_that_are_not_empty()
    {
        using var node = BackedUp.NewNode(_disk, documents: 4);
        BackedUp.Take(node, _disk);
        int operations = _disk.OperationCount;
        Assert.Throws<DirectoryNotEmptyException>(() => BackedUp.Take(node, _disk));
        Assert.Equal(operations, _disk.OperationCount);
        BackedUp.Restore(_disk);
        operations = _disk.OperationCount;
        Assert.Throws<DirectoryNotEmptyException>(() => BackedUp.Restore(_disk));
        Assert.Equal(operations, _disk.OperationCount);
    }

    [Fact]
    public void A_backup_during_writes_and_merges_restores_the_state_at_its_beginning()
    {
        using var node = BackedUp.NewNode(_disk);
        var (shop, other) = (node.Documents("Shop"), node.Documents("Other"));
        var statisticsBefore = node.Core.Storage.Statistics();
        int written = 0;
        BackedUp.Take(node, _disk, WriteAndMerge);
        var statisticsAfter = node.Core.Storage.Statistics();
        Assert.True(
            statisticsAfter.Compactions > statisticsBefore.Compactions + 2,
            "runs of the backup are merged during the backup"
        );
        Assert.NotEqual(shop, node.Documents("Shop"));

        BackedUp.Restore(_disk);
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.Equal(shop, restored.Documents("Shop"));
        Assert.Equal(other, restored.Documents("Other"));

        // Overwrites documents and flushes before each piece of the backup is written.
        BackupPiece WriteAndMerge(BackupPiece piece)
        {
            for (int i = 0; i < 40; i++)
            {
                int number = written++ % 300;
                node.Put("Shop", $"d/{number}", $$"""{"n":-{{written}},"text":"{{new string('z', number)}}"}""");
            }

            node.Run(
                CommandEncoder.Delete(node.Database("Other").Number, "small"u8, ExpectedChangeVector.None, key: default)
            );
            node.Flush();
            return piece;
        }
    }

    [Fact]
    public void Too_little_space_is_reported_before_any_write()
    {
        using var node = BackedUp.NewNode(_disk);
        BackedUp.Take(node, _disk);
        _disk.CapacityBytes = _disk.UsedBytes + 10_000;
        Assert.Contains(
            "free",
            Assert.Throws<BackupException>(() => BackedUp.Restore(_disk)).Message,
            StringComparison.Ordinal
        );
        Assert.False(_disk.Exists(BackedUp.Restored));
    }

    [Fact]
    public void A_restored_node_has_the_newest_format_level()
    {
        using (var node = BackedUp.NewNode(_disk))
        {
            Assert.Equal(FormatLevel.Newest, node.Core.FormatLevel.Level);
            BackedUp.Take(node, _disk);
        }

        BackedUp.Restore(_disk);
        FormatLevel.Check(_disk, BackedUp.Restored);
        Assert.Throws<DataFormatException>(() => FormatLevel.Check(_disk, BackedUp.Restored, FormatLevel.Newest - 1));
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.Equal(FormatLevel.Newest, restored.Core.FormatLevel.Level);
    }

    [Fact]
    public void A_backup_of_a_newer_format_is_refused_before_any_write()
    {
        var newer = SteppedNode.Options(BackedUp.Node) with { NewestFormatLevel = FormatLevel.Newest + 1 };
        using (var node = SteppedNode.Open(_disk, newer))
        {
            node.CreateDatabase("Shop");
            BackedUp.Take(node, _disk);
        }

        string refused = Assert.Throws<BackupException>(() => BackedUp.Restore(_disk)).Message;
        Assert.Contains($"format level {FormatLevel.Newest + 1}", refused, StringComparison.Ordinal);
        Assert.Contains("restore with version", refused, StringComparison.Ordinal);
        Assert.False(_disk.Exists(BackedUp.Restored));
    }

    [Theory]
    [InlineData(300)]
    [InlineData(1200)]
    public void A_restore_either_has_space_for_its_journal_or_is_refused_before_any_write(int documents)
    {
        const int Step = 8 << 10;
        using (var node = BackedUp.NewNode(_disk, documents))
        {
            BackedUp.Take(node, _disk);
        }

        // Restores with ever more free space: at first all attempts are refused, and then all succeed.
        int refused = 0,
            restored = 0;
        for (long freeBytes = 0; restored < 8; freeBytes += Step)
        {
            var disk = _disk.AfterPowerLoss(seed: 1);
            disk.CapacityBytes = disk.UsedBytes + freeBytes;
            try
            {
                BackedUp.Restore(disk);
                restored++;
            }
            catch (BackupException refusal) when (refusal.Message.Contains("are free", StringComparison.Ordinal))
            {
                Assert.False(disk.Exists(BackedUp.Restored));
                Assert.Equal(0, restored);
                refused++;
            }
        }

        Assert.True(refused > 16, "the required space includes the journal's segments");
    }

    [Fact]
    public void A_restored_node_with_its_own_journal_device_has_room_for_writes()
    {
        const int Step = 8 << 10;
        var options = SteppedNode.Options(BackedUp.Restored) with { JournalDirectory = "/journal" };
        var original = new SimulatedDisk("/data", "/backups", "/journal");
        using (var node = BackedUp.NewNode(original))
        {
            BackedUp.Take(node, original);
        }

        bool wasRefused = false;
        for (long room = 0; ; room += Step)
        {
            var disk = original.AfterPowerLoss(seed: 1);
            disk.CapacityBytes = disk.UsedBytes + room;
            try
            {
                new Restoration(
                    disk,
                    options,
                    new MemoryBudget(16 << 20),
                    NoRecorder.Instance,
                    new SimulatedTimeProvider()
                ).Run(BackedUp.Backup, onlyDatabase: null);
            }
            catch (BackupException refusal) when (refusal.Message.Contains("are free", StringComparison.Ordinal))
            {
                wasRefused = true;
                continue;
            }

            using var restored = SteppedNode.Open(disk, options, new SimulatedTimeProvider());
            Assert.False(restored.Core.Space.IsJournalLow);
            Assert.True(wasRefused);
            return;
        }
    }

    [Fact]
    public void Only_one_backup_runs_at_a_time_and_an_interrupted_one_leaves_nothing()
    {
        using (var node = BackedUp.NewNode(_disk))
        {
            using var first = node.Core.BeginBackup();
            Assert.Contains(
                "already",
                Assert.Throws<BackupException>(node.Core.BeginBackup).Message,
                StringComparison.Ordinal
            );
            _disk.KillProcess();
        }

        using var reopened = SteppedNode.Open(_disk, BackedUp.Node);
        Assert.False(_disk.Exists(Path.Join(BackedUp.Node, "checkpoint")));
        BackedUp.Take(reopened, _disk);
    }

    [Fact]
    public void A_backup_whose_hard_links_could_not_be_deleted_does_not_stop_the_next_one()
    {
        using var node = BackedUp.NewNode(_disk);
        var first = node.Core.BeginBackup();
        _disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Delete, PathContains = "checkpoint" }
        );
        Assert.Throws<DiskException>(first.Dispose);
        Assert.True(_disk.Exists(Path.Join(BackedUp.Node, "checkpoint")));

        BackedUp.Take(node, _disk);
        Assert.False(_disk.Exists(Path.Join(BackedUp.Node, "checkpoint")));
    }

    [Fact]
    public void A_changed_byte_anywhere_in_a_backup_is_detected_and_its_file_named()
    {
        using (var node = BackedUp.NewNode(_disk, documents: 60))
        {
            BackedUp.Take(node, _disk);
        }

        var random = new Random(1);
        int operations = _disk.OperationCount;
        foreach (string path in _disk.Files.Where(file => file.StartsWith(BackedUp.Backup, StringComparison.Ordinal)))
        {
            for (int flip = 0; flip < 10; flip++)
            {
                var image = _disk.AfterPowerLoss(seed: flip);
                using (var file = image.Open(path, DiskOpen.Read))
                {
                    image.Rot(path, random.NextInt64(file.Length), (byte)(1 << random.Next(8)));
                }

                var refused = Assert.Throws<BackupException>(() => BackedUp.Restore(image));
                Assert.Contains(path, refused.Message, StringComparison.Ordinal);
                AssertRefused(image);
            }
        }

        Assert.Equal(operations, _disk.OperationCount);
    }

    [Fact]
    public void Damaged_data_are_not_backed_up()
    {
        using var node = BackedUp.NewNode(_disk);
        string run = _disk.Files.First(file => file.EndsWith(".run", StringComparison.Ordinal));
        _disk.Rot(run, offset: 100, mask: 4);
        Assert.Contains(
            Path.GetFileName(run),
            Assert.Throws<BackupException>(() => BackedUp.Take(node, _disk)).Message,
            StringComparison.Ordinal
        );
        Assert.Contains(
            "no complete backup",
            Assert.Throws<BackupException>(() => BackedUp.Restore(_disk)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void After_a_power_cut_a_backup_is_complete_or_refused()
    {
        new CrashSearch { Points = 200, Runs = 1 }.Verify(
            _ =>
            {
                // The disk records only operations of the backup, so all power cuts are during the backup.
                BackedUp.NewNode(_disk, documents: 60).Dispose();
                var work = _disk.AfterPowerLoss(seed: 0);
                using var node = SteppedNode.Open(work, BackedUp.Node);
                BackedUp.Take(node, work);
                return (work, work.OperationCount);
            },
            (image, operations, operation) =>
            {
                // A cut after the last operation must leave a complete backup.
                try
                {
                    Assert.Equal([("Other", 2), ("Shop", 60)], BackedUp.Restore(image));
                }
                catch (BackupException refused) when (operation < operations)
                {
                    Assert.Contains(BackedUp.Backup, refused.Message, StringComparison.Ordinal);
                }
            }
        );
    }

    [Fact]
    public void After_a_power_cut_a_restore_is_complete_or_refused()
    {
        new CrashSearch { Points = 300, Runs = 1 }.Verify(
            _ =>
            {
                using (var node = BackedUp.NewNode(_disk, documents: 60))
                {
                    BackedUp.Take(node, _disk);
                }

                var work = _disk.AfterPowerLoss(seed: 0);
                BackedUp.Restore(work);
                return (work, work.OperationCount);
            },
            (image, operations, operation) => AssertCompleteOrRefused(image, mayBeRefused: operation < operations)
        );
    }

    [Fact]
    public void A_restore_with_a_failing_disk_never_reports_success()
    {
        using (var node = BackedUp.NewNode(_disk, documents: 60))
        {
            BackedUp.Take(node, _disk);
        }

        var whole = _disk.AfterPowerLoss(seed: 0);
        BackedUp.Restore(whole);
        long calls = whole.CallCount(DiskCalls.Changing);
        for (long call = 1; call <= calls; call++)
        {
            var image = _disk.AfterPowerLoss(seed: 0);
            image.Inject(new DiskFault(call, Errno.InputOutput) { Calls = DiskCalls.Changing, Sticky = true });
            var failure = Record.Exception(() => BackedUp.Restore(image));
            image.ClearFaults();
            image.KillProcess();
            if (failure is not null)
            {
                Assert.IsType<IOException>(failure, exactMatch: false);
            }

            AssertCompleteOrRefused(image, mayBeRefused: failure is not null);
        }
    }

    [Fact]
    public async Task A_truncated_or_changed_stream_is_refused()
    {
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        BackupWire.Write(bytes, new BackupPiece(BackupPieceKind.File, "frames"u8.ToArray()));
        byte[] buffer = new byte[BackupPiece.MaxBytes];
        var whole = await BackupWire.ReadPieceAsync(
            new MemoryStream(bytes.WrittenSpan.ToArray()),
            buffer,
            CancellationToken.None
        );
        Assert.Equal(
            (BackupPieceKind.File, "frames"),
            (whole.Kind, System.Text.Encoding.UTF8.GetString(whole.Bytes.Span))
        );
        for (int i = 0; i < bytes.WrittenCount; i++)
        {
            byte[] changed = bytes.WrittenSpan.ToArray();
            changed[i] ^= 1;
            await Assert.ThrowsAsync<BackupException>(async () =>
                await BackupWire.ReadPieceAsync(new MemoryStream(changed), buffer, CancellationToken.None)
            );
            await Assert.ThrowsAsync<BackupException>(async () =>
                await BackupWire.ReadPieceAsync(new MemoryStream(changed, 0, i), buffer, CancellationToken.None)
            );
        }
    }

    [Theory]
    [InlineData("../frames")]
    [InlineData("storage/../../etc/passwd")]
    [InlineData("storage/..")]
    [InlineData("/etc/passwd")]
    public void A_file_name_outside_the_directory_is_refused(string name)
    {
        using var writer = new BackupWriter(_disk, BackedUp.Backup);
        Assert.Throws<BackupException>(() =>
            writer.TryWritePiece(new BackupPiece(BackupPieceKind.File, System.Text.Encoding.UTF8.GetBytes(name)))
        );
    }

    [Theory]
    [InlineData("file 00000000 1 storage/../../etc/passwd")]
    [InlineData("file 00000000 1 /etc/passwd")]
    [InlineData("file 00000000 1 storage/.hidden")]
    [InlineData("file 00000000 1 storage/")]
    [InlineData("")]
    [InlineData("file 0")]
    [InlineData("file none 1 frames")]
    [InlineData("file 00000000 -1 frames")]
    [InlineData("file 00000000 99999999999999999999 frames")]
    [InlineData("file 00000000 9223372036854775807 frames")]
    [InlineData("file 00000000 0 storage/absent.run")]
    public void A_forged_manifest_is_refused(string line)
    {
        using (var node = BackedUp.NewNode(_disk, documents: 60))
        {
            BackedUp.Take(node, _disk);
        }

        string path = Path.Join(BackedUp.Backup, BackupManifest.FileName);
        string text;
        using (var file = _disk.Open(path, DiskOpen.Read))
        {
            byte[] bytes = new byte[file.Length];
            file.Read(bytes, offset: 0);
            text = System.Text.Encoding.UTF8.GetString(bytes);
        }

        byte[] lines = System.Text.Encoding.UTF8.GetBytes(
            line.Length == 0 ? "\n" : text[..text.LastIndexOf("checksum ", StringComparison.Ordinal)] + line + "\n"
        );
        _disk.Delete(path);
        using (var file = _disk.Open(path, DiskOpen.CreateNew))
        {
            file.Write([.. lines, .. System.Text.Encoding.ASCII.GetBytes($"checksum {Checksum.Of(lines):x8}\n")], 0);
        }

        Assert.Throws<BackupException>(() => BackedUp.Restore(_disk));
        AssertRefused(_disk);
    }

    /// <summary>
    /// Asserts that the restored directory has all documents or, if it may be refused, that it is empty or refused as
    /// unfinished.
    /// </summary>
    private static void AssertCompleteOrRefused(SimulatedDisk image, bool mayBeRefused)
    {
        if (mayBeRefused && !HoldsAnything(image))
        {
            return;
        }

        try
        {
            using var restored = SteppedNode.Open(image, BackedUp.Restored);
            Assert.Equal((60, 2), (restored.Documents("Shop").Count, restored.Documents("Other").Count));
        }
        catch (DataFormatException refused) when (mayBeRefused)
        {
            Assert.Contains("restore that did not finish", refused.Message, StringComparison.Ordinal);
        }
    }

    /// <summary>Asserts that the restored directory is empty or refused as unfinished.</summary>
    private static void AssertRefused(SimulatedDisk image)
    {
        if (HoldsAnything(image))
        {
            var refused = Assert.Throws<DataFormatException>(() => SteppedNode.Open(image, BackedUp.Restored));
            Assert.Contains("restore that did not finish", refused.Message, StringComparison.Ordinal);
        }
    }

    private static bool HoldsAnything(SimulatedDisk image) =>
        image.Exists(BackedUp.Restored) && image.List(BackedUp.Restored).Any(name => name is not "lock");
}
