using Rookery.Disk;
using Rookery.Simulation;

namespace Rookery.Journal.Tests;

public sealed class CrashTests
{
    [Fact]
    public void Acknowledged_frames_survive_two_power_cuts_and_no_other_frame_appears() =>
        new CrashSearch { Points = 3000, Runs = 16 }.Verify(seed => JournalWorkload.Run(seed), (image, run, operation) => run.Check(image, operation));

    [Fact]
    public void The_search_catches_a_journal_that_acknowledges_before_the_sync() =>
        Assert.NotNull(Search(static disk => new ImpatientDisk(disk, syncsFiles: false, syncsDirectories: true)));

    [Fact]
    public void The_search_catches_a_journal_that_forgets_to_sync_its_directory() =>
        Assert.NotNull(Search(static disk => new ImpatientDisk(disk, syncsFiles: true, syncsDirectories: false)));

    private static (CrashPoint Point, Exception Cause)? Search(Func<IDisk, IDisk> behind) =>
        new CrashSearch { Points = 4000, Runs = 16 }.Find(seed => JournalWorkload.Run(seed, behind), (image, run, operation) => run.Check(image, operation));
}

/// <summary>A disk that returns from some syncs without doing them: a journal on it is one that acknowledges too early.</summary>
internal sealed class ImpatientDisk(IDisk disk, bool syncsFiles, bool syncsDirectories) : IDisk
{
    public IDiskFile Open(string path, DiskOpen mode)
    {
        var file = disk.Open(path, mode);
        return syncsFiles ? file : new ImpatientFile(file);
    }

    public bool Exists(string path) => disk.Exists(path);

    public IReadOnlyList<string> List(string directory) => disk.List(directory);

    public void CreateDirectory(string path) => disk.CreateDirectory(path);

    public void Rename(string from, string to) => disk.Rename(from, to);

    public void Link(string existing, string added) => disk.Link(existing, added);

    public void Delete(string path) => disk.Delete(path);

    public void DeleteDirectory(string path) => disk.DeleteDirectory(path);

    public void SyncDirectory(string path)
    {
        if (syncsDirectories)
        {
            disk.SyncDirectory(path);
        }
    }

    public DiskSpace SpaceOf(string path) => disk.SpaceOf(path);

    public string DeviceOf(string path) => disk.DeviceOf(path);

    public IDisposable Lock(string path) => disk.Lock(path);

    private sealed class ImpatientFile(IDiskFile file) : IDiskFile
    {
        public string Path => file.Path;

        public long Length => file.Length;

        public void Write(ReadOnlySpan<byte> data, long offset) => file.Write(data, offset);

        public int Read(Span<byte> buffer, long offset) => file.Read(buffer, offset);

        public void Allocate(long length) => file.Allocate(length);

        public void SetLength(long length) => file.SetLength(length);

        public void Sync()
        {
            // Not now.
        }

        public void Dispose() => file.Dispose();
    }
}
