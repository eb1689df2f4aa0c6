namespace Rookery.Board;

/// <summary>
/// The sensors of the machine: temperature, power supply, processor and the storage devices of the data. An unknown
/// value is null, never 0, and is not an error.
/// </summary>
public interface IBoard : IDisposable
{
    /// <summary>Whether the board is simulated; shown wherever its values are shown.</summary>
    bool IsSimulated { get; }

    /// <summary>The model, such as "Raspberry Pi 4 Model B Rev 1.4"; null if unknown.</summary>
    string? Model { get; }

    /// <summary>The serial number. It is private: no response and no log of a node contains it.</summary>
    string? SerialNumber { get; }

    /// <summary>
    /// Reads the changing values. Cheap: reads a few small files and allocates nothing. One caller at a time.
    /// </summary>
    BoardReading Read();

    /// <summary>
    /// Reads the storage devices of the data and the journal, each once. A device that was removed is absent.
    /// Thread-safe.
    /// </summary>
    IReadOnlyList<StorageReading> ReadStorage();

    /// <summary>
    /// Reads the load of processors and memory by all programs. As cheap as <see cref="Read"/>. Thread-safe.
    /// </summary>
    MachineUse ReadUse();

    /// <summary>
    /// The LED by which this board can be found among others; null if no LED can be driven.
    /// </summary>
    IBoardLight? Light { get; }
}

/// <summary>An LED of a board. After blinking it shows again what it showed before.</summary>
public interface IBoardLight
{
    /// <summary>The name of the LED, such as "ACT".</summary>
    string Name { get; }

    /// <summary>Starts blinking.</summary>
    /// <returns>An object whose disposal ends the blinking; null if this process may not drive the LED, with the reason
    /// in <paramref name="whyNot"/>.</returns>
    IDisposable? TryBlink(out string? whyNot);
}

/// <summary>The load of the machine: processor time since boot, and memory now. Null is unknown.</summary>
public readonly record struct MachineUse
{
    /// <summary>Busy time of all processors together, in kernel ticks (USER_HZ).</summary>
    public long? BusyTicks { get; init; }

    /// <summary>Busy and idle time of all processors together, in kernel ticks (USER_HZ).</summary>
    public long? TotalTicks { get; init; }

    /// <summary>The machine's memory, in bytes.</summary>
    public long? MemoryBytes { get; init; }

    /// <summary>The memory that programs could get without swapping, in bytes.</summary>
    public long? AvailableBytes { get; init; }
}

/// <summary>
/// Flags of firmware or kernel about power and heat. The values are the bits of the firmware's own status word
/// (get_throttled).
/// </summary>
[Flags]
public enum Throttling
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>The supply voltage is below about 4.63 V.</summary>
    UnderVoltage = 1,

    /// <summary>The processor's frequency is limited because of heat or low power.</summary>
    FrequencyCapped = 2,

    /// <summary>The processor is throttled because of heat or low power.</summary>
    Throttled = 4,

    /// <summary>A Pi 3B+ or similar is above 60 °C, where it reduces its frequency slightly.</summary>
    SoftTemperatureLimit = 8,

    /// <summary>All flags.</summary>
    All = UnderVoltage | FrequencyCapped | Throttled | SoftTemperatureLimit,
}

/// <summary>One reading of a board's sensors.</summary>
public readonly record struct BoardReading
{
    /// <summary>Temperature of the SoC in degrees Celsius.</summary>
    public double? TemperatureCelsius { get; init; }

    /// <summary>The flags that this board can report. The others are unknown.</summary>
    public Throttling KnownFlags { get; init; }

    /// <summary>The flags that are set now.</summary>
    public Throttling Now { get; init; }

    /// <summary>The flags that were set at some time since the boot, as far as firmware and kernel remember.</summary>
    public Throttling SinceBoot { get; init; }

    /// <summary>The processor's frequency in hertz.</summary>
    public long? FrequencyHertz { get; init; }

    /// <summary>The processor's highest frequency, in hertz.</summary>
    public long? MaximumFrequencyHertz { get; init; }

    /// <summary>Returns whether any of these flags is set now.</summary>
    public bool Is(Throttling flag) => (Now & flag) != Throttling.None;
}

/// <summary>A device that holds data or journal.</summary>
/// <param name="Device">The whole device's kernel name ("mmcblk0").</param>
public sealed record StorageReading(string Device)
{
    /// <summary>Bytes written to the device since boot, by all programs.</summary>
    public long? WrittenBytes { get; init; }

    /// <summary>The registers of an SD card or eMMC; null for other devices.</summary>
    public CardRegisters? Card { get; init; }

    /// <summary>
    /// The upper bound of the used life of an eMMC's type A cells (one bit per cell): 0 to 1, and above 1 once the
    /// expected life is exceeded.
    /// </summary>
    public double? LifeUsedA { get; init; }

    /// <summary>As <see cref="LifeUsedA"/>, of the type B cells.</summary>
    public double? LifeUsedB { get; init; }

    /// <summary>The used life of the more worn of the two types of cells; null if the device reports neither.</summary>
    public double? LifeUsed => Nullable.Compare(LifeUsedA, LifeUsedB) > 0 ? LifeUsedA : LifeUsedB;

    /// <summary>Use of an eMMC's spare blocks: 1 normal, 2 over 80 %, 3 over 90 %.</summary>
    public int? SpareBlocksUsed { get; init; }
}

/// <summary>Registers CID and SSR of an SD card or eMMC, without the serial number.</summary>
/// <param name="Type">"SD" or "MMC".</param>
/// <param name="Name">The product's name.</param>
/// <param name="ManufacturerId">The manufacturer's id as the kernel prints it ("0x000003").</param>
/// <param name="OemId">The OEM's id as the kernel prints it ("0x5344").</param>
/// <param name="Date">The manufacturing date ("04/2023").</param>
/// <param name="Classes">The speed classes of an SD card; null if unknown, and for eMMC.</param>
public sealed record CardRegisters(
    string? Type,
    string? Name,
    string? ManufacturerId,
    string? OemId,
    string? Date,
    SdClasses? Classes
)
{
    /// <summary>Whether it is an SD card, which wears and stalls in other ways than an eMMC.</summary>
    public bool IsSdCard => string.Equals(Type, "SD", StringComparison.Ordinal);
}
