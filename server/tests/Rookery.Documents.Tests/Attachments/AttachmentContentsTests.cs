using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>The files of contents, the bytes that equal attachments share: creation, damage and deletion.</summary>
public sealed class AttachmentContentsTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly List<string> _troubles = [];
    private AttachedNode _node;

    public AttachmentContentsTests()
    {
        _node = AttachedNode.Create(_disk, options => options with { TroubleFound = _troubles.Add });
        _node.Node.Put("db", "a", "{}");
    }

    public void Dispose() => _node.Dispose();

    private string[] Contents =>
        [.. _disk.Files.Where(static path => path.Contains("/attachments/", StringComparison.Ordinal))];

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(65_535)]
    [InlineData(65_536)]
    [InlineData(65_537)]
    [InlineData(1_000_000)]
    public void A_content_is_read_back_equal(int length)
    {
        byte[] content = new byte[length];
        new Random(length).NextBytes(content);
        _node.Attach("a", "x", content);
        Assert.Equal(content, _node.Read("a", "x"));
    }

    /// <summary>Shells complete the name of a directory with a slash.</summary>
    [Fact]
    public void A_node_whose_data_directory_ends_with_a_slash_stores_attachments()
    {
        using var node = AttachedNode.Create(
            new SimulatedDisk("/data"),
            static options => options with { DataDirectory = options.DataDirectory + "/" }
        );
        node.Node.Put("db", "a", "{}");
        node.Attach("a", "x", [1]);
        Assert.Equal([1], node.Read("a", "x"));
    }

    [Fact]
    public void Equal_contents_share_one_file_which_is_deleted_with_the_last_attachment()
    {
        _node.Attach("a", "x", [1]);
        _node.Attach("a", "y", [1]);
        Assert.Single(Contents);
        _node.Detach("a", "x");
        _node.Collect();
        Assert.Single(Contents);
        _node.Detach("a", "y");
        _node.Collect();
        Assert.Empty(Contents);
    }

    [Fact]
    public void A_deleted_database_loses_its_files()
    {
        _node.Attach("a", "x", [1]);
        _node.Node.CreateDatabase("other");
        _node.Node.Run(CommandEncoder.DeleteDatabases(["db"]));
        _node.Collect();
        Assert.Empty(Contents);
    }

    [Fact]
    public void An_upload_that_does_not_end_leaves_nothing()
    {
        using (var upload = _node.Begin())
        {
            AttachedNode.Write(upload, new byte[300_000]);
            Assert.Single(Contents);
        }

        _node.Settle();
        Assert.Empty(Contents);
    }

    [Fact]
    public void A_start_deletes_unfinished_uploads_and_contents_without_references()
    {
        _node.Attach("a", "kept", [1]);
        _node.Upload([2]); // its command is unknown until the next start
        AttachedNode.Write(_node.Begin(), [3]);
        _node.Collect();
        Assert.Equal(3, Contents.Length);
        _disk.KillProcess();
        using (
            var store = NodeStore.Open(
                SteppedNode.Options("/data/node"),
                _disk,
                new MemoryBudget(16 << 20),
                NoRecorder.Instance,
                new SimulatedTimeProvider()
            )
        )
        {
            store.Attachments.Garbage.Collect(maxFiles: 10); // its journal is not applied yet
            Assert.Equal(3, Contents.Length);
        }

        _node = AttachedNode.Open(_disk);
        Assert.Equal(2, Contents.Length);
        _node.Detach("none", "x");
        _node.Collect();
        Assert.Single(Contents);
        Assert.Equal([1], _node.Read("a", "kept"));
    }

    [Theory]
    [InlineData(DiskCalls.Delete)]
    [InlineData(DiskCalls.List)]
    public void An_unfinished_upload_that_cannot_be_deleted_stops_neither_the_start_nor_uploads(DiskCalls refused)
    {
        AttachedNode.Write(_node.Begin(), [1]);
        AttachedNode.Write(_node.Begin(), [2]);
        _disk.KillProcess();
        _disk.Inject(
            new DiskFault(AtCall: 1, Errno.ReadOnly)
            {
                Calls = refused,
                PathContains = "/incoming",
                Sticky = true,
            }
        );
        _node = AttachedNode.Open(_disk, options => options with { TroubleFound = _troubles.Add });
        Assert.Single(_troubles);
        Assert.Equal(2, Contents.Length);
        _disk.ClearFaults();
        _node.Attach("a", "x", [3]);
        Assert.Equal([3], _node.Read("a", "x"));
        Assert.Equal(3, Contents.Length);
    }

    [Fact]
    public void A_content_uploaded_again_during_the_deletion_of_its_last_attachment_is_kept()
    {
        _node.Attach("a", "x", [1]);
        using (var pinned = _node.Upload([1]))
        {
            _node.Detach("a", "x");
            _node.Collect();
            Assert.Single(Contents);
            _node.Node.Propose(_node.Command("a", "y", pinned));
        }

        _node.Collect();
        Assert.Equal([1], _node.Read("a", "y"));
    }

    [Fact]
    public void A_content_whose_command_was_refused_is_deleted()
    {
        Assert.NotNull(_node.Attach("none", "x", [1]).Rejection);
        _node.Collect();
        Assert.Empty(Contents);
    }

    [Fact]
    public void An_open_content_is_read_to_its_end_after_its_deletion()
    {
        byte[] content = new byte[100_000];
        using var pinned = _node.Upload(content);
        var hash = pinned.Hash;
        _node.Node.Run(_node.Command("a", "x", pinned));
        pinned.Dispose();
        using var file = _node.Store.Attachments.Open(_node.Database, hash);
        _node.Detach("a", "x");
        _node.Collect();
        Assert.Empty(Contents);
        Assert.Equal(100_000 - ContentFile.ChunkBytes, file.ReadChunk(1, new byte[ContentFile.ChunkBytes]));
    }

    [Fact]
    public void A_flipped_bit_anywhere_in_a_file_is_never_read_and_is_reported()
    {
        byte[] content = new byte[70_000];
        new Random(1).NextBytes(content);
        _node.Attach("a", "x", content);
        string path = Assert.Single(Contents);
        long length = ContentFormatLength(content.Length);
        foreach (long offset in (long[])[0, 65_535, 65_536, 69_999, 70_000, 70_007, 70_008, length - 30, length - 5])
        {
            _disk.Rot(path, offset, mask: 4);
            _troubles.Clear();
            Assert.Throws<ContentDamagedException>(() => _node.Read("a", "x"));
            Assert.Contains(path, Assert.Single(_troubles), StringComparison.Ordinal);
            _node.Attach("a", "x", content); // the same bytes replace the damaged file
            Assert.Equal(content, _node.Read("a", "x"));
        }
    }

    [Fact]
    public void The_scrub_finds_damage_and_a_missing_file_is_named()
    {
        byte[] content = new byte[300_000];
        _node.Attach("a", "x", content);
        _node.Attach("a", "y", [1]);
        string large = Contents.Single(path => Size(path) > 300_000);
        _disk.Rot(large, 250_000, mask: 1);
        Scrub();
        Scrub();
        Assert.Contains("from byte 196608", Assert.Single(_troubles), StringComparison.Ordinal);
        _disk.Delete(Contents.Single(path => !path.Equals(large, StringComparison.Ordinal)));
        Assert.True(Assert.Throws<ContentDamagedException>(() => _node.Read("a", "y")).IsMissing);
    }

    [Theory]
    [InlineData(Errno.TooManyFiles, 0)]
    [InlineData(Errno.TooManyFilesInSystem, 0)]
    [InlineData(Errno.NoMemory, 0)]
    [InlineData(Errno.InputOutput, 1)]
    public void A_lack_of_file_handles_or_memory_is_no_damage(Errno error, int damaged)
    {
        _node.Attach("a", "x", [1]);
        _disk.Inject(
            new DiskFault(AtCall: 1, error)
            {
                Calls = DiskCalls.Open,
                PathContains = "/attachments/",
                Sticky = true,
            }
        );
        Scrub();
        Assert.Equal(damaged, _node.Store.Attachments.Damage.Count);
        Assert.Equal(damaged, _troubles.Count);
    }

    [Fact]
    public void A_missing_content_that_a_row_names_is_reported_until_it_is_stored_again()
    {
        _node.Attach("a", "x", [1]);
        string path = Assert.Single(Contents);
        _disk.Delete(path);
        Scrub();
        Scrub();
        Assert.Contains(path, Assert.Single(_troubles), StringComparison.Ordinal);
        Assert.Contains(path, Assert.Single(_node.Store.Attachments.Damage), StringComparison.Ordinal);
        _node.Attach("a", "y", [1]);
        Assert.Empty(_node.Store.Attachments.Damage);
        Scrub();
        Assert.Single(_troubles);
    }

    [Fact]
    public void A_missing_content_is_no_trouble_once_its_last_attachment_is_deleted()
    {
        _node.Attach("a", "x", [1]);
        _disk.Delete(Assert.Single(Contents));
        Scrub();
        Assert.Single(_node.Store.Attachments.Damage);
        _node.Detach("a", "x");
        Scrub();
        Assert.Empty(_node.Store.Attachments.Damage);
    }

    [Fact]
    public void A_scrub_checks_the_contents_of_all_databases_and_begins_anew()
    {
        _node.Attach("a", "x", [1]);
        _node.Node.CreateDatabase("other");
        for (int i = 0; i < 600; i++)
        {
            _node.Attach("a", $"n{i % 20}", BitConverter.GetBytes(i));
        }

        foreach (string path in Contents)
        {
            _disk.Delete(path);
        }

        Scrub();
        Assert.Equal(21, _troubles.Count);
        Assert.Equal(21, _node.Store.Attachments.Damage.Count);
    }

    [Fact]
    public void A_content_of_another_database_is_damage()
    {
        _node.Attach("a", "x", [1]);
        string path = Assert.Single(Contents);
        string other = path.Replace($"/attachments/{_node.Database}/", "/attachments/99/", StringComparison.Ordinal);
        _disk.CreateDirectory(Path.GetDirectoryName(other)!);
        _disk.Link(path, other);
        using var reader = _node.Node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument("a"u8, out var document));
        Assert.True(AttachmentList.TryFind(document.Head.Attachments, "x"u8, out var entry));
        var hash = entry.Hash;
        document.Dispose();
        Assert.Throws<ContentDamagedException>(() => _node.Store.Attachments.Open(99, hash));
    }

    [Fact]
    public void An_upload_that_is_too_large_or_has_no_room_is_refused_and_leaves_no_file()
    {
        _node.Dispose();
        _node = AttachedNode.Open(
            _disk,
            static options => options with { MaxAttachmentBytes = 1000, Reserve = new ReserveRule(1 << 20, 0) }
        );
        Assert.Equal(ContentRefusal.TooLarge, Refused(() => _node.Begin(1001)));
        Assert.Equal(ContentRefusal.TooLarge, Refused(() => _node.Upload(new byte[1001])));
        _disk.CapacityBytes = _disk.UsedBytes + (1 << 20);
        Assert.Equal(ContentRefusal.NoRoom, Refused(() => _node.Begin()));
        Assert.Empty(Contents);

        static ContentRefusal Refused(Action work) => Assert.Throws<ContentRefusedException>(work).Cause;
    }

    [Fact]
    public void Concurrent_uploads_do_not_reserve_the_same_space()
    {
        _node.Dispose();
        _node = AttachedNode.Open(_disk, static options => options with { Reserve = new ReserveRule(1 << 20, 0) });
        using (_node.Upload([1])) { }

        _disk.CapacityBytes = _disk.UsedBytes + (3 << 20);
        using (var first = _node.Begin(expectedBytes: 1_500_000))
        {
            var refused = Assert.Throws<ContentRefusedException>(() => _node.Begin(expectedBytes: 1_500_000));
            Assert.Contains("other uploads", refused.Message, StringComparison.Ordinal);
        }

        _node.Settle();
        _node.Begin(expectedBytes: 1_500_000).Dispose();
    }

    [Fact]
    public void A_slow_upload_reserves_only_a_part_of_the_bytes_that_it_announced()
    {
        _node.Dispose();
        _node = AttachedNode.Open(_disk, static options => options with { Reserve = new ReserveRule(1 << 20, 0) });
        using (_node.Upload([1])) { }

        _disk.CapacityBytes = _disk.UsedBytes + (201L << 20);
        Assert.Throws<ContentRefusedException>(() => _node.Begin(expectedBytes: 210 << 20));
        using var slow = _node.Begin(expectedBytes: 190 << 20);
        using var other = _node.Begin(expectedBytes: 130 << 20); // the slow upload reserves 64 MiB
        Assert.Throws<ContentRefusedException>(() => _node.Begin(expectedBytes: 80 << 20));
        using (var pinned = _node.Upload(new byte[10 << 20]))
        {
            Assert.Equal(10 << 20, pinned.Size);
        }
    }

    private void Scrub() => _node.Store.Attachments.Maintenance.DoRound();

    private static long ContentFormatLength(long size) => size + (((size + 65_535) / 65_536) * 4) + 64;

    private long Size(string path)
    {
        using var file = _disk.Open(path, DiskOpen.Read);
        return file.Length;
    }
}
