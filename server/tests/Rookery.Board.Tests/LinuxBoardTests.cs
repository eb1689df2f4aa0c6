using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Board.Tests;

/// <summary>A board's sensors and storage, read from files of /sys and /proc and by a command.</summary>
public sealed class LinuxBoardTests
{
    private static readonly string[] OnCard = ["mmcblk0p2"];

    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public void A_Raspberry_Pi_reports_temperature_throttling_and_frequency()
    {
        using var tree = FakeTree.RaspberryPi();
        using var board = Open(tree);
        Assert.True(board.IsSimulated);
        Assert.Equal("Raspberry Pi 4 Model B Rev 1.4", board.Model);
        Assert.Equal("10000000f00dcafe", board.SerialNumber);
        Assert.Equal(
            new BoardReading
            {
                TemperatureCelsius = 52.095,
                KnownFlags = Throttling.All,
                FrequencyHertz = 600_000_000,
                MaximumFrequencyHertz = 1_800_000_000,
            },
            board.Read()
        );
    }

    [Fact]
    public void Each_reading_reads_the_files_of_the_kernel_again()
    {
        using var tree = FakeTree.RaspberryPi();
        using var board = Open(tree);
        board.Read();
        tree.With("sys/class/hwmon/hwmon0/temp1_input", "81000\n")
            .With("sys/devices/platform/soc/soc:firmware/get_throttled", "e0006\n");
        var reading = board.Read();
        Assert.Equal(81, reading.TemperatureCelsius);
        Assert.Equal(Throttling.FrequencyCapped | Throttling.Throttled, reading.Now);
        Assert.Equal(
            Throttling.FrequencyCapped | Throttling.Throttled | Throttling.SoftTemperatureLimit,
            reading.SinceBoot
        );
    }

    /// <summary>
    /// Debian's kernel: under-voltage through the hardware monitor alone, the temperature through the thermal zone
    /// alone.
    /// </summary>
    [Fact]
    public void Without_the_file_of_the_firmware_other_sensors_are_read()
    {
        using var tree = new FakeTree()
            .With("sys/class/hwmon/hwmon0/name", "rpi_volt\n")
            .With("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1\n")
            .With("sys/class/thermal/thermal_zone0/type", "nvme\n")
            .With("sys/class/thermal/thermal_zone0/temp", "99000\n")
            .With("sys/class/thermal/thermal_zone1/type", "cpu-thermal\n")
            .With("sys/class/thermal/thermal_zone1/temp", "45277\n");
        using var board = Open(tree);
        Assert.Equal(
            new BoardReading
            {
                TemperatureCelsius = 45.277,
                KnownFlags = Throttling.UnderVoltage,
                Now = Throttling.UnderVoltage,
            },
            board.Read()
        );
    }

    [Fact]
    public void Without_any_sensor_all_values_are_unknown()
    {
        using var tree = new FakeTree();
        using var board = Open(tree);
        Assert.Equal(default, board.Read());
        Assert.Null(board.Model);
        Assert.Null(board.SerialNumber);
        Assert.Empty(board.ReadStorage());
    }

