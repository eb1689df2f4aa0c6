using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Install;

namespace Rookery.Storage.Tests;

/// <summary>
/// The installation of another store's snapshot, which replaces the whole state of a store.
/// <see cref="InstallCrashTests"/> cuts the power at every point.
/// </summary>
public sealed class InstallTests
{
    private const string Incoming = EngineWorkload.Directory + "/incoming";

    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void An_installed_snapshot_replaces_runs_memtable_and_position_and_keeps_the_store_id()
    {
        using StorageEngine engine = EngineWorkload.Open(_disk);
        var work = new EngineWorkload(seed: 1);
        RunBatches(work, engine, batches: 90);
        Guid storeId = engine.StoreId;
        EngineWorkload sender = Fetch(_disk, seed: 2, batches: 200);
        using Snapshot before = engine.OpenSnapshot();

        engine.Installer.Install(engine.Installer.Check(Incoming), new byte[] { 7, 8 });

        Assert.Equal((200L, 200L, storeId), (engine.AppliedIndex, engine.Durable.Index, engine.StoreId));
        Assert.Equal(new byte[] { 7, 8 }, engine.Installer.Pending!.Note.ToArray());
        work.Model.Check(before, "a snapshot from before");
        Check(engine, sender);
        engine.Installer.Complete();
        Assert.Null(engine.Installer.Pending);
    }

    /// <summary>
    /// The checksums of a run contain the run's file number. Installed runs have numbers of another node, and must
    /// remain readable after flushes, merges, a copy by hard links and a reopening.
    /// </summary>
    [Fact]
    public void A_store_with_an_installed_snapshot_accepts_writes_and_can_be_reopened_and_copied()
    {
        EngineWorkload sender = Fetch(_disk, seed: 3, batches: 120);
        using (StorageEngine engine = EngineWorkload.Open(_disk))
        {
            RunBatches(new EngineWorkload(seed: 1), engine, batches: 90);
            engine.Installer.Install(engine.Installer.Check(Incoming), note: null);
            Assert.Null(engine.Installer.Pending);
            RunBatches(sender, engine, batches: 30);
            engine.CopyTo("/data/copy");
        }

        foreach (string directory in new[] { EngineWorkload.Directory, "/data/copy" })
        {
            using StorageEngine again = EngineWorkload.Open(
                _disk,
                EngineWorkload.Options with
                {
                    Directory = directory,
                }
            );
            Assert.Null(again.Problem);
            using Snapshot snapshot = again.OpenSnapshot();
            sender.Models[(int)again.Durable.Index].Check(snapshot, directory);
        }

        using StorageEngine last = EngineWorkload.Open(_disk);
        sender.GoBackTo(last.Durable);
        RunBatches(sender, last, batches: 100);
        Check(last, sender);
    }

    [Fact]
    public void Old_files_are_deleted_with_the_last_snapshot_of_the_old_state()
    {
        using StorageEngine engine = EngineWorkload.Open(_disk);
        RunBatches(new EngineWorkload(seed: 1), engine, batches: 90);
        Fetch(_disk, seed: 2, batches: 200);
        string[] oldRuns = ListRuns();
        Snapshot before = engine.OpenSnapshot();
        engine.Installer.Install(engine.Installer.Check(Incoming), note: null);
        Assert.Empty(oldRuns.Except(ListRuns()));
        before.Dispose();
        engine.TrimIdle();
        Assert.Empty(oldRuns.Intersect(ListRuns()));
    }

    [Fact]
    public void Installing_a_snapshot_clears_the_known_damage()
    {
        using (StorageEngine engine = EngineWorkload.Open(_disk))
        {
            RunBatches(new EngineWorkload(seed: 1), engine, batches: 90);
        }

        _disk.Rot(Path.Join(EngineWorkload.Directory, ListRuns()[0]), offset: 300, mask: 40);
        _disk.Delete(Path.Join(EngineWorkload.Directory, ListRuns()[1]));
        EngineWorkload sender = Fetch(_disk, seed: 2, batches: 200);
        using StorageEngine damaged = EngineWorkload.Open(_disk);
        while (!damaged.ScrubOnce(budgetBytes: 1 << 20)) { }

        Assert.NotNull(damaged.Problem);
        damaged.Installer.Install(damaged.Installer.Check(Incoming), note: null);
        Assert.Null(damaged.Problem);
        Check(damaged, sender);
    }

    [Fact]
    public void A_snapshot_older_than_the_applied_state_is_refused()
    {
        Fetch(_disk, seed: 2, batches: 20);
        using StorageEngine engine = EngineWorkload.Open(_disk);
        var work = new EngineWorkload(seed: 1);
        RunBatches(work, engine, batches: 90);
        ReceivedState state = engine.Installer.Check(Incoming);
        Assert.Equal(
            "The fetched state ends at index 20, but index 90 is already applied here, so the fetched state is not "
                + "needed.",
            Assert.Throws<ReceivedStateException>(() => engine.Installer.Install(state, note: null)).Message
        );
        Check(engine, work);
    }

