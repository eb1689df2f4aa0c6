using Rookery.Simulation;
using Rookery.Storage.Install;
using Rookery.Storage.Repair;

namespace Rookery.Storage.Tests;

/// <summary>
/// Two stores that applied the same batches have the same rows in different runs. Damage in one store is repaired by
/// rows that the other, the peer, writes to a file.
/// </summary>
public sealed class RepairTests
{
    private const int Batches = 160;

    // The file with the rows of a repair.
    private const string Rows = EngineWorkload.Directory + "/rows";

    [Fact]
    public void Any_damage_is_repaired_from_a_store_that_applied_the_same_batches()
    {
        for (int seed = 0; seed < 40; seed++)
        {
            var random = new Random(seed);
            var (disk, work) = CreateDamagedStore(seed, random, places: random.Next(1, 4));
            using StorageEngine peer = OpenPeer(seed, out SimulatedDisk peerDisk);
            using (StorageEngine engine = EngineWorkload.Open(disk))
            {
                Scrub(engine);
                Assert.True(engine.Problem is not null, $"seed {seed}: the damage was not found");
                RepairAll(engine, disk, peer, peerDisk, $"seed {seed}");
                Check(engine, work, $"seed {seed}");
                while (engine.MergeOnce()) { }

                Check(engine, work, $"seed {seed}, merged");
            }

            using StorageEngine again = EngineWorkload.Open(disk);
            Check(again, work, $"seed {seed}, reopened");
            InstallTests.RunBatches(work, again, batches: 40);
            Check(again, work, $"seed {seed}, with further batches");
        }
    }

    [Fact]
    public void After_a_power_cut_a_repair_is_complete_or_the_damage_is_found_again() =>
        new CrashSearch { Points = 300, Runs = 6 }.Verify(
            seed =>
            {
                var (disk, work) = CreateDamagedStore(seed, new Random(seed), places: 2);
                using StorageEngine peer = OpenPeer(seed, out SimulatedDisk peerDisk);
                using StorageEngine engine = EngineWorkload.Open(disk);
                Scrub(engine);
                RepairAll(engine, disk, peer, peerDisk, $"seed {seed}");
                return (disk, work);
            },
            static (image, work, _) =>
            {
                using StorageEngine engine = EngineWorkload.Open(image);
                Scrub(engine);
                if (engine.Problem is null)
                {
                    using Snapshot snapshot = engine.OpenSnapshot();
                    work.Models[(int)engine.Durable.Index].Check(snapshot, $"at {engine.Durable.Index}");
                }
            }
        );

    /// <summary>
    /// A replay of the journal must not see rows of entries that it has not reached, so rows newer than the manifest
    /// are refused. Rows of too early an index may lack the lost rows.
    /// </summary>
    [Fact]
    public void Rows_at_an_unsuitable_position_are_refused()
    {
        var (disk, _) = CreateDamagedStore(seed: 3, new Random(3), places: 1);
        using StorageEngine engine = EngineWorkload.Open(disk);
        Scrub(engine);
        RepairRequest request = engine.Repairs.Find()[0];
        foreach (
            var position in new[]
            {
                new ManifestPosition(Batches + 1, Term: 1, Sequence: long.MaxValue),
                new ManifestPosition(Batches, Term: 1, Sequence: request.LeastSequence - 1),
            }
        )
        {
            Assert.Throws<ReceivedStateException>(() =>
                engine.Repairs.Repair(request, new RepairRows("/data/none", position))
            );
        }

        Assert.NotNull(engine.Problem);
    }

