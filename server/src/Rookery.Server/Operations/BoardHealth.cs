using System.Globalization;
using System.Text.Json;
using Rookery.Board;

namespace Rookery.Server.Operations;

/// <summary>
/// State of the machine in <c>/readyz?verbose</c> and <c>/metrics</c>. Unknown values are left out; the serial number
/// is never shown.
/// </summary>
internal static class BoardHealth
{
    private static readonly (Throttling Flag, string Name)[] Flags =
    [
        (Throttling.UnderVoltage, "under_voltage"),
        (Throttling.FrequencyCapped, "frequency_capped"),
        (Throttling.Throttled, "throttled"),
        (Throttling.SoftTemperatureLimit, "soft_temperature_limit"),
    ];

    /// <summary>Writes the member <c>Board</c>; nothing if no board is watched.</summary>
    public static void Write(Utf8JsonWriter json, BoardWatch? watch)
    {
        if (watch is null)
        {
            return;
        }

        var reading = watch.Reading;
        json.WriteStartObject("Board"u8);
        json.WriteString("Trouble"u8, watch.Trouble);
        json.WriteString("Model"u8, watch.Board.Model);
        json.WriteBoolean("IsSimulated"u8, watch.Board.IsSimulated);
        if (reading.TemperatureCelsius is { } celsius)
        {
            json.WriteNumber("TemperatureCelsius"u8, Math.Round(celsius, 1));
        }

        WriteFlags(json, "Now", reading.KnownFlags, reading.Now);
        WriteFlags(json, "SinceBoot", reading.KnownFlags, reading.Now | reading.SinceBoot);
        json.WriteEndObject();
    }

    /// <summary>Adds the metrics of the board.</summary>
    /// <param name="text">Receives the metrics.</param>
    /// <param name="watch">The board; null if none is watched, and nothing is added.</param>
    /// <param name="devices">Its storage devices; empty while they are unknown.</param>
    public static void Add(PrometheusText text, BoardWatch? watch, IReadOnlyList<StorageReading> devices)
    {
        if (watch is null)
        {
            return;
        }

        var reading = watch.Reading;
        text.Gauge("rookery_board_info", "1, with the board's model, and whether it is simulated.")
            .Sample(
                1,
                ("model", watch.Board.Model ?? "unknown"),
                ("simulated", watch.Board.IsSimulated ? "true" : "false")
            );
        if (reading.TemperatureCelsius is { } celsius)
        {
            text.Gauge("rookery_board_temperature_celsius", "Temperature of the SoC.").Sample(celsius);
        }

        if (reading.KnownFlags != Throttling.None)
        {
            text.Gauge(
                "rookery_board_throttled",
                "1 when firmware or kernel report the condition: now, or at some time since the machine booted or "
                    + "this process began."
            );
            AddFlags(text, "now", reading.KnownFlags, reading.Now);
            AddFlags(text, "since_boot", reading.KnownFlags, reading.Now | reading.SinceBoot);
        }

        if (reading.FrequencyHertz is { } frequency)
        {
            text.Gauge("rookery_board_cpu_frequency_hertz", "The processor's frequency.").Sample(frequency);
        }

        if (reading.MaximumFrequencyHertz is { } maximum)
        {
            text.Gauge("rookery_board_cpu_frequency_maximum_hertz", "The processor's highest frequency.")
                .Sample(maximum);
        }

        AddStorage(text, devices);
    }

    private static void WriteFlags(Utf8JsonWriter json, string name, Throttling known, Throttling flags)
    {
        if (known == Throttling.None)
        {
            return;
        }

        json.WriteStartArray(name);
        WriteNames(json, flags);
        json.WriteEndArray();
    }

    /// <summary>Writes the names of the flags that are set, as values of an array.</summary>
    public static void WriteNames(Utf8JsonWriter json, Throttling flags)
    {
        foreach (var (flag, kind) in Flags)
        {
            if ((flags & flag) != Throttling.None)
            {
                json.WriteStringValue(kind);
            }
        }
    }

    private static void AddFlags(PrometheusText text, string when, Throttling known, Throttling flags)
    {
        foreach (var (flag, kind) in Flags)
        {
            if ((known & flag) != Throttling.None)
            {
                text.Sample((flags & flag) != Throttling.None ? 1 : 0, ("kind", kind), ("when", when));
            }
        }
    }

    private static void AddStorage(PrometheusText text, IReadOnlyList<StorageReading> devices)
    {
        AddKnown(
            text,
            devices,
            static text =>
                text.Counter(
                    "rookery_board_written_bytes_total",
                    "Bytes written to a device of data or journal since the machine booted, by all programs."
                ),
            static device => device.WrittenBytes
        );
        AddKnown(
            text,
            devices,
            static text =>
                text.Gauge(
                    "rookery_board_life_used_ratio",
                    "Used share of an eMMC's life at most, by the worse of its two kinds of cells; above 1 when it "
                        + "is exceeded."
                ),
            static device => device.LifeUsed
        );
        AddKnown(
            text,
            devices,
            static text =>
                text.Gauge(
                    "rookery_board_spare_blocks_used",
                    "How far an eMMC's spare blocks are used up: 1 normal, 2 over 80 %, 3 over 90 %."
                ),
            static device => device.SpareBlocksUsed
        );
        var cards = devices.Where(static device => device.Card is not null).ToArray();
        if (cards.Length > 0)
        {
            text.Gauge(
                "rookery_board_card_info",
                "1, with the identification of an SD card or eMMC as labels; empty where unknown."
            );
            foreach (var device in cards)
            {
                AddCard(text, device.Device, device.Card!);
            }
        }
    }

    private static void AddKnown(
        PrometheusText text,
        IReadOnlyList<StorageReading> devices,
        Action<PrometheusText> begin,
        Func<StorageReading, double?> read
    )
    {
        var known = devices.Where(device => read(device) is not null).ToArray();
        if (known.Length > 0)
        {
            begin(text);
            foreach (var device in known)
            {
                text.Sample(read(device)!.Value, ("device", device.Device));
            }
        }
    }

    private static void AddCard(PrometheusText text, string device, CardRegisters card) =>
        text.Sample(
            1,
            ("device", device),
            ("type", card.Type ?? string.Empty),
            ("name", card.Name ?? string.Empty),
            ("manufacturer", card.ManufacturerId ?? string.Empty),
            ("oem", card.OemId ?? string.Empty),
            ("date", card.Date ?? string.Empty),
            ("speed_class", TextOf(card.Classes?.Speed)),
            ("uhs_grade", TextOf(card.Classes?.Uhs)),
            ("video_class", TextOf(card.Classes?.Video)),
            ("application_class", TextOf(card.Classes?.Application))
        );

    private static string TextOf(int? value) => value?.ToString(CultureInfo.InvariantCulture) ?? string.Empty;
}
