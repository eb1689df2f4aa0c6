using System.Buffers;
using System.Text.Json;
using Rookery.Board;
using Rookery.Server.Operations;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The readings of a board in /metrics and in /readyz?verbose.</summary>
public sealed class BoardHealthTests
{
    private static SimulatedBoard CreateBoard() =>
        new()
        {
            SerialNumber = "10000000f00dcafe",
            Next = new BoardReading
            {
                TemperatureCelsius = 83.25,
                KnownFlags = Throttling.All,
                Now = Throttling.Throttled,
                SinceBoot = Throttling.UnderVoltage,
                FrequencyHertz = 600_000_000,
                MaximumFrequencyHertz = 1_800_000_000,
            },
            Storage =
            [
                new StorageReading("mmcblk0")
                {
                    WrittenBytes = 4096,
                    LifeUsedA = 0.2,
                    LifeUsedB = 0.3,
                    SpareBlocksUsed = 1,
                    Card = new CardRegisters(
                        "SD",
                        "SC32G",
                        "0x000003",
                        "0x5344",
                        "04/2023",
                        new SdClasses(Speed: 10, Uhs: 1, Video: 10, Application: null)
                    ),
                },
                new StorageReading("nvme0n1"),
            ],
        };

    [Fact]
    public void Every_reading_of_a_board_is_a_sample_in_base_units()
    {
        using var watch = new BoardWatch(CreateBoard(), new SimulatedTimeProvider());
        string metrics = MetricsOf(watch);
        string[] expected =
        [
            "rookery_board_info{model=\"simulated\",simulated=\"true\"} 1",
            "rookery_board_temperature_celsius 83.25",
            "rookery_board_throttled{kind=\"throttled\",when=\"now\"} 1",
            "rookery_board_throttled{kind=\"under_voltage\",when=\"now\"} 0",
            "rookery_board_throttled{kind=\"under_voltage\",when=\"since_boot\"} 1",
            "rookery_board_throttled{kind=\"soft_temperature_limit\",when=\"since_boot\"} 0",
            "rookery_board_cpu_frequency_hertz 600000000",
            "rookery_board_cpu_frequency_maximum_hertz 1800000000",
            "rookery_board_written_bytes_total{device=\"mmcblk0\"} 4096",
            "rookery_board_life_used_ratio{device=\"mmcblk0\"} 0.3",
            "rookery_board_spare_blocks_used{device=\"mmcblk0\"} 1",
            "rookery_board_card_info{device=\"mmcblk0\",type=\"SD\",name=\"SC32G\",manufacturer=\"0x000003\","
                + "oem=\"0x5344\",date=\"04/2023\",speed_class=\"10\",uhs_grade=\"1\",video_class=\"10\","
                + "application_class=\"\"} 1",
        ];
        Assert.All(expected, sample => Assert.Contains("\n" + sample + "\n", metrics, StringComparison.Ordinal));
        Assert.DoesNotContain("nvme0n1", metrics, StringComparison.Ordinal); // a device without readings
        Assert.DoesNotContain("f00dcafe", metrics, StringComparison.Ordinal); // the board's serial number
    }

    [Fact]
    public void Unknown_readings_have_no_sample()
    {
        using var watch = new BoardWatch(new SimulatedBoard(), new SimulatedTimeProvider());
        // Only help, type and sample of rookery_board_info.
        Assert.Equal(3, MetricsOf(watch).Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
    }

    [Fact]
    public void The_health_says_what_is_wrong_and_that_the_board_is_simulated()
    {
        using var watch = new BoardWatch(CreateBoard(), new SimulatedTimeProvider());
        var health = HealthOf(watch).GetProperty("Board");
        Assert.StartsWith(
            "(Simulated board.) The firmware throttles the processor because of heat or low power (83 °C now).",
            health.GetProperty("Trouble").GetString(),
            StringComparison.Ordinal
        );
        Assert.True(health.GetProperty("IsSimulated").GetBoolean());
        Assert.Equal(["throttled"], health.GetProperty("Now").EnumerateArray().Select(static flag => flag.GetString()));
        Assert.Equal(
            ["under_voltage", "throttled"],
            health.GetProperty("SinceBoot").EnumerateArray().Select(static flag => flag.GetString())
        );

        using var unknown = new BoardWatch(new SimulatedBoard(), new SimulatedTimeProvider());
        health = HealthOf(unknown).GetProperty("Board");
        Assert.Equal(JsonValueKind.Null, health.GetProperty("Trouble").ValueKind);
        Assert.False(health.TryGetProperty("TemperatureCelsius", out _));
        Assert.False(health.TryGetProperty("Now", out _));
    }

    private static string MetricsOf(BoardWatch watch)
    {
        var text = new PrometheusText();
        BoardHealth.Add(text, watch, watch.Board.ReadStorage());
        return text.ToString();
    }

    private static JsonElement HealthOf(BoardWatch watch)
    {
        var bytes = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(bytes))
        {
            json.WriteStartObject();
            BoardHealth.Write(json, watch);
            json.WriteEndObject();
        }

        using var health = JsonDocument.Parse(bytes.WrittenMemory);
        return health.RootElement.Clone();
    }
}
