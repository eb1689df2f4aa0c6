using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// The board as Linux shows it under /sys and /proc. docs/reference/board.md lists the files that are read.
/// </summary>
public sealed class LinuxBoard : IBoard
{
    // Raspberry Pi's kernel has the firmware's status word below this directory; the name of the soc's directory
    // varies.
    private const string Platform = "sys/devices/platform";
    private const string Processor = "sys/devices/system/cpu/cpu0/cpufreq";
    private const long HertzPerKilohertz = 1000;
    private const double MillidegreesPerDegree = 1000;

    // In the firmware's status word, the flags seen since boot are this many bits above the present flags.
    private const int HistoryShift = 16;

    // Missing files may appear when a kernel module is loaded. A search for them takes a few system calls, so it is
    // repeated only at this interval.
    private static readonly TimeSpan SearchInterval = TimeSpan.FromMinutes(5);

    private static readonly string[] ZoneTypes =
    [
        "cpu-thermal",
        "cpu_thermal",
        "soc-thermal",
        "soc_thermal",
        "x86_pkg_temp",
    ];

    private readonly IDisk _disk;
    private readonly string _root;
    private readonly TimeProvider _time;
    private readonly KernelFile _frequency;
    private readonly StorageDevice[] _storage;
    private readonly VideoCoreCommand _command;
    private readonly long? _maximumFrequencyHertz;
    private readonly MachineLoad _load;
    private KernelFile? _temperature;
    private KernelFile? _throttled;
    private KernelFile? _underVoltage;
    private long _searchedAt;
    private uint? _commandStatus; // status word that the command returned last

    /// <summary>Finds the sensors of this machine.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="time">The clock.</param>
    /// <param name="devices">The kernel's names of the devices of data and journal, as <see cref="IDisk.DeviceOf"/>
    /// returns them.</param>
    /// <param name="root">The directory that contains <c>sys</c> and <c>proc</c>. Any directory but / makes a simulated
    /// board.</param>
    public LinuxBoard(IDisk disk, TimeProvider time, IEnumerable<string> devices, string root = "/")
    {
        _disk = disk;
        _root = root;
        _time = time;
        Model =
            KernelFile.ReadText(disk, PathIn("proc/device-tree/model"))
            ?? KernelFile.ReadText(disk, PathIn("sys/class/dmi/id/product_name"));
        SerialNumber = KernelFile.ReadText(disk, PathIn("proc/device-tree/serial-number"));
        _frequency = new KernelFile(disk, PathIn(Processor, "scaling_cur_freq"));
        using (var highest = new KernelFile(disk, PathIn(Processor, "cpuinfo_max_freq")))
        {
            _maximumFrequencyHertz = highest.ReadNumber() * HertzPerKilohertz;
        }

        _load = new MachineLoad(disk, PathIn("proc"));
        Light = LinuxLight.Find(disk, PathIn("sys/class/leds"), time);
        _command = new VideoCoreCommand(disk, root);
        _storage =
        [
            .. devices
                .Select(device => StorageDevice.WholeOf(disk, PathIn("sys/class/block"), device))
                .OfType<string>()
                .Distinct(StringComparer.Ordinal)
                .Select(device => new StorageDevice(disk, PathIn("sys/class/block"), device)),
        ];
        FindMissingSensors();
    }

    /// <inheritdoc/>
    public bool IsSimulated => _root is not "/";

    /// <inheritdoc/>
    public string? Model { get; }

    /// <inheritdoc/>
    public string? SerialNumber { get; }

    /// <inheritdoc/>
    public BoardReading Read()
    {
        if (_time.GetElapsedTime(_searchedAt) >= SearchInterval)
        {
            FindMissingSensors();
        }

        // The file contains the firmware's status of the last two seconds. The command also returns its history since
        // boot, but starts a process, so it runs only every five minutes. Without the file, the command's last result
        // is used.
        uint? word = _throttled?.ReadHexadecimal() ?? _commandStatus;
        uint history = (word ?? 0) | (_commandStatus ?? 0);
        var now = (Throttling)(word ?? 0) & Throttling.All;
        var known = word is null ? Throttling.None : Throttling.All;
        if (_underVoltage?.ReadNumber() is { } alarm)
        {
            known |= Throttling.UnderVoltage;
            now = (now & ~Throttling.UnderVoltage) | (alarm != 0 ? Throttling.UnderVoltage : Throttling.None);
        }

        return new BoardReading
        {
            TemperatureCelsius = _temperature?.ReadNumber() / MillidegreesPerDegree,
            KnownFlags = known,
            Now = now,
            SinceBoot = (Throttling)(history >> HistoryShift) & Throttling.All,
            FrequencyHertz = _frequency.ReadNumber() * HertzPerKilohertz,
            MaximumFrequencyHertz = _maximumFrequencyHertz,
        };
    }

    /// <inheritdoc/>
    public IReadOnlyList<StorageReading> ReadStorage() =>
        [.. _storage.Select(static device => device.Read()).OfType<StorageReading>()];

    /// <inheritdoc/>
    public MachineUse ReadUse() => _load.Read();

    /// <inheritdoc/>
    public IBoardLight? Light { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        _load.Dispose();
        _temperature?.Dispose();
        _throttled?.Dispose();
        _underVoltage?.Dispose();
        _frequency.Dispose();
        Array.ForEach(_storage, static device => device.Dispose());
    }

    private void FindMissingSensors()
    {
        _searchedAt = _time.GetTimestamp();
        _temperature ??= FindTemperature();
        _underVoltage ??= FindMonitor("rpi_volt", "in0_lcrit_alarm");
        _throttled ??= FindThrottled();
        _commandStatus = _command.ReadStatusWord() ?? _commandStatus;
    }

    private KernelFile? FindTemperature() =>
        FindMonitor("cpu_thermal", "temp1_input")
        ?? ListUnder("sys/class/thermal")
            .Where(zone =>
                KernelFile.ReadText(_disk, Path.Join(zone, "type")) is { } type
                && ZoneTypes.Contains(type, StringComparer.Ordinal)
            )
            .Select(zone => Open(Path.Join(zone, "temp")))
            .FirstOrDefault();

    /// <summary>
    /// Opens a file of the hardware monitor with this name. The numbers of monitors change from boot to boot, so the
    /// monitor is found by its name.
    /// </summary>
    private KernelFile? FindMonitor(string name, string file) =>
        ListUnder("sys/class/hwmon")
            .Where(monitor =>
                string.Equals(KernelFile.ReadText(_disk, Path.Join(monitor, "name")), name, StringComparison.Ordinal)
            )
            .Select(monitor => Open(Path.Join(monitor, file)))
            .FirstOrDefault();

    private KernelFile? FindThrottled() =>
        ListUnder(Platform)
            .Where(static soc => Path.GetFileName(soc).StartsWith("soc", StringComparison.Ordinal))
            .SelectMany(List)
            .Where(static device => device.EndsWith(":firmware", StringComparison.Ordinal))
            .Select(device => Path.Join(device, "get_throttled"))
            .Where(path => KernelFile.Exists(_disk, path))
            .Select(Open)
            .FirstOrDefault();

    private IEnumerable<string> ListUnder(string directory) => List(PathIn(directory));

    private IEnumerable<string> List(string directory)
    {
        try
        {
            return _disk.Exists(directory) ? _disk.List(directory).Select(name => Path.Join(directory, name)) : [];
        }
        catch (DiskException)
        {
            return [];
        }
    }

    private KernelFile Open(string path) => new(_disk, path);

    private string PathIn(params ReadOnlySpan<string?> path) => Path.Join(_root, Path.Join(path));
}
