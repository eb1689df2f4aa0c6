using Rookery.Documents.Attachments;
using Rookery.Documents.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>Backups contain the contents of attachments, and name those that could not be read.</summary>
public sealed class AttachmentBackupTests : IDisposable
{
    private const string Backup = "/backups/one";
    private const string Restored = "/data/restored";

    private readonly SimulatedDisk _disk = new("/data", "/backups");
    private readonly AttachedNode _node;

    public AttachmentBackupTests()
    {
        _node = AttachedNode.Create(_disk);
        _node.Node.Put("db", "a", "{}");
    }

    public void Dispose() => _node.Dispose();

    private string[] Contents =>
        [.. _disk.Files.Where(static path => path.StartsWith("/data/node/attachments/", StringComparison.Ordinal))];

    [Fact]
    public void A_restored_node_has_all_contents()
    {
        byte[][] contents = [.. new[] { 0, 1, 65_536, 300_000, 70_001 }.Select(Bytes)];
        for (int i = 0; i < contents.Length; i++)
        {
            _node.Attach("a", $"n{i}", contents[i]);
        }

        Assert.Empty(Take());
        Restore();
        using var restored = Open();
        for (int i = 0; i < contents.Length; i++)
        {
            Assert.Equal(contents[i], restored.Read("a", $"n{i}"));
        }

        restored.Collect();
        Assert.Equal(5, restored.Totals().Contents);
        Assert.Equal(contents[3], restored.Read("a", "n3"));
    }

    [Fact]
    public void A_restored_node_has_all_contents_after_a_power_cut()
    {
        _node.Attach("a", "x", Bytes(100_000));
        Take();
        Restore();
        for (int seed = 0; seed < 5; seed++)
        {
            using var restored = AttachedNode.Open(
                _disk.AfterPowerLoss(seed),
                static options => options with { DataDirectory = Restored }
            );
            restored.DeleteDocument("none"); // applies the journal
            Assert.Equal(Bytes(100_000), restored.Read("a", "x"));
        }
    }

    /// <summary>
    /// The checksums at the end of a content of this length nearly fill a piece, and the next content begins in it.
    /// </summary>
    [Fact]
    public void No_piece_of_a_backup_is_longer_than_a_reader_accepts()
    {
        _node.Attach("a", "long", Bytes(65_990_640));
        for (int i = 0; i < 8; i++)
        {
            _node.Attach("a", $"short {i}", Bytes(i));
        }

        int longest = ContentBackup
            .Write(_node.Store.Attachments, static _ => { }, static _ => { })
            .SelectMany(static file => file.Pieces.Select(static piece => piece.Length))
            .Max();
        Assert.InRange(longest, BackupPiece.MaxBytes - ContentFile.ChunkBytes, BackupPiece.MaxBytes);
    }

    [Fact]
    public void Attachments_that_change_during_a_backup_are_in_it_as_of_its_last_entry()
    {
        _node.Attach("a", "old", Bytes(10));
        using var writer = new BackupWriter(_disk, Backup);
        using (var backup = _node.Store.BeginBackup())
        {
            _node.Detach("a", "old");
            _node.Attach("a", "new", Bytes(20));
            _node.Collect();
            Assert.Equal(2, Contents.Length); // nothing is deleted that the backup needs
            foreach (var piece in backup.Read())
            {
                writer.TryWritePiece(piece);
            }
        }

        writer.Complete(new MemoryBudget(16 << 20), NoRecorder.Instance, new SimulatedTimeProvider());
        _node.Collect();
        Assert.Single(Contents);
        Restore();
        using var restored = Open();
        restored.DeleteDocument("none"); // applies the journal
        string name = Assert.Single(restored.Names("a")!);
        Assert.Equal(Bytes(name is "old" ? 10 : 20), restored.Read("a", name));
        restored.Collect();
        Assert.Equal(Bytes(name is "old" ? 10 : 20), restored.Read("a", name));
    }

