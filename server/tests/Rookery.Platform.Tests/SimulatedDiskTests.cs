using System.Text;
using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>
/// The contract of every disk for the simulated one, a comparison with a real disk, and planted faults.
/// </summary>
public sealed class SimulatedDiskTests() : DiskContractTests(new SimulatedDisk("/data"), "/data")
{
    [Fact]
    public void The_simulated_disk_behaves_like_a_real_one_without_power_cuts()
    {
        for (int seed = 0; seed < 40; seed++)
        {
            using var directory = new TemporaryDirectory();
            var simulated = new SimulatedDisk(directory.Path);
            var real = new PosixDisk();
            var steps = new RandomDiskSteps(seed, directory.Path);
            for (int step = 0; step < 120; step++)
            {
                var action = steps.Next();
                string expected = RandomDiskSteps.Outcome(real, action);
                string actual = RandomDiskSteps.Outcome(simulated, action);
                Assert.True(
                    string.Equals(expected, actual, StringComparison.Ordinal),
                    $"seed {seed}, step {step}: real {expected}, simulated {actual}"
                );
            }

            foreach (string path in simulated.Files)
            {
                Assert.Equal(real.ReadAll(path), simulated.ReadAll(path));
            }
        }
    }

    [Fact]
    public void No_file_is_renamed_or_linked_from_one_device_to_the_other()
    {
        var disk = SimulatedDisk.WithSecondDevice("/data", "/journal");
        disk.WriteNew("/data/a", "0123"u8);
        disk.CreateDirectory("/journal/b");
        Action[] moves =
        [
            () => disk.Rename("/data/a", "/journal/a"),
            () => disk.Rename("/journal/b", "/data/b"),
            () => disk.Link("/data/a", "/journal/a"),
        ];
        Assert.All(moves, static move => Assert.Equal(Errno.CrossDevice, Assert.Throws<DiskException>(move).Error));
        disk.Rename("/data/a", "/data/c");
        disk.Rename("/journal/b", "/journal/c");
        Assert.Equal(["c"], disk.List("/data"));
        Assert.Equal(["c"], disk.List("/journal"));
    }

    [Fact]
    public void A_planted_fault_fails_one_matching_call_or_all_from_it_on()
    {
        var disk = new SimulatedDisk("/data");
        disk.WriteNew("/data/a", "0123"u8);
        disk.Inject(new DiskFault(AtCall: 2, Errno.InputOutput) { Calls = DiskCalls.Read });
        disk.Inject(
            new DiskFault(AtCall: 1, Errno.ReadOnly)
            {
                Calls = DiskCalls.Changing,
                PathContains = "journal",
                Sticky = true,
            }
        );

        Assert.Equal("0123"u8, disk.ReadAll("/data/a"));
        Assert.Equal(Errno.InputOutput, Assert.Throws<DiskException>(() => disk.ReadAll("/data/a")).Error);
        Assert.Equal("0123"u8, disk.ReadAll("/data/a"));
        disk.WriteNew("/data/b", "free"u8);
        Assert.Equal(Errno.ReadOnly, Assert.Throws<DiskException>(() => disk.CreateDirectory("/data/journal")).Error);
        Assert.Equal(Errno.ReadOnly, Assert.Throws<DiskException>(() => disk.WriteNew("/data/journal", "x"u8)).Error);
        disk.ClearFaults();
        disk.WriteNew("/data/journal", "x"u8);
        Assert.Equal(3, disk.CallCount(DiskCalls.Read));
    }

    [Fact]
    public void A_short_write_leaves_its_beginning_and_reports_the_error()
    {
        var disk = new SimulatedDisk("/data");
        using var file = disk.Open("/data/a", DiskOpen.CreateNew);
        disk.Inject(new DiskFault(AtCall: 1, Errno.InputOutput) { Calls = DiskCalls.Write, ShortWriteBytes = 3 });
        Assert.Equal(Errno.InputOutput, Assert.Throws<DiskException>(() => file.Write("012345"u8, offset: 0)).Error);
        Assert.Equal("012"u8, disk.ReadAll("/data/a"));
    }

