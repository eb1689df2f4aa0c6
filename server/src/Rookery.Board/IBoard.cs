namespace Rookery.Board;

/// <summary>
/// The machine below: heat, power, processor and the devices of the data. What a machine does not say is null, never 0,
/// and nothing here throws for it.
/// </summary>
public interface IBoard : IDisposable
{
    /// <summary>Whether this is no real machine; said wherever its figures are shown.</summary>
    bool IsSimulated { get; }

    /// <summary>What kind of board it is ("Raspberry Pi 4 Model B Rev 1.4"); null where it does not say.</summary>
    string? Model { get; }

    /// <summary>Its serial number, for its owner's eyes: it is in no answer and no log of a node.</summary>
    string? SerialNumber { get; }

    /// <summary>
    /// What changes from moment to moment. Cheap: a few small files, no memory. One caller at a time.
    /// </summary>
    BoardReading Read();

    /// <summary>The devices below the data and the journal, each once. Any thread.</summary>
    IReadOnlyList<StorageReading> ReadStorage();

    /// <summary>
    /// How much of processors and memory is in use, by everybody. As cheap as <see cref="Read"/>; any thread.
    /// </summary>
    MachineUse ReadUse();

    /// <summary>
    /// The light by which this board can be found among others; null where it has none that can be driven.
    /// </summary>
    IBoardLight? Light { get; }
}

/// <summary>A light of a board. What it showed before is shown again when a blinking has ended.</summary>
public interface IBoardLight
{
    /// <summary>What it is called ("ACT").</summary>
    string Name { get; }

    /// <summary>Begins to blink.</summary>
    /// <returns>What ends it; null and why in <paramref name="whyNot"/> when this process may not drive it.</returns>
    IDisposable? TryBlink(out string? whyNot);
}

/// <summary>
/// What the machine's processors did since it was booted, and what is in its memory now. Null is unknown.
/// </summary>
public readonly record struct MachineUse
{
    /// <summary>What all processors together did, in ticks of the kernel (USER_HZ).</summary>
    public long? BusyTicks { get; init; }

    /// <summary>The same with the ticks in which they had nothing to do.</summary>
    public long? TotalTicks { get; init; }

    /// <summary>Memory of the machine in bytes.</summary>
    public long? MemoryBytes { get; init; }

    /// <summary>What of it programs could have without swapping, in bytes.</summary>
    public long? AvailableBytes { get; init; }
}

/// <summary>
/// What firmware or kernel report of power and heat. The values are the bits of the firmware's own word
/// (get_throttled).
/// </summary>
[Flags]
public enum Throttling
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>The supply is below about 4.63 V.</summary>
    UnderVoltage = 1,

    /// <summary>The processor may not take its highest frequency, for heat or want of power.</summary>
    FrequencyCapped = 2,

    /// <summary>The processor is slowed down, for heat or want of power.</summary>
    Throttled = 4,

    /// <summary>A Pi 3B+ or its like is above the temperature (60 °C) from which it goes a little slower.</summary>
    SoftTemperatureLimit = 8,

    /// <summary>All of them.</summary>
    All = UnderVoltage | FrequencyCapped | Throttled | SoftTemperatureLimit,
}

/// <summary>How a board does at a moment.</summary>
public readonly record struct BoardReading
{
    /// <summary>Temperature of the SoC in degrees Celsius.</summary>
    public double? TemperatureCelsius { get; init; }

    /// <summary>Which flags this board can report at all: of the others nothing is known.</summary>
    public Throttling KnownFlags { get; init; }

    /// <summary>What holds now.</summary>
    public Throttling Now { get; init; }

    /// <summary>What held at some moment before, as far as firmware and kernel keep it.</summary>
    public Throttling Before { get; init; }

    /// <summary>The processor's frequency in hertz.</summary>
    public long? FrequencyHertz { get; init; }

    /// <summary>The highest it can have, in hertz.</summary>
    public long? MaximumFrequencyHertz { get; init; }

    /// <summary>Whether a flag is known to hold now.</summary>
    public bool Is(Throttling flag) => (Now & flag) != Throttling.None;
}

/// <summary>A device that holds data or journal.</summary>
/// <param name="Device">The whole device's kernel name ("mmcblk0").</param>
public sealed record StorageReading(string Device)
{
    /// <summary>Bytes written to it since the machine was booted, by everybody.</summary>
    public long? WrittenBytes { get; init; }

    /// <summary>What an SD card or eMMC says of itself.</summary>
    public CardRegisters? Card { get; init; }

    /// <summary>
    /// How much of its life an eMMC has used, at most, 0 to 1 and above when it is exceeded: of the part that stores
    /// one bit a cell (type A).
    /// </summary>
    public double? LifeUsedA { get; init; }

    /// <summary>As <see cref="LifeUsedA"/>, of the other part (type B).</summary>
    public double? LifeUsedB { get; init; }

    /// <summary>How much an eMMC's spare blocks are used up: 1 normal, 2 over 80 %, 3 over 90 %.</summary>
    public int? SpareBlocksUsed { get; init; }
}

/// <summary>What an SD card or eMMC says of itself: registers CID and SSR, without the serial number.</summary>
/// <param name="Type">"SD" or "MMC".</param>
/// <param name="Name">The product's name.</param>
/// <param name="ManufacturerId">As the kernel writes it ("0x000003").</param>
/// <param name="OemId">As the kernel writes it ("0x5344").</param>
/// <param name="Date">When it was made ("04/2023").</param>
/// <param name="Classes">Which speeds an SD card promises; null where it does not say, and for eMMC.</param>
public sealed record CardRegisters(
    string? Type,
    string? Name,
    string? ManufacturerId,
    string? OemId,
    string? Date,
    SdClasses? Classes
)
{
    /// <summary>Whether it is an SD card, which wears and stalls in ways that an eMMC does not.</summary>
    public bool IsSdCard => string.Equals(Type, "SD", StringComparison.Ordinal);
}
