using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>The free space that a node keeps, below which it stops growing.</summary>
public sealed class SpaceReserveTests
{
    private const int Page = 4096;
    private readonly SimulatedTimeProvider _clock = new();
    private readonly SimulatedDisk _disk = new("/data") { CapacityBytes = 100 * Page };

    [Theory]
    [InlineData(1L << 30, 256L << 20)]
    [InlineData(100L << 30, 5L << 30)]
    public void The_reserve_is_the_larger_of_256_MiB_and_five_percent(long totalBytes, long reserve) =>
        Assert.Equal(reserve, ReserveRule.Default.BytesOf(totalBytes));

    [Fact]
    public void Growth_stops_below_the_reserve_and_resumes_a_little_above_it()
    {
        // The reserve is 16 of 100 pages. Once growth has stopped, it resumes at 17.
        var reserve = new SpaceReserve(
            _disk,
            "/data",
            new ReserveRule(Bytes: 16 * Page, Fraction: 0.05),
            TimeSpan.FromSeconds(1),
            _clock
        );
        using var file = _disk.Open("/data/a", DiskOpen.CreateNew);

        file.Allocate(84 * Page);
        Assert.Equal(new ReserveState(FreeBytes: 16 * Page, NeededBytes: 16 * Page), ReadNextState());
        Assert.True(ReadNextState().AllowsGrowth);
        file.Allocate(85 * Page);
        Assert.Equal(new ReserveState(FreeBytes: 15 * Page, NeededBytes: 17 * Page), ReadNextState());
        Assert.False(ReadNextState().AllowsGrowth);
        file.SetLength(84 * Page);
        Assert.False(ReadNextState().AllowsGrowth);
        file.SetLength(83 * Page);
        Assert.Equal(new ReserveState(FreeBytes: 17 * Page, NeededBytes: 16 * Page), ReadNextState());
        Assert.True(ReadNextState().AllowsGrowth);

        ReserveState ReadNextState()
        {
            _clock.Advance(TimeSpan.FromSeconds(1)); // the interval of the queries
            return reserve.State with { TotalBytes = 0 };
        }
    }

    [Fact]
    public void The_file_system_is_queried_once_an_interval_and_on_demand()
    {
        var reserve = new SpaceReserve(
            _disk,
            "/data",
            new ReserveRule(Bytes: 16 * Page, Fraction: 0),
            TimeSpan.FromSeconds(5),
            _clock
        );
        using var file = _disk.Open("/data/a", DiskOpen.CreateNew);
        file.Allocate(90 * Page);
        _clock.Advance(TimeSpan.FromSeconds(4));
        Assert.True(reserve.State.AllowsGrowth);
        reserve.QueryNow();
        Assert.False(reserve.State.AllowsGrowth);
        file.SetLength(0);
        _clock.Advance(TimeSpan.FromSeconds(5));
        Assert.True(reserve.State.AllowsGrowth);
    }

    [Fact]
    public void The_last_state_is_kept_while_the_file_system_cannot_be_queried()
    {
        using var directory = new TemporaryDirectory();
        string inner = directory["inner"];
        var real = new PosixDisk();
        real.CreateDirectory(inner);
        var reserve = new SpaceReserve(
            real,
            inner,
            new ReserveRule(Bytes: 1, Fraction: 0),
            TimeSpan.FromSeconds(1),
            _clock
        );
        var before = reserve.State;
        real.DeleteDirectory(inner);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(before, reserve.State);
        reserve.QueryNow();
        Assert.Equal(before, reserve.State);
    }
}