    [Fact]
    public void A_file_without_a_number_is_an_unknown_value()
    {
        using var tree = new FakeTree()
            .With("sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
            .With("sys/class/hwmon/hwmon0/temp1_input", "")
            .With("sys/devices/platform/soc/soc:firmware/get_throttled", "none\n");
        using var board = Open(tree);
        Assert.Equal(default, board.Read());
    }

    [Fact]
    public void A_sensor_whose_driver_is_loaded_later_is_found()
    {
        using var tree = new FakeTree();
        using var board = Open(tree);
        Assert.Null(board.Read().TemperatureCelsius);
        tree.With("sys/class/hwmon/hwmon3/name", "cpu_thermal\n").With("sys/class/hwmon/hwmon3/temp1_input", "40000\n");
        _time.Advance(TimeSpan.FromMinutes(5));
        Assert.Equal(40, board.Read().TemperatureCelsius);
    }

    [Fact]
    public void The_command_vcgencmd_reports_throttling_since_the_boot()
    {
        using var tree = FakeTree
            .RaspberryPi()
            .WithExecutable("usr/bin/vcgencmd", "#!/bin/sh\necho \"throttled=0x50005\"\n");
        using var board = Open(tree);
        var reading = board.Read();
        Assert.Equal(Throttling.None, reading.Now); // from the file, which is read later than the command's output
        Assert.Equal(Throttling.UnderVoltage | Throttling.Throttled, reading.SinceBoot);
    }

    [Fact]
    public void A_command_that_fails_is_not_run_again()
    {
        using var tree = new FakeTree();
        tree.WithExecutable(
            "usr/bin/vcgencmd",
            $"#!/bin/sh\necho x >> {tree.Path}/asked\necho \"Can't open device file: /dev/vcio\"\nexit 255\n"
        );
        using var board = Open(tree);
        _time.Advance(TimeSpan.FromMinutes(10));
        Assert.Equal(default, board.Read());
        Assert.Equal("x\n", File.ReadAllText(Path.Join(tree.Path, "asked")));
    }

    [Fact]
    public void A_card_is_read_once_for_all_of_its_partitions()
    {
        using var tree = FakeTree.RaspberryPi().WithLink("sys/class/block/dm-0/slaves/mmcblk0p2", "../../mmcblk0p2");
        using var board = Open(tree, "mmcblk0p2", "mmcblk0", "dm-0", "unknown");
        var device = Assert.Single(board.ReadStorage());
        Assert.Equal(
            new StorageReading("mmcblk0")
            {
                WrittenBytes = 102_400 * 512, // sectors of 512 bytes, in the seventh column
                Card = new CardRegisters(
                    "SD",
                    "SC32G",
                    "0x000003",
                    "0x5344",
                    "04/2023",
                    new SdClasses(Speed: 10, Uhs: 1, Video: 10, Application: 1)
                ),
            },
            device
        );
    }

    [Fact]
    public void An_eMMC_reports_how_much_of_its_life_is_used()
    {
        using var tree = new FakeTree()
            .With("sys/class/block/mmcblk0/stat", "1 2 3 4 5 6 7 8 9 10 11\n")
            .With("sys/class/block/mmcblk0/device/type", "MMC\n")
            .With("sys/class/block/mmcblk0/device/name", "BJTD4R\n")
            .With("sys/class/block/mmcblk0/device/life_time", "0x03 0x00\n")
            .With("sys/class/block/mmcblk0/device/pre_eol_info", "0x02\n");
        using var board = Open(tree, "mmcblk0");
        var device = Assert.Single(board.ReadStorage());
        Assert.Equal(
            (7 * 512, 0.3, null, 2),
            (device.WrittenBytes, device.LifeUsedA, device.LifeUsedB, device.SpareBlocksUsed)
        );
        Assert.False(device.Card!.IsSdCard);
    }

    /// <summary>Formerly, the wear of the first card was reported until the node's end.</summary>
    [Fact]
    public void A_removed_card_is_absent_and_the_next_one_in_its_slot_has_its_own_registers()
    {
        const string Slot = "sys/class/block/mmcblk0";
        using var tree = new FakeTree();
        InsertCard(lifeTime: "0x0a 0x0a", written: 7);
        using var board = Open(tree, "mmcblk0");
        Assert.Equal(1, Assert.Single(board.ReadStorage()).LifeUsed);
        Directory.Delete(Path.Join(tree.Path, Slot), recursive: true);
        Assert.Empty(board.ReadStorage());
        InsertCard(lifeTime: "0x01 0x02", written: 9);
        var next = Assert.Single(board.ReadStorage());
        Assert.Equal(0.2, next.LifeUsed);
        Assert.Equal(9 * 512, next.WrittenBytes);

        void InsertCard(string lifeTime, int written) =>
            tree.With($"{Slot}/stat", $"1 2 3 4 5 6 {written} 8 9 10 11\n")
                .With($"{Slot}/device/type", "MMC\n")
                .With($"{Slot}/device/life_time", lifeTime + "\n");
    }

    [Fact]
    public void A_reading_allocates_nothing()
    {
        using var tree = FakeTree.RaspberryPi();
        using var board = Open(tree);
        board.Read();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int reading = 0; reading < 100; reading++)
        {
            board.Read();
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100);
    }

    /// <summary>The machine of the test, whatever it is.</summary>
    [Fact]
    public void The_real_board_is_read_without_an_exception()
    {
        var disk = new PosixDisk();
        using var board = new LinuxBoard(disk, TimeProvider.System, [disk.DeviceOf("/")]);
        Assert.False(board.IsSimulated);
        board.Read();
        board.ReadStorage();
    }

    private LinuxBoard Open(FakeTree tree, params string[] devices) =>
        new(new PosixDisk(), _time, devices is [] ? OnCard : devices, tree.Path);
}
