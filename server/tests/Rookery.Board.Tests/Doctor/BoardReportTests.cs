using System.Text.Json;
using Rookery.Board.Doctor;

namespace Rookery.Board.Tests.Doctor;

/// <summary>The report on a board that its owner may publish.</summary>
public sealed class BoardReportTests
{
    [Fact]
    public void It_has_the_board_and_its_card_and_nothing_of_the_node_or_its_network()
    {
        var report = new BoardReport("0.2.0", HealthyMachine.Well)
        {
            Kernel = "7.3.4",
            NodeResidentBytes = 45_000_000,
            Boot = [new BootStage("rookery.service", 12.5)],
        };
        string text = report.ToJson();
        using var json = JsonDocument.Parse(text);
        var root = json.RootElement;
        Assert.Equal("Raspberry Pi 4 Model B Rev 1.4", root.GetProperty("Board").GetString());
        Assert.Equal(52, root.GetProperty("TemperatureCelsius").GetDouble());
        Assert.Equal(1, root.GetProperty("Storage")[0].GetProperty("ApplicationClass").GetInt32());
        Assert.Equal(20e6, root.GetProperty("Probe").GetProperty("BytesPerSecond").GetDouble());
        Assert.Equal(12.5, root.GetProperty("Boot")[0].GetProperty("Seconds").GetDouble());
        Assert.Equal(JsonValueKind.Null, root.GetProperty("Firmware").ValueKind);
        foreach (string secret in (string[])["192.168.1.1", "127.0.0.1", "/var/lib"])
        {
            Assert.DoesNotContain(secret, text, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void The_stages_of_a_boot_are_those_that_systemd_reached_in_order()
    {
        const string shown = """
            InitRDTimestampMonotonic=0
            UserspaceTimestampMonotonic=4500000

            Id=rookery.service
            ActiveEnterTimestampMonotonic=21000000

            Id=rookery-setup.service
            ActiveEnterTimestampMonotonic=9250000

            Id=rookery-found.service
            ActiveEnterTimestampMonotonic=0
            """;
        Assert.Equal(
            [
                new BootStage("Userspace", 4.5),
                new BootStage("rookery-setup.service", 9.25),
                new BootStage("rookery.service", 21),
            ],
            BootStage.Parse(shown)
        );
    }
}