    [Fact]
    public void Rows_that_arrive_damaged_change_nothing()
    {
        var (disk, work) = CreateDamagedStore(seed: 5, new Random(5), places: 1);
        using StorageEngine peer = OpenPeer(seed: 5, out SimulatedDisk peerDisk);
        using StorageEngine engine = EngineWorkload.Open(disk);
        Scrub(engine);
        RepairRequest request = engine.Repairs.Find()[0];
        RepairRows rows = Fetch(request, disk, peer, peerDisk);
        byte[] whole = disk.ReadAll(Rows);
        for (int offset = 0; offset < whole.Length; offset += Math.Max(1, whole.Length / 50))
        {
            disk.Rot(Rows, offset, mask: 1);
            Assert.Throws<ReceivedStateException>(() => engine.Repairs.Repair(request, rows));
            disk.Delete(Rows);
            disk.WriteNew(Rows, whole);
        }

        Assert.True(engine.Repairs.Repair(request, rows));
        Check(engine, work, "repaired");
    }

    /// <summary>Creates a store of which some runs are damaged or missing.</summary>
    private static (SimulatedDisk Disk, EngineWorkload Work) CreateDamagedStore(int seed, Random random, int places)
    {
        var disk = new SimulatedDisk("/data");
        var work = new EngineWorkload(seed);
        using (StorageEngine engine = EngineWorkload.Open(disk))
        {
            InstallTests.RunBatches(work, engine, Batches);
        }

        string[] runs =
        [
            .. disk.List(EngineWorkload.Directory)
                .Where(static name => name.EndsWith(".run", StringComparison.Ordinal)),
        ];
        for (int place = 0; place < places; place++)
        {
            string path = Path.Join(EngineWorkload.Directory, runs[random.Next(runs.Length)]);
            if (!disk.Exists(path))
            {
                continue;
            }

            if (random.Next(6) == 0)
            {
                disk.Delete(path);
                continue;
            }

            disk.Rot(path, random.NextInt64(disk.ReadAll(path).Length - 8), mask: 8);
        }

        return (disk, work);
    }

    /// <summary>Opens a store that applied the same batches, with flushes and merges at other times.</summary>
    private static StorageEngine OpenPeer(int seed, out SimulatedDisk disk)
    {
        disk = new SimulatedDisk("/data");
        StorageEngine peer = EngineWorkload.Open(
            disk,
            EngineWorkload.Options with
            {
                MemtableBytes = 60 * 1024,
                RunBytes = 40 * 1024,
            }
        );
        var work = new EngineWorkload(seed);
        for (int i = 0; i < Batches; i++)
        {
            work.Step(peer);
            peer.MergeOnce();
        }

        return peer;
    }

    /// <summary>Repairs all damage that is known, and what the repairs find.</summary>
    private static void RepairAll(
        StorageEngine engine,
        SimulatedDisk disk,
        StorageEngine peer,
        SimulatedDisk peerDisk,
        string story
    )
    {
        for (int round = 0; engine.Repairs.Find() is { Count: > 0 } requests; round++)
        {
            Assert.True(round < 4, $"{story}: all is repaired after four rounds, but {engine.Problem}");
            foreach (RepairRequest request in requests)
            {
                engine.Repairs.Repair(request, Fetch(request, disk, peer, peerDisk));
            }
        }

        Scrub(engine);
        Assert.True(engine.Problem is null, $"{story}: {engine.Problem}");
    }

    /// <summary>Lets the peer write the rows of a repair, and moves the file to the damaged store's disk.</summary>
    private static RepairRows Fetch(
        RepairRequest request,
        SimulatedDisk disk,
        StorageEngine peer,
        SimulatedDisk peerDisk
    )
    {
        RepairRows written = peer.Repairs.Write(request, Rows);
        if (disk.Exists(Rows))
        {
            disk.Delete(Rows);
        }

        disk.WriteNew(Rows, peerDisk.ReadAll(Rows));
        peerDisk.Delete(Rows);
        return written;
    }

    /// <summary>Reads everything, to find all damage.</summary>
    private static void Scrub(StorageEngine engine)
    {
        while (!engine.ScrubOnce(budgetBytes: 1 << 20)) { }
    }

    private static void Check(StorageEngine engine, EngineWorkload work, string story)
    {
        using Snapshot snapshot = engine.OpenSnapshot();
        work.Model.Check(snapshot, story);
    }
}
