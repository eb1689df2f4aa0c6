using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>
/// Power cuts and failing disks under the storage engine. A workload has a model for each applied index, with which the
/// reopened engine is compared.
/// </summary>
public sealed class EngineCrashTests
{
    // Seed of the workload in which each disk call fails once.
    private const int FaultSeed = 3;

    /// <summary>
    /// The engine reports each written manifest, and the caller may then release the journal up to its index.
    /// </summary>
    [Fact]
    public void After_any_power_cut_the_engine_equals_its_manifest_and_is_no_older_than_reported() =>
        new CrashSearch { Points = 2000, Runs = 20 }.Verify(RunWorkload, CheckImage);

    [Fact]
    public void The_search_catches_a_manifest_that_is_not_durable() =>
        Assert.NotNull(
            new CrashSearch { Points = 400, Runs = 4 }.Find(
                seed =>
                    RunWorkload(
                        new SimulatedDisk("/data"),
                        seed,
                        static disk => new SyncSkippingDisk(disk, static path => path is not "/data")
                    ),
                CheckImage
            )
        );

    [Fact]
    public void A_disk_call_that_fails_loses_nothing()
    {
        long calls = CountCalls();
        Errno[] errors = [Errno.InputOutput, Errno.NoSpace, Errno.ReadOnly];
        for (long call = 1; call <= calls; call++)
        {
            var fault = new DiskFault(call, errors[call % errors.Length])
            {
                Calls = DiskCalls.Changing | DiskCalls.Open,
                ShortWriteBytes = (int)(call % 1000),
            };
            string story = $"seed {FaultSeed}, {fault.Error} at call {call}";
            var disk = new SimulatedDisk("/data");
            disk.Inject(fault);
            RunAndReopen(disk, story);
        }
    }

    [Fact]
    public void A_full_disk_fails_flushes_with_a_message_until_it_has_space_again()
    {
        var disk = new SimulatedDisk("/data");
        var work = new EngineWorkload(seed: 5);
        using StorageEngine engine = EngineWorkload.Open(disk);
        disk.Inject(
            new DiskFault(AtCall: 20, Errno.NoSpace) { Calls = DiskCalls.Write | DiskCalls.Create, Sticky = true }
        );
        RunSteps(work, engine, count: 300);
        Assert.Contains("no space is left", engine.Problem, StringComparison.Ordinal);
        using (Snapshot snapshot = engine.OpenSnapshot())
        {
            work.Model.Check(snapshot, "full disk");
        }

        disk.ClearFaults();
        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            Assert.True(engine.Memtables.Flush());
        }

        while (engine.MergeOnce()) { }

