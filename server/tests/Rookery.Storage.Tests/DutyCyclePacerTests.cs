using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>Pauses between pieces of background work, so that it uses only its share of one core.</summary>
public sealed class DutyCyclePacerTests
{
    [Theory]
    [InlineData(1.0, 0)]
    [InlineData(0.5, 10)]
    [InlineData(0.25, 30)]
    [InlineData(0.1, 90)]
    [InlineData(0.0, 190)] // as with a share of 0.05
    public void Work_pauses_in_proportion_to_its_share(double share, int pauseMilliseconds)
    {
        using var pacer = new DutyCyclePacer(new SimulatedTimeProvider()) { Share = share };
        Assert.Equal(
            pauseMilliseconds,
            pacer.RestAfter(TimeSpan.FromMilliseconds(10)).TotalMilliseconds,
            tolerance: 0.01
        );
        Assert.Equal(share <= 0, pacer.IsPaused);
    }

    [Fact]
    public void No_pause_exceeds_two_seconds()
    {
        using var pacer = new DutyCyclePacer(new SimulatedTimeProvider()) { Share = 0 };
        Assert.Equal(TimeSpan.FromSeconds(2), pacer.RestAfter(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void Idle_time_before_a_piece_of_work_causes_no_pause()
    {
        var time = new SimulatedTimeProvider();
        using var pacer = new DutyCyclePacer(time) { Share = 0.5 };
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.FromSeconds(1), pacer.NextPause());
        pacer.BeginPiece();
        Assert.Equal(TimeSpan.Zero, pacer.NextPause());
    }

    [Fact]
    public void EndPause_ends_one_pause_and_Dispose_ends_all()
    {
        var pacer = new DutyCyclePacer(new SimulatedTimeProvider());
        Assert.False(pacer.Rest(TimeSpan.Zero)); // true if the pause was ended early
        pacer.EndPause();
        Assert.True(pacer.Rest(TimeSpan.FromMinutes(1)));
        Assert.False(pacer.Rest(TimeSpan.Zero));
        pacer.Dispose();
        Assert.True(pacer.Rest(TimeSpan.FromMinutes(1)));
        Assert.True(pacer.Rest(TimeSpan.FromMinutes(1)));
    }
}