    /// <summary>Wrong files are detected before they are installed.</summary>
    [Fact]
    public void A_received_snapshot_with_a_damaged_byte_or_a_missing_file_is_refused()
    {
        Fetch(_disk, seed: 2, batches: 60);
        using StorageEngine engine = EngineWorkload.Open(_disk);
        var random = new Random(4);
        foreach (string name in _disk.List(Incoming))
        {
            string path = Path.Join(Incoming, name);
            byte[] whole = _disk.ReadAll(path);
            for (int i = 0; i < 6; i++)
            {
                _disk.Rot(path, random.NextInt64(whole.Length), mask: 1);
                // The manifest has two copies, so damage of one may be harmless.
                if (!name.StartsWith("manifest", StringComparison.Ordinal))
                {
                    string? refusal = CheckIncoming(engine);
                    Assert.True(
                        refusal?.Contains(name, StringComparison.Ordinal) is true,
                        $"seed 4: the refusal names {name}, not: {refusal}"
                    );
                }

                Write(path, whole);
            }

            _disk.Delete(path);
            Assert.NotNull(CheckIncoming(engine));
            Write(path, whole);
        }

        Assert.Null(CheckIncoming(engine));
    }

    [Fact]
    public void A_failing_call_leaves_the_old_or_the_new_state_and_the_store_reports_which()
    {
        long calls = 0;
        int inDoubt = 0;
        for (long call = 1; call == 1 || call <= calls; call++)
        {
            foreach (bool sticky in new[] { false, true })
            {
                var faulty = new SimulatedDisk("/data");
                EngineWorkload sender = Fetch(faulty, seed: 2, batches: 60);
                var work = new EngineWorkload(seed: 1);
                long reportedIndex;
                using (StorageEngine engine = EngineWorkload.Open(faulty))
                {
                    RunBatches(work, engine, batches: 30);
                    ReceivedState state = engine.Installer.Check(Incoming);
                    long before = faulty.CallCount(DiskCalls.Changing | DiskCalls.Open);
                    faulty.Inject(
                        new DiskFault(call, Errno.InputOutput)
                        {
                            Calls = DiskCalls.Changing | DiskCalls.Open,
                            Sticky = sticky,
                        }
                    );
                    Exception? failure = Record.Exception(() =>
                        engine.Installer.Install(state, note: new byte[] { 1 })
                    );
                    calls = Math.Max(calls, faulty.CallCount(DiskCalls.Changing | DiskCalls.Open) - before);
                    faulty.ClearFaults();
                    inDoubt += failure is StateInDoubtException ? 1 : 0;
                    Assert.True(
                        failure is null or DiskException or StateInDoubtException or ReceivedStateException,
                        $"call {call}, {sticky}: {failure}"
                    );
                    Check(engine, failure is null ? sender : work);
                    // -1: the store could not tell which state is durable.
                    reportedIndex = failure is StateInDoubtException ? -1 : engine.Durable.Index;
                }

                using StorageEngine again = EngineWorkload.Open(faulty.AfterPowerLoss(call));
                Assert.True(
                    reportedIndex < 0 || reportedIndex == again.Durable.Index,
                    $"call {call}, {sticky}: the reopened store is at the reported index {reportedIndex}, not at "
                        + $"{again.Durable.Index}"
                );
                bool isNew = again.Durable.Index == 60;
                Assert.Equal(isNew, again.Installer.Pending is not null);
                Assert.True(again.Problem is null, $"call {call}, {sticky}: {again.Problem}");
                using Snapshot snapshot = again.OpenSnapshot();
                (isNew ? sender : work)
                    .Models[(int)again.Durable.Index]
                    .Check(snapshot, $"call {call}, {sticky}, reopened");
            }
        }

        Assert.InRange(calls, 10, 1000);
        Assert.InRange(inDoubt, 1, 10);
    }

    /// <summary>Writes another store's snapshot to the directory of fetched files. Returns that store's work.</summary>
    internal static EngineWorkload Fetch(SimulatedDisk target, int seed, int batches)
    {
        var sender = new EngineWorkload(seed);
        using StorageEngine engine = EngineWorkload.Open(
            target,
            EngineWorkload.Options with
            {
                Directory = "/data/sender",
            }
        );
        RunBatches(sender, engine, batches);
        engine.CopyTo(Incoming);
        return sender;
    }

    /// <summary>Applies batches, with flushes and merges between them, and flushes everything at the end.</summary>
    internal static void RunBatches(EngineWorkload work, StorageEngine engine, int batches)
    {
        for (int i = 0; i < batches; i++)
        {
            work.Step(engine);
            if (i % 20 == 19)
            {
                engine.Memtables.RequestFlush();
                engine.Memtables.Flush();
            }

            engine.MergeOnce();
        }

        engine.Memtables.RequestFlush();
        while (engine.Memtables.IsFlushDue)
        {
            engine.Memtables.Flush();
        }
    }

    /// <summary>Checks the fetched files. Returns why they are refused; null if they are not.</summary>
    private static string? CheckIncoming(StorageEngine engine) =>
        Record.Exception(() => engine.Installer.Check(Incoming))?.Message;

    private static void Check(StorageEngine engine, EngineWorkload expected)
    {
        using Snapshot snapshot = engine.OpenSnapshot();
        expected.Model.Check(snapshot, "now");
    }

    private string[] ListRuns() =>
        [.. _disk.List(EngineWorkload.Directory).Where(static name => name.EndsWith(".run", StringComparison.Ordinal))];

    private void Write(string path, byte[] bytes)
    {
        if (_disk.Exists(path))
        {
            _disk.Delete(path);
        }

        _disk.WriteNew(path, bytes);
    }
}
