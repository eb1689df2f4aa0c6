using Rookery.Disk;

namespace Rookery.Board;

/// <summary>
/// The board as Linux shows it under /sys and /proc. docs/reference/board.md lists the files.
/// </summary>
public sealed class LinuxBoard : IBoard
{
    // Raspberry Pi's kernel names the firmware's word here, whatever the tree calls the soc.
    private const string Platform = "sys/devices/platform";
    private const string Processor = "sys/devices/system/cpu/cpu0/cpufreq";
    private const long HertzPerKilohertz = 1000;
    private const double MillidegreesPerDegree = 1000;
    private const int StickyShift = 16;

    // A file that no driver has made yet may come with a module; to look for it takes a few system calls.
    private static readonly TimeSpan SearchInterval = TimeSpan.FromMinutes(5);

    private static readonly string[] ZoneTypes = ["cpu-thermal", "cpu_thermal", "soc-thermal", "soc_thermal", "x86_pkg_temp"];

    private readonly IDisk disk;
    private readonly string root;
    private readonly TimeProvider time;
    private readonly KernelFile frequency;
    private readonly StorageDevice[] storage;
    private readonly VideoCoreCommand command;
    private readonly long? maximumFrequencyHertz;
    private readonly MachineLoad load;
    private KernelFile? temperature;
    private KernelFile? throttled;
    private KernelFile? underVoltage;
    private long searchedAt;
    private uint? toldByCommand;

    /// <summary>Looks for what this machine can tell.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="time">The clock.</param>
    /// <param name="devices">Kernel names of the devices of data and journal, as <see cref="IDisk.DeviceOf"/> gives them.</param>
    /// <param name="root">The directory that holds <c>sys</c> and <c>proc</c>: any but / is a simulated board.</param>
    public LinuxBoard(IDisk disk, TimeProvider time, IEnumerable<string> devices, string root = "/")
    {
        this.disk = disk;
        this.root = root;
        this.time = time;
        Model = KernelFile.ReadText(disk, In("proc/device-tree/model")) ?? KernelFile.ReadText(disk, In("sys/class/dmi/id/product_name"));
        SerialNumber = KernelFile.ReadText(disk, In("proc/device-tree/serial-number"));
        frequency = new KernelFile(disk, In(Processor, "scaling_cur_freq"));
        using (var highest = new KernelFile(disk, In(Processor, "cpuinfo_max_freq")))
        {
            maximumFrequencyHertz = highest.ReadNumber() * HertzPerKilohertz;
        }

        load = new MachineLoad(disk, In("proc"));
        Light = LinuxLight.Find(disk, In("sys/class/leds"), time);
        command = new VideoCoreCommand(disk, root);
        storage = [.. devices.Select(device => StorageDevice.WholeOf(disk, In("sys/class/block"), device)).OfType<string>().Distinct(StringComparer.Ordinal).Select(device => new StorageDevice(disk, In("sys/class/block"), device))];
        Search();
    }

    /// <inheritdoc/>
    public bool IsSimulated => root is not "/";

    /// <inheritdoc/>
    public string? Model { get; }

    /// <inheritdoc/>
    public string? SerialNumber { get; }

    /// <inheritdoc/>
    public BoardReading Read()
    {
        if (time.GetElapsedTime(searchedAt) >= SearchInterval)
        {
            Search();
        }

        // The file has the firmware's word of the last two seconds; the command has its history since boot, and is a process to start. Where there is only the command, its word of some minutes ago has to do.
        uint? word = throttled?.ReadHexadecimal() ?? toldByCommand;
        uint history = (word ?? 0) | (toldByCommand ?? 0);
        var now = (Throttling)(word ?? 0) & Throttling.All;
        var known = word is null ? Throttling.None : Throttling.All;
        if (underVoltage?.ReadNumber() is { } alarm)
        {
            known |= Throttling.UnderVoltage;
            now = (now & ~Throttling.UnderVoltage) | (alarm != 0 ? Throttling.UnderVoltage : Throttling.None);
        }

        return new BoardReading
        {
            TemperatureCelsius = temperature?.ReadNumber() / MillidegreesPerDegree,
            KnownFlags = known,
            Now = now,
            Before = (Throttling)(history >> StickyShift) & Throttling.All,
            FrequencyHertz = frequency.ReadNumber() * HertzPerKilohertz,
            MaximumFrequencyHertz = maximumFrequencyHertz,
        };
    }

    /// <inheritdoc/>
    public IReadOnlyList<StorageReading> ReadStorage() => [.. storage.Select(static device => device.Read())];

    /// <inheritdoc/>
    public MachineUse ReadUse() => load.Read();

    /// <inheritdoc/>
    public IBoardLight? Light { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        load.Dispose();
        temperature?.Dispose();
        throttled?.Dispose();
        underVoltage?.Dispose();
        frequency.Dispose();
        Array.ForEach(storage, static device => device.Dispose());
    }

    private void Search()
    {
        searchedAt = time.GetTimestamp();
        temperature ??= FindTemperature();
        underVoltage ??= FindMonitor("rpi_volt", "in0_lcrit_alarm");
        throttled ??= FindThrottled();
        toldByCommand = command.Ask() ?? toldByCommand;
    }

    private KernelFile? FindTemperature() =>
        FindMonitor("cpu_thermal", "temp1_input")
        ?? Under("sys/class/thermal").Where(zone => KernelFile.ReadText(disk, Path.Join(zone, "type")) is { } type && ZoneTypes.Contains(type, StringComparer.Ordinal)).Select(zone => Open(Path.Join(zone, "temp"))).FirstOrDefault();

    /// <summary>A file of the hardware monitor with this name: their numbers change from boot to boot.</summary>
    private KernelFile? FindMonitor(string name, string file) =>
        Under("sys/class/hwmon").Where(monitor => string.Equals(KernelFile.ReadText(disk, Path.Join(monitor, "name")), name, StringComparison.Ordinal)).Select(monitor => Open(Path.Join(monitor, file))).FirstOrDefault();

    private KernelFile? FindThrottled() =>
        Under(Platform).Where(static soc => Path.GetFileName(soc).StartsWith("soc", StringComparison.Ordinal)).SelectMany(List)
            .Where(static device => device.EndsWith(":firmware", StringComparison.Ordinal)).Select(device => Path.Join(device, "get_throttled")).Where(path => KernelFile.IsThere(disk, path)).Select(Open).FirstOrDefault();

    private IEnumerable<string> Under(string directory) => List(In(directory));

    private IEnumerable<string> List(string directory)
    {
        try
        {
            return disk.Exists(directory) ? disk.List(directory).Select(name => Path.Join(directory, name)) : [];
        }
        catch (DiskException)
        {
            return [];
        }
    }

    private KernelFile Open(string path) => new(disk, path);

    private string In(params ReadOnlySpan<string?> path) => Path.Join(root, Path.Join(path));
}