        Assert.Null(engine.Problem);
        Assert.Equal(engine.AppliedIndex, engine.Durable.Index);
    }

    /// <summary>
    /// A manifest that was written but not synced is in the page cache. The next process reads it there as if it were
    /// durable.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_manifest_found_after_a_failed_sync_or_a_kill_is_made_durable_before_use(bool isKilled)
    {
        for (int seed = 0; seed < 40; seed++)
        {
            var disk = new SimulatedDisk("/data");
            var work = new EngineWorkload(seed);
            bool skipsSyncs = false;
            using (
                StorageEngine engine = EngineWorkload.Open(
                    new SyncSkippingDisk(
                        disk,
                        path => skipsSyncs && path.Contains("manifest", StringComparison.Ordinal)
                    )
                )
            )
            {
                RunSteps(work, engine, count: 60);
                // Writes a manifest that is not durable: the kill comes before its sync, or the sync fails.
                skipsSyncs = isKilled;
                disk.Inject(
                    new DiskFault(isKilled ? long.MaxValue : 1, Errno.InputOutput)
                    {
                        Calls = DiskCalls.Sync,
                        PathContains = "manifest",
                    }
                );
                engine.Memtables.RequestFlush();
                engine.Memtables.Flush();
                disk.KillProcess();
                disk.ClearFaults();
            }

            long openedIndex;
            using (StorageEngine next = EngineWorkload.Open(disk))
            {
                openedIndex = next.Durable.Index;
                next.TrimIdle();
            }

            using StorageEngine afterPowerCut = EngineWorkload.Open(disk.AfterPowerLoss(seed));
            Assert.True(
                afterPowerCut.Durable.Index == openedIndex,
                $"seed {seed}: the manifest was opened at index {openedIndex}, but a power cut left "
                    + $"{afterPowerCut.Durable.Index}"
            );
            Assert.True(afterPowerCut.Problem is null, $"seed {seed}: {afterPowerCut.Problem}");
        }
    }

    /// <summary>Runs a workload, and records after which disk operation each index was reported as durable.</summary>
    private static (SimulatedDisk Disk, CrashRun Run) RunWorkload(int seed) =>
        RunWorkload(new SimulatedDisk("/data"), seed, disk => disk);

    private static (SimulatedDisk Disk, CrashRun Run) RunWorkload(
        SimulatedDisk disk,
        int seed,
        Func<SimulatedDisk, IDisk> wrap
    )
    {
        var work = new EngineWorkload(seed);
        StorageEngine engine = EngineWorkload.Open(wrap(disk));
        var promised = new List<(int Operation, long Index)>();
        engine.Memtables.ManifestWritten = position => promised.Add((disk.OperationCount, position.Index));
        RunSteps(work, engine, count: 150);
        engine.Dispose();
        return (disk, new CrashRun(work, promised));
    }

    /// <summary>Does steps of a workload, with a flush after every 20th and a merge after each.</summary>
    private static void RunSteps(EngineWorkload work, StorageEngine engine, int count)
    {
        for (int step = 0; step < count; step++)
        {
            work.Step(engine);
            if (step % 20 == 19)
            {
                engine.Memtables.RequestFlush();
                engine.Memtables.Flush();
            }

            engine.MergeOnce();
        }
    }

    /// <summary>Checks what a power cut at a disk operation left.</summary>
    private static void CheckImage(SimulatedDisk image, CrashRun run, int operation)
    {
        using StorageEngine engine = EngineWorkload.Open(image);
        long promised = run.Promised.LastOrDefault(promise => promise.Operation <= operation).Index;
        Assert.True(
            engine.Durable.Index >= promised,
            $"the manifest is at index {engine.Durable.Index}, but {promised} was reported as durable"
        );
        using Snapshot snapshot = engine.OpenSnapshot();
        run.Work.Models[(int)engine.Durable.Index].Check(snapshot, $"at {engine.Durable.Index}");
        Assert.Null(engine.Problem);
    }

    /// <summary>Returns the number of disk calls of <see cref="RunAndReopen"/> on a sound disk.</summary>
    private static long CountCalls()
    {
        var disk = new SimulatedDisk("/data");
        using StorageEngine engine = EngineWorkload.Open(disk);
        RunSteps(new EngineWorkload(FaultSeed), engine, count: 60);
        return disk.CallCount(DiskCalls.Changing | DiskCalls.Open);
    }

    private static void RunAndReopen(SimulatedDisk disk, string story)
    {
        var work = new EngineWorkload(FaultSeed);
        try
        {
            using StorageEngine engine = EngineWorkload.Open(disk);
            RunSteps(work, engine, count: 60);
            using Snapshot snapshot = engine.OpenSnapshot();
            work.Model.Check(snapshot, story);
        }
        catch (DiskException)
        {
            Assert.True(work.Models.Count == 1, $"{story}: only opening may fail");
        }

        disk.ClearFaults();
        using StorageEngine reopened = EngineWorkload.Open(disk);
        Assert.True(reopened.Problem is null, $"{story}: {reopened.Problem}");
        using Snapshot durable = reopened.OpenSnapshot();
        work.Models[(int)reopened.Durable.Index].Check(durable, $"{story}, reopened");
    }

    private sealed record CrashRun(EngineWorkload Work, List<(int Operation, long Index)> Promised);
}
