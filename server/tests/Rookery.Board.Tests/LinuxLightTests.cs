using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Board.Tests;

/// <summary>A board's light, and the use of the machine, read from files of /sys and /proc.</summary>
public sealed class LinuxLightTests : IDisposable
{
    private readonly FakeTree _tree = new();
    private readonly SimulatedTimeProvider _time = new();

    public void Dispose() => _tree.Dispose();

    [Fact]
    public void A_light_blinks_and_shows_again_what_it_showed_before()
    {
        _tree
            .With("sys/class/leds/PWR/trigger", "none [default-on]\n")
            .With("sys/class/leds/PWR/brightness", "255\n")
            .With("sys/class/leds/ACT/trigger", "none rc-feedback [mmc0] timer\n")
            .With("sys/class/leds/ACT/brightness", "0\n");
        using var board = new LinuxBoard(new PosixDisk(), _time, devices: [], _tree.Path);
        Assert.Equal("ACT", board.Light!.Name);
        var blinking = board.Light.TryBlink(out string? whyNot);
        Assert.Null(whyNot);

        // An ordinary file keeps the rest of longer earlier content; the kernel's file does not.
        Assert.StartsWith("none", Read("ACT/trigger"), StringComparison.Ordinal);
        var seen = new HashSet<char>();
        for (int turn = 0; turn < 4; turn++)
        {
            seen.Add(Read("ACT/brightness")[0]);
            _time.Advance(TimeSpan.FromMilliseconds(200));
        }

        Assert.Equal(['0', '1'], seen.Order());
        blinking!.Dispose();
        Assert.StartsWith("mmc0", Read("ACT/trigger"), StringComparison.Ordinal);
        Assert.StartsWith("0", Read("ACT/brightness"), StringComparison.Ordinal);
        Assert.StartsWith("none [default-on]", Read("PWR/trigger"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_board_without_an_LED_reports_no_light()
    {
        using var board = new LinuxBoard(new PosixDisk(), _time, devices: [], _tree.Path);
        Assert.Null(board.Light);
    }

    [Fact]
    public void Processors_and_memory_are_read_and_waiting_for_a_disk_counts_as_idle()
    {
        _tree
            .With("proc/stat", "cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
            .With("proc/meminfo", "MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     600 kB\n");
        using var board = new LinuxBoard(new PosixDisk(), _time, devices: [], _tree.Path);
        // Busy: user, nice, system, irq, softirq and steal. Guest time is part of user time.
        Assert.Equal(
            new MachineUse
            {
                BusyTicks = 171,
                TotalTicks = 621,
                MemoryBytes = 1_024_000,
                AvailableBytes = 614_400,
            },
            board.ReadUse()
        );
    }

    [Theory]
    [InlineData("none [mmc0] timer", "mmc0")]
    [InlineData("[none] mmc0", "none")]
    [InlineData("", "none")]
    public void The_active_trigger_is_the_one_in_brackets(string triggers, string expected) =>
        Assert.Equal(expected, LinuxLight.TriggerIn(triggers));

    private string Read(string name) => File.ReadAllText(Path.Join(_tree.Path, "sys/class/leds", name));
}
