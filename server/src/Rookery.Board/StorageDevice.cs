using System.Globalization;
using Rookery.Platform;

namespace Rookery.Board;

/// <summary>A whole block device and its values in /sys.</summary>
internal sealed class StorageDevice : IDisposable
{
    // Documentation/block/stat.rst: the counters of /proc/diskstats for one device.
    private const int WrittenSectorsField = 6;
    private const int SectorBytes = 512;
    private const double LifeSteps = 10;
    private const int MaxLayers = 8;
    private const string NamePrefix = "DEVNAME=";

    private readonly IDisk _disk;
    private readonly string _name;
    private readonly string _directory;
    private readonly Lock _gate = new();
    private KernelFile _statistics;
    private Registers? _registers;

    public StorageDevice(IDisk disk, string classDirectory, string device)
    {
        _disk = disk;
        _name = device;
        _directory = Path.Join(classDirectory, device);
        _statistics = OpenStatistics();
    }

    /// <summary>
    /// Returns the name of the whole device below a partition or below a device that is mapped onto one device; null if
    /// there is none.
    /// </summary>
    public static string? WholeOf(IDisk disk, string classDirectory, string device)
    {
        try
        {
            for (int layer = 0; layer < MaxLayers; layer++)
            {
                string directory = Path.Join(classDirectory, device);
                string lowerDevices = Path.Join(directory, "slaves");
                if (!disk.Exists(directory))
                {
                    return null;
                }

                if (disk.Exists(Path.Join(directory, "partition")))
                {
                    // The directory is a link into the device tree, where a partition's directory is inside its disk's.
                    string[] lines = KernelFile.ReadText(disk, Path.Join(directory, "../uevent"))?.Split('\n') ?? [];
                    string? named = Array.Find(
                        lines,
                        static line => line.StartsWith(NamePrefix, StringComparison.Ordinal)
                    );
                    return named?[NamePrefix.Length..];
                }

                if (!disk.Exists(lowerDevices) || disk.List(lowerDevices) is not [var lowerDevice])
                {
                    return device;
                }

                device = lowerDevice;
            }
        }
        catch (DiskException)
        {
            // This process may not see the device.
        }

        return null;
    }

    /// <summary>Reads the device; null while there is none of its name.</summary>
    public StorageReading? Read()
    {
        lock (_gate)
        {
            if (!KernelFile.Exists(_disk, _directory))
            {
                // The next card in the same slot may be another one.
                _registers = null;
                _statistics.Dispose();
                _statistics = OpenStatistics();
                return null;
            }

            // The registers are read once, because the kernel updates these files only when it detects the card.
            _registers ??= Registers.Read(_disk, Path.Join(_directory, "device"));
            return new StorageReading(_name)
            {
                WrittenBytes = _statistics.ReadField(WrittenSectorsField) * SectorBytes,
                Card = _registers.Card,
                LifeUsedA = _registers.LifeUsedA,
                LifeUsedB = _registers.LifeUsedB,
                SpareBlocksUsed = _registers.SpareBlocksUsed,
            };
        }
    }

    public void Dispose() => _statistics.Dispose();

    private KernelFile OpenStatistics() => new(_disk, Path.Join(_directory, "stat"));

    /// <summary>
    /// Converts a life time register of JESD84-B51 7.4.26: 1 means at most 10 % used, 2 at most 20 %, up to 10; 11
    /// means more than the expected life; 0 is undefined.
    /// </summary>
    private static double? LifeOf(string register)
    {
        int? steps = Hexadecimal(register);
        return steps is >= 1 and <= 11 ? steps / LifeSteps : null;
    }

    private static int? Hexadecimal(string text) =>
        text.StartsWith("0x", StringComparison.Ordinal)
        && int.TryParse(text.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out int value)
            ? value
            : null;

    /// <summary>What an SD card or eMMC tells about itself; all null for other devices.</summary>
    private sealed record Registers(CardRegisters? Card, double? LifeUsedA, double? LifeUsedB, int? SpareBlocksUsed)
    {
        public static Registers Read(IDisk disk, string directory)
        {
            string? ReadRegister(string register) => KernelFile.ReadText(disk, Path.Join(directory, register));
            string? type = ReadRegister("type");
            if (type is not ("SD" or "MMC"))
            {
                return new Registers(Card: null, LifeUsedA: null, LifeUsedB: null, SpareBlocksUsed: null);
            }

            string[] life = ReadRegister("life_time")?.Split(' ') ?? [];
            int? spareBlocksUsed = ReadRegister("pre_eol_info") is { } info ? Hexadecimal(info) : null;
            return new Registers(
                new CardRegisters(
                    type,
                    ReadRegister("name"),
                    ReadRegister("manfid"),
                    ReadRegister("oemid"),
                    ReadRegister("date"),
                    ReadRegister("ssr") is { } status ? SdClasses.Parse(status) : null
                ),
                life.Length > 0 ? LifeOf(life[0]) : null,
                life.Length == 2 ? LifeOf(life[1]) : null,
                spareBlocksUsed is >= 1 and <= 3 ? spareBlocksUsed : null // 0 is undefined
            );
        }
    }
}
