namespace Rookery.Board.Tests;

/// <summary>A directory with files of /sys and /proc as kernels write them. Disposal deletes it.</summary>
internal sealed class FakeTree : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("rookery-board-").FullName;

    /// <summary>Writes a file, and returns the tree.</summary>
    public FakeTree With(string path, string content)
    {
        string target = System.IO.Path.Join(Path, path);
        Directory.CreateDirectory(System.IO.Path.GetDirectoryName(target)!);
        File.WriteAllText(target, content);
        return this;
    }

    public FakeTree WithLink(string path, string target)
    {
        string link = System.IO.Path.Join(Path, path);
        Directory.CreateDirectory(System.IO.Path.GetDirectoryName(link)!);
        File.CreateSymbolicLink(link, target);
        return this;
    }

    public FakeTree WithExecutable(string path, string content)
    {
        With(path, content);
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(
                System.IO.Path.Join(Path, path),
                UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
            );
        }

        return this;
    }

    /// <summary>A Pi 4 with Raspberry Pi OS (kernel 6.12) on an SD card.</summary>
    public static FakeTree RaspberryPi() =>
        new FakeTree()
            .With("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")
            .With("proc/device-tree/serial-number", "10000000f00dcafe\0")
            .With("sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
            .With("sys/class/hwmon/hwmon0/temp1_input", "52095\n")
            .With("sys/class/hwmon/hwmon1/name", "rpi_volt\n")
            .With("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n")
            .With("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
            .With("sys/class/thermal/thermal_zone0/temp", "51608\n")
            .With("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n")
            .With("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n")
            .With("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000\n")
            .WithCard();

    /// <summary>An SD card with two partitions, as the kernel links them.</summary>
    public FakeTree WithCard(string status = SdClassesTests.ClassTen)
    {
        const string disk = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
        return With($"{disk}/uevent", "MAJOR=179\nMINOR=0\nDEVNAME=mmcblk0\nDEVTYPE=disk\nDISKSEQ=8\n")
            .With(
                $"{disk}/stat",
                "    7205     2634   615614    15021     2177     2450   102400    33333        0    15540    "
                    + "48354        0        0        0        0        0        0\n"
            )
            .With($"{disk}/mmcblk0p2/partition", "2\n")
            .With($"{disk}/../../type", "SD\n")
            .With($"{disk}/../../name", "SC32G\n")
            .With($"{disk}/../../manfid", "0x000003\n")
            .With($"{disk}/../../oemid", "0x5344\n")
            .With($"{disk}/../../date", "04/2023\n")
            .With($"{disk}/../../serial", "0x12345678\n")
            .With($"{disk}/../../ssr", status + "\n")
            .WithLink($"{disk}/device", "../..")
            .WithLink("sys/class/block/mmcblk0", $"../../../{disk}")
            .WithLink("sys/class/block/mmcblk0p2", $"../../../{disk}/mmcblk0p2");
    }

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
