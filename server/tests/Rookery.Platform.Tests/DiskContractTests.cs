using System.Text;

namespace Rookery.Platform.Tests;

/// <summary>The contract of every disk, tested in an empty directory.</summary>
public abstract class DiskContractTests(IDisk disk, string directory)
{
    [Fact]
    public void Bytes_written_at_an_offset_are_read_back_and_the_gap_reads_as_zeros()
    {
        using var file = disk.Open(PathOf("a"), DiskOpen.CreateNew);
        file.Write("tail"u8, 10_000);
        file.Sync();

        byte[] buffer = new byte[20_000];
        Assert.Equal(10_004, file.Length);
        Assert.Equal(10_004, file.Read(buffer, offset: 0));
        Assert.Equal("\0tail", Encoding.ASCII.GetString(buffer, 9_999, 5));
        Assert.Equal(0, file.Read(buffer, 10_004));
        Assert.Equal(PathOf("a"), file.Path);
    }

    [Fact]
    public void Opening_reports_a_missing_or_existing_name()
    {
        Assert.Equal(Errno.NoEntry, Assert.Throws<DiskException>(() => disk.Open(PathOf("none"), DiskOpen.Read)).Error);
        Assert.Equal(
            Errno.NoEntry,
            Assert.Throws<DiskException>(() => disk.Open(PathOf("none"), DiskOpen.ReadWrite)).Error
        );
        disk.Open(PathOf("a"), DiskOpen.CreateNew).Dispose();
        var refusal = Assert.Throws<DiskException>(() => disk.Open(PathOf("a"), DiskOpen.CreateNew));
        Assert.Equal(Errno.Exists, refusal.Error);
        Assert.Equal($"Could not create {PathOf("a")}: the name is taken.", refusal.Message);
    }

    [Fact]
    public void A_file_opened_to_read_cannot_be_written()
    {
        disk.Open(PathOf("a"), DiskOpen.CreateNew).Dispose();
        using var file = disk.Open(PathOf("a"), DiskOpen.Read);
        Assert.Throws<DiskException>(() => file.Write("x"u8, offset: 0));
    }

    [Fact]
    public void Reserved_space_reads_as_zeros_and_never_shortens()
    {
        using var file = disk.Open(PathOf("a"), DiskOpen.CreateNew);
        file.Write("x"u8, offset: 0);
        file.Allocate(8192);
        Assert.Equal(8192, file.Length);
        file.Allocate(4096);
        Assert.Equal(8192, file.Length);
        byte[] buffer = new byte[8192];
        Assert.Equal(8192, file.Read(buffer, offset: 0));
        Assert.Equal((byte)'x', buffer[0]);
        Assert.Equal(-1, buffer.AsSpan(1).IndexOfAnyExcept((byte)0));
        file.SetLength(3);
        Assert.Equal(3, file.Length);
    }

    [Fact]
    public void Directories_are_made_with_their_parents_listed_in_order_and_removed_when_empty()
    {
        string inner = PathOf("a/b/c");
        disk.CreateDirectory(inner);
        disk.CreateDirectory(inner);
        disk.Open(Path.Join(inner, "z"), DiskOpen.CreateNew).Dispose();
        disk.Open(Path.Join(inner, "Ä"), DiskOpen.CreateNew).Dispose();
        disk.Open(Path.Join(inner, "B"), DiskOpen.CreateNew).Dispose();
        Assert.Equal(["B", "z", "Ä"], disk.List(inner));
        disk.SyncDirectory(inner);

        Assert.Equal(Errno.NotEmpty, Assert.Throws<DiskException>(() => disk.DeleteDirectory(inner)).Error);
        foreach (string name in disk.List(inner))
        {
            disk.Delete(Path.Join(inner, name));
        }

        disk.DeleteDirectory(inner);
        Assert.False(disk.Exists(inner));
        Assert.Equal(Errno.NoEntry, Assert.Throws<DiskException>(() => disk.List(inner)).Error);
    }

    [Fact]
    public void A_directory_is_not_made_at_the_path_of_a_file()
    {
        disk.Open(PathOf("a"), DiskOpen.CreateNew).Dispose();
        Assert.Equal(Errno.Exists, Assert.Throws<DiskException>(() => disk.CreateDirectory(PathOf("a"))).Error);
        Assert.Equal(Errno.NotDirectory, Assert.Throws<DiskException>(() => disk.CreateDirectory(PathOf("a/b"))).Error);
        Assert.False(disk.Exists(PathOf("a/b")));
    }

    [Fact]
    public void Renaming_replaces_a_file_and_linked_bytes_stay_until_their_last_name_is_deleted()
    {
        Write("old", "old");
        Write("new", "new");
        disk.Link(PathOf("new"), PathOf("second"));
        disk.Rename(PathOf("new"), PathOf("old"));
        Assert.Equal(["old", "second"], disk.List(directory));

        disk.Delete(PathOf("old"));
        using var file = disk.Open(PathOf("second"), DiskOpen.Read);
        disk.Delete(PathOf("second"));
        byte[] buffer = new byte[3];
        Assert.Equal(3, file.Read(buffer, offset: 0));
        Assert.Equal("new"u8, buffer);
    }

    [Fact]
    public void A_lock_is_refused_while_it_is_held_and_free_afterwards()
    {
        using (disk.Lock(PathOf("lock")))
        {
            Assert.Equal(Errno.WouldBlock, Assert.Throws<DiskException>(() => disk.Lock(PathOf("lock"))).Error);
        }

        disk.Lock(PathOf("lock")).Dispose();
    }

    private string PathOf(string name) => Path.Join(directory, name);

    private void Write(string name, string text)
    {
        using var file = disk.Open(PathOf(name), DiskOpen.CreateNew);
        file.Write(Encoding.UTF8.GetBytes(text), 0);
    }
}
