using Rookery.Server.Observation;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Observation;

/// <summary>The light by which people find a board.</summary>
public sealed class BlinkingLightTests : IDisposable
{
    private static readonly TimeSpan Duration = TimeSpan.FromSeconds(30);

    private readonly SimulatedTimeProvider _time = new();
    private readonly SemaphoreSlim _turn = new(1);
    private readonly BlinkingLight _light;
    private int _begun;
    private int _ended;

    public BlinkingLightTests() => _light = new BlinkingLight(_time, _turn);

    public void Dispose() => _turn.Dispose();

    [Fact]
    public async Task A_request_extends_the_blinking()
    {
        await RequestAsync();
        _time.Advance(TimeSpan.FromSeconds(20));
        await RequestAsync();
        _time.Advance(TimeSpan.FromSeconds(20));
        Assert.Equal(TimeSpan.FromSeconds(10), await _light.StopIfDueAsync());
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Null(await _light.StopIfDueAsync());
        Assert.Equal((1, 1), (_begun, _ended));
    }

    [Fact]
    public async Task A_request_at_the_end_of_the_time_is_obeyed()
    {
        await RequestAsync();
        _time.Advance(Duration);
        // The request comes when the end is checked.
        var request = Task.CompletedTask;
        _time.BeforeRead = () =>
        {
            _time.BeforeRead = null;
            request = RequestAsync();
        };
        Assert.Null(await _light.StopIfDueAsync());
        await request;
        Assert.Equal(Duration, await _light.StopIfDueAsync());
        Assert.Equal((2, 1), (_begun, _ended));
    }

    [Fact]
    public async Task A_request_after_the_end_begins_the_blinking_anew()
    {
        await RequestAsync();
        _time.Advance(Duration);
        Assert.Null(await _light.StopIfDueAsync());
        await RequestAsync();
        Assert.Equal(Duration, await _light.StopIfDueAsync());
        Assert.Equal((2, 1), (_begun, _ended));
        await _light.StopAsync();
        Assert.Equal(2, _ended);
    }

    [Fact]
    public async Task A_light_that_hangs_holds_one_thread()
    {
        using var hangs = new ManualResetEventSlim();
        using var begins = new SemaphoreSlim(0);
        var first = Task.Run(() =>
            _light.BlinkForAsync(
                Duration,
                () =>
                {
                    begins.Release();
                    hangs.Wait();
                    return new Ending(() => _ended++);
                }
            )
        );
        await begins.WaitAsync();
        var second = RequestAsync(); // would not return if it waited with the thread
        Assert.False(second.IsCompleted);
        hangs.Set();
        await Task.WhenAll(first, second);
        Assert.Equal(0, _begun);
    }

    private Task RequestAsync() =>
        _light.BlinkForAsync(
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