    [Fact]
    public void A_full_disk_writes_what_fits_and_frees_space_with_the_last_name_and_the_last_open_file()
    {
        var disk = new SimulatedDisk("/data") { CapacityBytes = 3 * 4096 };
        var file = disk.Open("/data/a", DiskOpen.CreateNew);
        file.Write(new byte[4096], 0);
        Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(() => file.Allocate((3 * 4096) + 1)).Error);
        Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(() => file.Write(new byte[20_000], 100)).Error);
        Assert.Equal(3 * 4096, file.Length);
        Assert.Equal(0, disk.SpaceOf("/data").FreeBytes);
        file.Write(new byte[4096], 0);
        Assert.Equal(Errno.NoSpace, Assert.Throws<DiskException>(() => disk.WriteNew("/data/b", "x"u8)).Error);

        disk.Link("/data/a", "/data/c");
        disk.Delete("/data/a");
        Assert.Equal(3 * 4096, disk.UsedBytes);
        disk.Delete("/data/c");
        Assert.Equal(3 * 4096, disk.UsedBytes);
        file.Dispose();
        file.Dispose();
        Assert.Equal(0, disk.UsedBytes);
    }

    [Fact]
    public void A_killed_process_loses_its_locks_and_files_and_no_byte()
    {
        var disk = new SimulatedDisk("/data");
        var held = disk.Lock("/data/lock");
        Assert.Equal(Errno.WouldBlock, Assert.Throws<DiskException>(() => disk.Lock("/data/lock")).Error);
        var file = disk.Open("/data/a", DiskOpen.CreateNew);
        file.Write("kept"u8, offset: 0);
        disk.KillProcess();

        Assert.Throws<ObjectDisposedException>(() => file.Write("x"u8, offset: 0));
        using var again = disk.Lock("/data/lock");
        held.Dispose();
        Assert.Throws<DiskException>(() => disk.Lock("/data/lock"));
        Assert.Equal("kept"u8, disk.ReadAll("/data/a"));
        Assert.Contains(Enumerable.Range(0, 50), seed => !disk.AfterPowerLoss(seed).Exists("/data/a"));
        disk.AfterPowerLoss(seed: 1).Lock("/data/lock").Dispose();
    }

    [Fact]
    public void Damage_changes_stored_bytes_and_survives_a_power_cut()
    {
        var disk = new SimulatedDisk("/data");
        disk.WriteNew("/data/a", Encoding.ASCII.GetBytes(new string('a', 2000)));
        disk.SyncDirectory("/data");
        using (var file = disk.Open("/data/a", DiskOpen.ReadWrite))
        {
            file.Sync();
        }

        disk.Rot("/data/a", offset: 1000, mask: 0b11);
        foreach (int seed in Enumerable.Range(0, 50))
        {
            byte[] content = disk.AfterPowerLoss(seed).ReadAll("/data/a");
            Assert.Equal((byte)'b', content[1000]);
            Assert.Equal(1999, content.Count(value => value == 'a'));
        }
    }

    [Fact]
    public void A_clock_moves_only_when_advanced_and_fires_timers_in_order()
    {
        var clock = new SimulatedTimeProvider();
        var fired = new List<string>();
        var start = clock.GetUtcNow();
        using var periodic = clock.CreateTimer(
            _ => fired.Add($"periodic {Seconds()}"),
            null,
            TimeSpan.FromSeconds(2),
            TimeSpan.FromSeconds(2)
        );
        using var once = clock.CreateTimer(
            _ => fired.Add($"once {Seconds()}"),
            null,
            TimeSpan.FromSeconds(3),
            Timeout.InfiniteTimeSpan
        );
        clock.SetUtcNow(start.AddDays(1));
        clock.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal(["periodic 2", "once 3", "periodic 4"], fired);
        Assert.Equal(start.AddDays(1).AddSeconds(5), clock.GetUtcNow());
        Assert.Equal(TimeSpan.FromSeconds(5), clock.GetElapsedTime(0));
        Assert.Equal(1, clock.ActiveTimers);

        double Seconds() => clock.GetElapsedTime(0).TotalSeconds;
    }
}
