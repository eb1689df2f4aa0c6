using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Journal.Tests;

/// <summary>Power cuts at every disk operation of a random workload on the journal.</summary>
public sealed class CrashTests
{
    [Fact]
    public void Acknowledged_frames_survive_two_power_cuts_and_no_other_frame_appears() =>
        new CrashSearch { Points = 3000, Runs = 16 }.Verify(
            seed => JournalWorkload.Run(seed),
            (image, run, operation) => run.Check(image, operation)
        );

    [Fact]
    public void The_search_catches_a_journal_that_acknowledges_before_the_sync() =>
        Assert.NotNull(Search(static disk => new SyncSkippingDisk(disk, IsFile)));

    [Fact]
    public void The_search_catches_a_journal_that_forgets_to_sync_its_directory() =>
        Assert.NotNull(Search(static disk => new SyncSkippingDisk(disk, static path => !IsFile(path))));

    private static bool IsFile(string path) => Path.HasExtension(path);

    private static (CrashPoint Point, Exception Cause)? Search(Func<IDisk, IDisk> wrap) =>
        new CrashSearch { Points = 4000, Runs = 16 }.Find(
            seed => JournalWorkload.Run(seed, wrap),
            (image, run, operation) => run.Check(image, operation)
        );
}
