using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Proves that the crash search finds mistakes: each node here skips a sync that it needs before it answers or
/// continues.
/// </summary>
public sealed class PlantedCrashTests
{
    private const string Journal = SteppedNode.Directory + "/journal";
    private const string Storage = SteppedNode.Directory + "/storage";

    [Fact]
    public void The_search_catches_a_journal_that_acknowledges_before_the_sync() =>
        AssertFound(static path => path.Contains("/journal-", StringComparison.Ordinal));

    [Fact]
    public void The_search_catches_a_journal_that_forgets_to_sync_its_directory() =>
        AssertFound(static path => path is Journal);

    [Fact]
    public void The_search_catches_a_journal_that_is_released_before_the_manifest_is_synced() =>
        AssertFound(static path => path.Contains("/manifest", StringComparison.Ordinal));

    [Fact]
    public void The_search_catches_a_manifest_that_names_runs_before_they_are_synced() =>
        AssertFound(static path => path.EndsWith(".run", StringComparison.Ordinal));

    [Fact]
    public void The_search_catches_a_manifest_that_names_runs_before_their_directory_is_synced() =>
        AssertFound(static path => path is Storage);

    [Fact]
    public void The_search_catches_a_data_directory_whose_own_name_is_not_synced() =>
        AssertFound(static path => path is "/data");

    [Fact]
    public void A_failure_says_how_to_replay_it()
    {
        var failure = Assert.Throws<CrashFoundException>(() =>
            new CrashSearch { Points = 400, Runs = 4 }.Verify(
                static seed => RunNode(seed, static path => path.Contains("/journal-", StringComparison.Ordinal)),
                static (image, run, operation) => run.Check(image, operation)
            )
        );
        Assert.Matches(
            @"Power loss \d+:\d+:\d+ breaks a promise. Replay: ROOKERY_CRASH=\d+:\d+:\d+ dotnet test server/tests/Rookery.Crash.Tests --filter FullyQualifiedName~PlantedCrashTests.A_failure_says_how_to_replay_it",
            failure.Message
        );
    }

    /// <summary>Fails unless a power cut shows the mistake, and the same cut shows it again.</summary>
    /// <param name="skips">Whether the syncs of a path are skipped.</param>
    private static void AssertFound(Func<string, bool> skips)
    {
        var failure = new CrashSearch { Points = 2000, Runs = 20 }.Find(
            seed => RunNode(seed, skips),
            static (image, run, operation) => run.Check(image, operation)
        );
        Assert.NotNull(failure);
        var point = failure.Value.Point;
        var (disk, again) = RunNode(point.Run, skips);
        Assert.ThrowsAny<Exception>(() => again.Check(disk.CrashAt(point.Operation, point.Image), point.Operation));
    }

    private static (SimulatedDisk Disk, NodeWorkload Run) RunNode(int seed, Func<string, bool> skips) =>
        NodeWorkload.Run(seed, wrap: disk => new SyncSkippingDisk(disk, skips));
}
