using Rookery.Simulation;

namespace Rookery.Board.Tests;

/// <summary>What the program does about heat and throttling, and how long it reports them.</summary>
public sealed class BoardPolicyTests
{
    [Theory]
    [InlineData(null, 0.25)]
    [InlineData(40.0, 0.5)]
    [InlineData(69.9, 0.5)]
    [InlineData(70.0, 0.25)]
    [InlineData(75.0, 0.1)]
    [InlineData(80.0, 0.0)]
    [InlineData(95.0, 0.0)]
    public void Background_work_slows_down_in_steps_with_heat(double? celsius, double share) =>
        Assert.Equal(share, BoardPolicy.BackgroundShareOf(new BoardReading { TemperatureCelsius = celsius }));

    [Theory]
    [InlineData(Throttling.Throttled, 0.0)]
    [InlineData(Throttling.FrequencyCapped, 0.0)]
    [InlineData(Throttling.SoftTemperatureLimit, 0.5)]
    public void Background_work_pauses_while_the_firmware_throttles(Throttling now, double share) =>
        Assert.Equal(share, BoardPolicy.BackgroundShareOf(new BoardReading { TemperatureCelsius = 50, Now = now }));

    [Fact]
    public void A_trouble_is_reported_for_five_minutes_after_its_last_reading()
    {
        var (time, board) = (
            new SimulatedTimeProvider(),
            new SimulatedBoard
            {
                Next = new BoardReading
                {
                    TemperatureCelsius = 60,
                    KnownFlags = Throttling.All,
                    Now = Throttling.UnderVoltage,
                },
            }
        );
        using var watch = new BoardWatch(board, time);
        board.Next = new BoardReading { TemperatureCelsius = 60, KnownFlags = Throttling.All };
        time.Advance(TimeSpan.FromSeconds(290));
        Assert.Equal(BoardCondition.UnderVoltage, watch.Condition);
        Assert.StartsWith(
            "(Simulated board.) The board's supply voltage fell below",
            watch.Trouble,
            StringComparison.Ordinal
        );
        time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(BoardCondition.Well, watch.Condition);
        Assert.Null(watch.Trouble);
        Assert.Equal(Throttling.UnderVoltage, watch.Reading.SinceBoot);
    }

    [Fact]
    public void A_board_is_read_six_times_a_minute_until_the_watch_is_disposed()
    {
        var (time, board) = (new SimulatedTimeProvider(), new SimulatedBoard());
        int samples = 0;
        using (var watch = new BoardWatch(board, time) { Sampled = _ => samples++ })
        {
            time.Advance(TimeSpan.FromMinutes(1));
            Assert.Equal((7, 6), (board.Reads, samples)); // the constructor reads the board without a sample
        }

        time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(7, board.Reads);
        Assert.True(board.IsDisposed);
    }

    [Fact]
    public void A_reading_that_is_in_progress_at_the_end_is_the_last_one_and_closes_the_board()
    {
        var (time, board) = (new SimulatedTimeProvider(), new SimulatedBoard());
        using var watch = new BoardWatch(board, time) { Sampled = static sampled => sampled.Dispose() };
        Assert.False(board.IsDisposed);
        time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(2, board.Reads);
        Assert.True(board.IsDisposed);
    }
}