    [Fact]
    public void A_content_that_cannot_be_read_is_named_and_the_rest_is_backed_up()
    {
        _node.Attach("a", "missing", Bytes(10));
        string missing = Assert.Single(Contents);
        _disk.Delete(missing);
        _node.Attach("a", "damaged", Bytes(20));
        string damaged = Assert.Single(Contents);
        _disk.Rot(damaged, offset: 5, mask: 1);
        _node.Attach("a", "intact", Bytes(30));
        string[] unreadable = Take();
        Assert.Equal(
            new[] { missing, damaged }
                .Select(static path => $"{Path.GetFileName(path)} db")
                .Order(StringComparer.Ordinal),
            unreadable.Order(StringComparer.Ordinal)
        );
        Restore();
        using var restored = Open();
        Assert.Equal(Bytes(30), restored.Read("a", "intact"));
        Assert.Throws<Documents.Attachments.ContentDamagedException>(() => restored.Read("a", "damaged"));
        Assert.Throws<Documents.Attachments.ContentDamagedException>(() => restored.Read("a", "missing"));
    }

    // Contents are opened before, during and after the copy; they are listed only for the copy.
    [Theory]
    [InlineData(DiskCalls.Open, 1)]
    [InlineData(DiskCalls.Open, 2)]
    [InlineData(DiskCalls.Open, 3)]
    [InlineData(DiskCalls.List, 1)]
    [InlineData(DiskCalls.List, 2)]
    [InlineData(DiskCalls.List, 3)]
    public void A_content_left_out_because_one_disk_call_failed_is_named(DiskCalls calls, int atCall)
    {
        _node.Attach("a", "x", Bytes(10));
        string content = Assert.Single(Contents);
        _disk.Inject(
            new DiskFault(atCall, Errno.TooManyFiles) { Calls = calls, PathContains = "/data/node/attachments" }
        );
        Assert.Equal([$"{Path.GetFileName(content)} db"], Take());
    }

    [Fact]
    public void A_restore_names_the_contents_that_its_backup_lacks()
    {
        _node.Attach("a", "missing", Bytes(10));
        string missing = Path.GetFileName(Assert.Single(Contents));
        _disk.Delete(Assert.Single(Contents));
        Take();
        var restored = Restore();
        Assert.Equal([$"{missing} db"], restored.Named);
        Assert.Equal(1, restored.Total);
        Assert.Equal(0, restored.Of("other").Total);
        Assert.Equal(1, restored.Of("DB").Total);
    }

    [Fact]
    public void A_manifest_counts_the_contents_that_it_does_not_name()
    {
        string heading = BackupManifest.HeadingOf(
            "n",
            "c",
            DateTimeOffset.UnixEpoch,
            throughIndex: 1,
            throughEtag: 1,
            Documents.Nodes.FormatLevel.First,
            ["db", "other"],
            [.. Enumerable.Range(0, BackupManifest.MaxUnreadable + 7).Select(static i => $"{i:x64} db")]
        );
        var unreadable = BackupManifest.UnreadableIn(heading.Split('\n'));
        Assert.Equal(BackupManifest.MaxUnreadable, unreadable.Named.Count);
        Assert.Equal(BackupManifest.MaxUnreadable + 7, unreadable.Total);
        Assert.Equal(7, unreadable.Of("other").Total);
    }

    [Fact]
    public void Many_small_contents_share_few_files_of_a_backup()
    {
        for (int i = 0; i < 100; i++)
        {
            _node.Attach("a", $"n{i}", BitConverter.GetBytes(i));
        }

        Take();
        Assert.Single(_disk.Files, static path => path.StartsWith(Backup + "/attachments/", StringComparison.Ordinal));
        Restore();
        using var restored = Open();
        Assert.Equal(BitConverter.GetBytes(99), restored.Read("a", "n99"));
    }

