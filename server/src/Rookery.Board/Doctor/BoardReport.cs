using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Rookery.Board.Doctor;

/// <summary>
/// The report of `rookery doctor --report`: how Rookery runs on a kind of board, to be published. It has no names,
/// addresses or serial numbers. An unknown value is null.
/// </summary>
/// <param name="Version">The version of Rookery.</param>
/// <param name="Facts">The facts about the board; those about the node and its network are not reported.</param>
public sealed record BoardReport(string Version, DoctorFacts Facts)
{
    // The strict encoder would escape characters in the texts of kernels.
    private static readonly JsonWriterOptions Indented = new()
    {
        Indented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>The version of the board's boot firmware.</summary>
    public string? Firmware { get; init; }

    /// <summary>The name and version of the operating system.</summary>
    public string? OperatingSystem { get; init; }

    /// <summary>The name and version of the kernel.</summary>
    public string? Kernel { get; init; }

    /// <summary>The number of processors.</summary>
    public int Processors { get; init; }

    /// <summary>The memory of the machine, in bytes.</summary>
    public long? MemoryBytes { get; init; }

    /// <summary>The resident memory of the node, in bytes.</summary>
    public long? NodeResidentBytes { get; init; }

    /// <summary>How long the kernel has run.</summary>
    public double? UptimeSeconds { get; init; }

    /// <summary>The stages of the last boot, in order.</summary>
    public IReadOnlyList<BootStage> Boot { get; init; } = [];

    /// <summary>Returns the report as JSON, which people read too.</summary>
    public string ToJson()
    {
        using var body = new MemoryStream();
        using (var json = new Utf8JsonWriter(body, Indented))
        {
            json.WriteStartObject();
            json.WriteString("Rookery"u8, Version);
            json.WriteString("Image"u8, Facts.Image?.Release);
            json.WriteString("Board"u8, Facts.Model);
            json.WriteBoolean("IsSimulated"u8, Facts.IsSimulated);
            json.WriteString("Firmware"u8, Firmware);
            json.WriteString("OperatingSystem"u8, OperatingSystem);
            json.WriteString("Kernel"u8, Kernel);
            json.WriteNumber("Processors"u8, Processors);
            WriteNumber(json, "MemoryBytes"u8, MemoryBytes);
            WriteSensors(json, Facts.Reading);
            WriteStorage(json, Facts.Storage);
            WriteProbe(json, Facts.Probe);
            WriteNumber(json, "UptimeSeconds"u8, UptimeSeconds);
            WriteBoot(json, Boot);
            WriteNumber(json, "NodeResidentBytes"u8, NodeResidentBytes);
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(body.ToArray());
    }

    private static void WriteSensors(Utf8JsonWriter json, in BoardReading reading)
    {
        WriteNumber(json, "TemperatureCelsius"u8, reading.TemperatureCelsius);
        WriteNumber(json, "FrequencyHertz"u8, reading.FrequencyHertz);
        WriteNumber(json, "MaximumFrequencyHertz"u8, reading.MaximumFrequencyHertz);
        WriteFlags(json, "ReportedFlags"u8, reading.KnownFlags);
        WriteFlags(json, "FlagsSinceBoot"u8, reading.SinceBoot);
    }

    private static void WriteFlags(Utf8JsonWriter json, ReadOnlySpan<byte> name, Throttling flags)
    {
        json.WriteStartArray(name);
        foreach (var flag in Enum.GetValues<Throttling>())
        {
            if (flag is not (Throttling.None or Throttling.All) && flags.HasFlag(flag))
            {
                json.WriteStringValue(flag.ToString());
            }
        }

        json.WriteEndArray();
    }

    private static void WriteStorage(Utf8JsonWriter json, IReadOnlyList<StorageReading> storage)
    {
        json.WriteStartArray("Storage"u8);
        foreach (var device in storage)
        {
            json.WriteStartObject();
            json.WriteString("Device"u8, device.Device);
            WriteNumber(json, "WrittenBytes"u8, device.WrittenBytes);
            WriteNumber(json, "LifeUsed"u8, device.LifeUsed);
            if (device.Card is { } card)
            {
                json.WriteString("Type"u8, card.Type);
                json.WriteString("Name"u8, card.Name);
                json.WriteString("ManufacturerId"u8, card.ManufacturerId);
                json.WriteString("OemId"u8, card.OemId);
                json.WriteString("Date"u8, card.Date);
                WriteNumber(json, "SpeedClass"u8, card.Classes?.Speed);
                WriteNumber(json, "UhsGrade"u8, card.Classes?.Uhs);
                WriteNumber(json, "VideoClass"u8, card.Classes?.Video);
                WriteNumber(json, "ApplicationClass"u8, card.Classes?.Application);
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteProbe(Utf8JsonWriter json, DiskProbe? probe)
    {
        if (probe is null)
        {
            json.WriteNull("Probe"u8);
            return;
        }

        json.WriteStartObject("Probe"u8);
        WriteNumber(json, "BytesPerSecond"u8, Math.Round(probe.BytesPerSecond));
        WriteNumber(json, "MedianSyncMilliseconds"u8, probe.MedianSyncMilliseconds);
        WriteNumber(json, "SlowSyncMilliseconds"u8, probe.SlowSyncMilliseconds);
        json.WriteEndObject();
    }

    private static void WriteBoot(Utf8JsonWriter json, IReadOnlyList<BootStage> stages)
    {
        json.WriteStartArray("Boot"u8);
        foreach (var stage in stages)
        {
            json.WriteStartObject();
            json.WriteString("Stage"u8, stage.Name);
            WriteNumber(json, "Seconds"u8, stage.Seconds);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteNumber(Utf8JsonWriter json, ReadOnlySpan<byte> name, double? number)
    {
        if (number is { } known)
        {
            json.WriteNumber(name, Math.Round(known, 3));
        }
        else
        {
            json.WriteNull(name);
        }
    }
}
