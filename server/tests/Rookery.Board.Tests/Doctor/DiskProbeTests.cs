using Rookery.Board.Doctor;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Board.Tests.Doctor;

/// <summary>The doctor's measurement of a disk, with a file that is unlinked before it is written.</summary>
public sealed class DiskProbeTests
{
    private readonly SimulatedDisk _disk = new("/data");

    [Fact]
    public void A_probe_leaves_no_file_and_replaces_the_file_of_a_killed_probe()
    {
        _disk.Open("/data/doctor-probe", DiskOpen.CreateNew).Dispose();
        var probe = DiskProbe.Run(_disk, "/data", new TickingTime());
        Assert.Empty(_disk.List("/data"));
        Assert.Equal("/data", probe.Directory);

        // This clock advances a millisecond at each reading, so 16 MiB and each sync take a millisecond.
        Assert.Equal((16 << 20) * 1000.0, probe.BytesPerSecond, tolerance: 1);
        Assert.Equal((1.0, 1.0), (probe.MedianSyncMilliseconds, probe.SlowSyncMilliseconds));
    }

    [Fact]
    public void The_file_of_a_running_probe_is_not_listed()
    {
        var seen = new List<string>();
        DiskProbe.Run(_disk, "/data", new TickingTime { OnTick = () => seen.AddRange(_disk.List("/data")) });
        Assert.Empty(seen);
    }

    [Fact]
    public void A_probe_that_the_disk_refuses_leaves_no_file()
    {
        _disk.Inject(
            new DiskFault(AtCall: 3, Errno.InputOutput)
            {
                Calls = DiskCalls.Write,
                PathContains = "doctor-probe",
                Sticky = true,
            }
        );
        Assert.Throws<DiskException>(() => DiskProbe.Run(_disk, "/data", new TickingTime()));
        Assert.Empty(_disk.List("/data"));
    }

    /// <summary>A clock that advances a millisecond at each reading.</summary>
    private sealed class TickingTime : TimeProvider
    {
        private long _now;

        public Action OnTick { get; init; } = static () => { };

        public override long TimestampFrequency => 1000;

        public override long GetTimestamp()
        {
            OnTick();
            return _now++;
        }
    }
}