    [Fact]
    public void A_restore_without_room_for_the_blocks_of_small_contents_is_refused()
    {
        for (int i = 0; i < 300; i++)
        {
            _node.Attach(i % 100 == 0 ? Put($"d{i}") : $"d{i / 100 * 100}", $"n{i}", BitConverter.GetBytes(i));
        }

        Take();
        var options = SteppedNode.Options(Restored);
        _disk.CapacityBytes = _disk.UsedBytes + (3 * options.SegmentBytes) + (300 * 4096);
        Assert.Throws<BackupException>(() => Restore());
        Assert.False(_disk.Exists(Restored));
        _disk.CapacityBytes += (2 * 300 * 4096) + (1 << 20);
        Restore();
    }

    [Theory]
    [InlineData(3)]
    [InlineData(25)]
    [InlineData(80)]
    public void A_damaged_file_of_contents_is_refused(int offset)
    {
        _node.Attach("a", "x", Bytes(100));
        Take();
        _disk.Rot(Backup + "/attachments/1", offset, mask: 1);
        Assert.Throws<BackupException>(() => Restore());
    }

    // A failing stick may return other bytes when it is read again.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void What_a_restore_stores_is_what_it_has_checked(int wrongRead)
    {
        _node.Attach("a", "x", Bytes(100_000));
        Take();
        try
        {
            Restore(new WrongReads(_disk, Backup + "/attachments/", wrongRead));
        }
        catch (BackupException damaged)
        {
            Assert.Contains("is damaged", damaged.Message, StringComparison.Ordinal);
            return;
        }

        using var restored = Open();
        Assert.Equal(Bytes(100_000), restored.Read("a", "x"));
    }

    private static byte[] Bytes(int length)
    {
        byte[] bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    [Fact]
    public void No_piece_of_a_backup_exceeds_its_maximum()
    {
        for (int i = 0; i < 9; i++)
        {
            _node.Attach("a", $"n{i}", Bytes((64 << 10) * i));
        }

        using var backup = _node.Store.BeginBackup();
        Assert.All(
            backup.Read().Select(static piece => piece.Bytes.Length),
            static length => Assert.InRange(length, 1, BackupPiece.MaxBytes)
        );
    }

    private string Put(string id)
    {
        _node.Node.Put("db", id, "{}");
        return id;
    }

    private string[] Take()
    {
        using var writer = new BackupWriter(_disk, Backup);
        using var backup = _node.Store.BeginBackup();
        foreach (var piece in backup.Read())
        {
            writer.TryWritePiece(piece);
        }

        writer.Complete(new MemoryBudget(16 << 20), NoRecorder.Instance, new SimulatedTimeProvider());
        return [.. writer.Unreadable.Named];
    }

    private UnreadableContents Restore(IDisk? disk = null)
    {
        var restoration = new Restoration(
            disk ?? _disk,
            SteppedNode.Options(Restored),
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );
        restoration.Run(Backup, onlyDatabase: null);
        return restoration.Unreadable;
    }

    private AttachedNode Open() =>
        AttachedNode.Open(_disk, static options => options with { DataDirectory = Restored });

    /// <summary>A disk that returns a wrong byte in one of the long reads of files in a folder.</summary>
    private sealed class WrongReads(IDisk disk, string folder, int wrongRead) : WrappedDisk(disk)
    {
        private int _reads;

        public override IDiskFile Open(string path, DiskOpen mode) =>
            path.StartsWith(folder, StringComparison.Ordinal)
                ? new WrongFile(base.Open(path, mode), this)
                : base.Open(path, mode);

        private sealed class WrongFile(IDiskFile file, WrongReads disk) : WrappedFile(file)
        {
            public override int Read(Span<byte> buffer, long offset)
            {
                const int LongBytes = 4096; // the head of a content is shorter
                int read = base.Read(buffer, offset);
                if (read >= LongBytes)
                {
                    disk._reads++;
                    buffer[LongBytes / 2] ^= (byte)(disk._reads == disk.WrongRead ? 1 : 0);
                }

                return read;
            }
        }

        private int WrongRead => wrongRead;
    }
}
