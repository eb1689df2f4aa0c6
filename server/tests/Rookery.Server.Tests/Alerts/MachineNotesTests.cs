using Rookery.Server.Alerts;

namespace Rookery.Server.Tests.Alerts;

/// <summary>Tests how reports of other programs are read.</summary>
public sealed class MachineNotesTests
{
    [Fact]
    public void The_release_of_the_image_and_the_time_of_its_packages_are_read()
    {
        var notes = MachineNotes.Parse(
            "# TYPE rookery_image_info gauge\nrookery_image_info{release=\"0.2.0+os20261126.1412\"} 1\n"
                + "rookery_image_packages_timestamp_seconds 1795702320\nrookery_slot_on_trial 0\n"
        );
        Assert.Equal("0.2.0+os20261126.1412", notes.ImageRelease);
        Assert.Equal(new DateTimeOffset(2026, 11, 26, 14, 12, 0, TimeSpan.Zero), notes.PackagesLocked);
        Assert.False(notes.IsSlotOnTrial);
    }

    [Theory]
    [InlineData("rookery_image_info{release=\"\"} 1")]
    [InlineData("rookery_image_info{release=\"a<b>\"} 1")]
    [InlineData("rookery_image_info 1")]
    [InlineData("rookery_image_packages_timestamp_seconds 1e300")]
    [InlineData("rookery_image_packages_timestamp_seconds NaN")]
    [InlineData("rookery_image_packages_timestamp_seconds -5")]
    public void Invalid_releases_and_times_are_ignored(string line)
    {
        var notes = MachineNotes.Parse(line);
        Assert.Null(notes.ImageRelease);
        Assert.Null(notes.PackagesLocked);
    }
}
