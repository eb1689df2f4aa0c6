using System.Runtime.Versioning;

namespace Rookery.Platform.Tests;

/// <summary>The contract of every disk, and behaviour that only the machine's file system has.</summary>
public sealed class PosixDiskTests : DiskContractTests, IDisposable
{
    private readonly PosixDisk _disk;
    private readonly TemporaryDirectory _directory;

    public PosixDiskTests()
        : this(new PosixDisk(), new TemporaryDirectory()) { }

    private PosixDiskTests(PosixDisk disk, TemporaryDirectory directory)
        : base(disk, directory.Path) => (_disk, _directory) = (disk, directory);

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Space_and_device_of_a_path_are_plausible()
    {
        var space = _disk.SpaceOf(_directory.Path);
        var expected = new DriveInfo(_directory.Path);
        Assert.Equal(expected.TotalSize, space.TotalBytes);
        Assert.InRange(space.FreeBytes, 1, space.TotalBytes);
        string device = _disk.DeviceOf(_directory.Path);
        Assert.True(
            device is "unknown" || Directory.Exists("/sys/class/block/" + device),
            $"the kernel knows no block device '{device}'"
        );
        Assert.Equal("unknown", _disk.DeviceOf("/proc/self"));
    }

    /// <summary>In a directory of another user, such as that of a backup, a name may also belong to a pipe.</summary>
    [Fact]
    public void Opening_a_pipe_to_read_is_refused_and_does_not_wait()
    {
        using (var mkfifo = System.Diagnostics.Process.Start("mkfifo", [_directory["pipe"]]))
        {
            mkfifo.WaitForExit();
        }

        using var pipe = _disk.Open(_directory["pipe"], DiskOpen.Read);
        Assert.Throws<DiskException>(() => pipe.Length);
    }

    [Fact]
    public void A_directory_cannot_be_opened_as_a_file_to_read_its_length()
    {
        _disk.CreateDirectory(_directory["directory"]);
        Assert.Throws<DiskException>(() =>
        {
            using var file = _disk.Open(_directory["directory"], DiskOpen.Read);
            return file.Length;
        });
    }

    [Fact]
    [UnsupportedOSPlatform("windows")]
    public void Created_files_are_readable_by_their_owner_only()
    {
        const UnixFileMode owner = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        _disk.CreateDirectory(_directory["own"]);
        _disk.Open(_directory["own/file"], DiskOpen.CreateNew).Dispose();
        Assert.Equal(
            (owner | UnixFileMode.UserExecute, owner),
            (File.GetUnixFileMode(_directory["own"]), File.GetUnixFileMode(_directory["own/file"]))
        );
    }

    [Fact]
    public void Reading_does_not_change_the_time_of_access()
    {
        string path = _directory["read"];
        File.WriteAllBytes(path, new byte[4096]);
        // Before the write, so that relatime would record a read.
        var accessed = new DateTime(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        File.SetLastAccessTimeUtc(path, accessed);
        using (var file = _disk.Open(path, DiskOpen.Read))
        {
            file.Read(new byte[4096], 0);
        }

        Assert.Equal(accessed, File.GetLastAccessTimeUtc(path));
    }

    [Fact]
    public void A_full_device_is_reported_as_no_space()
    {
        // /dev/full fails every write with ENOSPC, like a full file system.
        using var full = _disk.Open("/dev/full", DiskOpen.ReadWrite);
        Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(() => full.Write("x"u8, offset: 0)).Error);
    }
}
