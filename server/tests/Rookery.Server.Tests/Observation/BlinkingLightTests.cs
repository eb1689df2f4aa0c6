using Rookery.Server.Observation;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Observation;

/// <summary>The light by which people find a board.</summary>
public sealed class BlinkingLightTests
{
    private static readonly TimeSpan Duration = TimeSpan.FromSeconds(30);

    private readonly SimulatedTimeProvider _time = new();
    private readonly BlinkingLight _light;
    private int _begun;
    private int _ended;

    public BlinkingLightTests() => _light = new BlinkingLight(_time);

    [Fact]
    public void A_request_extends_the_blinking()
    {
        Request();
        _time.Advance(TimeSpan.FromSeconds(20));
        Request();
        _time.Advance(TimeSpan.FromSeconds(20));
        Assert.Equal(TimeSpan.FromSeconds(10), _light.StopIfDue());
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Null(_light.StopIfDue());
        Assert.Equal((1, 1), (_begun, _ended));
    }

    [Fact]
    public void A_request_at_the_end_of_the_time_is_obeyed()
    {
        Request();
        _time.Advance(Duration);
        // The request comes when the end is checked.
        _time.BeforeRead = () =>
        {
            _time.BeforeRead = null;
            Request();
        };
        Assert.Equal(Duration, _light.StopIfDue());
        Assert.Equal((1, 0), (_begun, _ended));
    }

    [Fact]
    public void A_request_after_the_end_begins_the_blinking_anew()
    {
        Request();
        _time.Advance(Duration);
        Assert.Null(_light.StopIfDue());
        Request();
        Assert.Equal(Duration, _light.StopIfDue());
        Assert.Equal((2, 1), (_begun, _ended));
        _light.Stop();
        Assert.Equal(2, _ended);
    }

    private void Request() =>
        _light.BlinkFor(
            Duration,
            () =>
            {
                _begun++;
                return new Ending(() => _ended++);
            }
        );

    private sealed class Ending(Action end) : IDisposable
    {
        public void Dispose() => end();
    }
}
