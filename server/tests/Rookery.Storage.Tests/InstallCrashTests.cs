using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Install;

namespace Rookery.Storage.Tests;

/// <summary>Power cuts during the installation of a fetched snapshot, or of fetched changes.</summary>
public sealed class InstallCrashTests
{
    [Fact]
    public void After_any_power_cut_the_old_or_the_installed_state_is_complete() =>
        new CrashSearch { Points = 1200, Runs = 12 }.Verify(
            seed => InstallSnapshot(seed, static disk => disk),
            CheckImage
        );

    [Fact]
    public void The_search_catches_an_install_without_a_sync_of_its_files() =>
        Assert.NotNull(
            new CrashSearch { Points = 600, Runs = 6 }.Find(
                seed =>
                    InstallSnapshot(
                        seed,
                        static disk => new SyncSkippingDisk(
                            disk,
                            static path => path.Contains("incoming/", StringComparison.Ordinal)
                        )
                    ),
                CheckImage
            )
        );

    [Fact]
    public void The_search_catches_an_install_without_a_sync_of_the_directory() =>
        Assert.NotNull(
            new CrashSearch { Points = 600, Runs = 6 }.Find(
                seed =>
                    InstallSnapshot(
                        seed,
                        static disk => new SyncSkippingDisk(disk, static path => path is EngineWorkload.Directory)
                    ),
                CheckImage
            )
        );

    [Fact]
    public void After_any_power_cut_changes_are_installed_completely_or_not_at_all() =>
        new CrashSearch { Points = 1200, Runs = 12 }.Verify(
            seed => InstallChanges(seed, static disk => disk),
            CheckImage
        );

    [Fact]
    public void The_search_catches_changes_installed_without_a_sync_of_their_files() =>
        Assert.NotNull(
            new CrashSearch { Points = 600, Runs = 6 }.Find(
                seed =>
                    InstallChanges(
                        seed,
                        static disk => new SyncSkippingDisk(
                            disk,
                            static path => path.Contains("incoming/", StringComparison.Ordinal)
                        )
                    ),
                CheckImage
            )
        );

    /// <summary>A store that stopped at some index installs the changes of a store that continued.</summary>
    private static (SimulatedDisk Disk, Story Run) InstallChanges(int seed, Func<SimulatedDisk, IDisk> wrap)
    {
        var disk = new SimulatedDisk("/data");
        var random = new Random(seed);
        var own = new EngineWorkload(seed);
        using StorageEngine engine = EngineWorkload.Open(wrap(disk));
        InstallTests.RunBatches(own, engine, random.Next(5, 50));
        for (int i = 0; i < 5; i++)
        {
            own.Step(engine); // applied, but durable only in the journal
        }

        var log = new EngineWorkload(seed);
        using (
            StorageEngine sender = EngineWorkload.Open(
                disk,
                EngineWorkload.Options with
                {
                    Directory = "/data/sender",
                    RetainedTombstones = 10_000,
                }
            )
        )
        {
            InstallTests.RunBatches(log, sender, (int)engine.AppliedIndex + random.Next(1, 60));
            using StateChanges changes = sender.BeginChanges(engine.Sequence)!;
            Assert.True(changes.Write(EngineWorkload.Directory + "/incoming", long.MaxValue));
        }

        Unsync(disk);
        return (disk, Install(disk, engine, own, log, seed));
    }

    /// <summary>A store installs the snapshot of another store.</summary>
    private static (SimulatedDisk Disk, Story Run) InstallSnapshot(int seed, Func<SimulatedDisk, IDisk> wrap)
    {
        var disk = new SimulatedDisk("/data");
        IDisk wrapped = wrap(disk);
        var random = new Random(seed);
        EngineWorkload sender = InstallTests.Fetch(disk, seed + 100, random.Next(60, 120));
        Unsync(disk);
        var own = new EngineWorkload(seed);
        using StorageEngine engine = EngineWorkload.Open(wrapped);
        InstallTests.RunBatches(own, engine, random.Next(1, 50));
        for (int i = 0; i < 5; i++)
        {
            own.Step(engine); // applied, but durable only in the journal
        }

        return (disk, Install(disk, engine, own, sender, seed));
    }

    private static Story Install(
        SimulatedDisk disk,
        StorageEngine engine,
        EngineWorkload own,
        EngineWorkload sender,
        int seed
    )
    {
        int began = disk.OperationCount;
        ReceivedState state = engine.Installer.Check(EngineWorkload.Directory + "/incoming");
        engine.Installer.Install(state, note: new byte[] { (byte)seed });
        int installed = disk.OperationCount;
        engine.Installer.Complete();
        InstallTests.RunBatches(sender, engine, batches: 25);
        return new Story(own, sender, began, installed, (int)state.Position.Index);
    }

    /// <summary>Leaves the files like an interrupted fetch: written but not synced.</summary>
    private static void Unsync(SimulatedDisk disk)
    {
        foreach (string name in disk.List(EngineWorkload.Directory + "/incoming"))
        {
            string path = Path.Join(EngineWorkload.Directory, "incoming", name);
            byte[] bytes = disk.ReadAll(path);
            disk.Delete(path);
            disk.WriteNew(path, bytes);
        }
    }

    private static void CheckImage(SimulatedDisk image, Story story, int operation)
    {
        using StorageEngine engine = EngineWorkload.Open(image);
        bool isNew = engine.Durable.Index >= story.InstalledIndex;
        Assert.True(
            operation < story.Installed || isNew,
            $"an installed state stays installed, but the store is at index {engine.Durable.Index}"
        );
        Assert.True(operation > story.Began || !isNew, "the new state is not found before its installation began");
        Assert.True(
            engine.Installer.Pending is null || engine.Durable.Index == story.InstalledIndex,
            "the pending note is about the installed state"
        );
        using Snapshot snapshot = engine.OpenSnapshot();
        (isNew ? story.Sender : story.Own)
            .Models[(int)engine.Durable.Index]
            .Check(snapshot, $"at {engine.Durable.Index}");
        while (!engine.ScrubOnce(budgetBytes: 1 << 20)) { }

        Assert.Null(engine.Problem);
    }

    /// <summary>
    /// Both workloads, how many disk operations came before the installation's begin and end, and the index of the
    /// installed state.
    /// </summary>
    private sealed record Story(
        EngineWorkload Own,
        EngineWorkload Sender,
        int Began,
        int Installed,
        int InstalledIndex
    );
}
