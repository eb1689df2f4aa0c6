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
        Assert.Equal(TimeSpan.FromSeconds(10), await _light.StopIfDueAsync(CancellationToken.None));
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Null(await _light.StopIfDueAsync(CancellationToken.None));
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
        Assert.Null(await _light.StopIfDueAsync(CancellationToken.None));
        await request;
        Assert.Equal(Duration, await _light.StopIfDueAsync(CancellationToken.None));
        Assert.Equal((2, 1), (_begun, _ended));
    }

    [Fact]
    public async Task A_request_after_the_end_begins_the_blinking_anew()
    {
        await RequestAsync();
        _time.Advance(Duration);
        Assert.Null(await _light.StopIfDueAsync(CancellationToken.None));
        await RequestAsync();
        Assert.Equal(Duration, await _light.StopIfDueAsync(CancellationToken.None));
        Assert.Equal((2, 1), (_begun, _ended));
        await _light.StopAsync(CancellationToken.None);
        Assert.Equal(2, _ended);
    }

    [Fact]
    public async Task A_light_that_hangs_holds_one_thread()
    {
        using var hangs = new ManualResetEventSlim();
        var first = await BeginAndHangAsync(hangs);
        var second = RequestAsync(); // would not return if it waited with the thread
        Assert.False(second.IsCompleted);
        hangs.Set();
        await Task.WhenAll(first, second);
        Assert.Equal(0, _begun);
    }

    [Fact]
    public async Task Nobody_waits_for_a_light_that_hangs_after_leaving()
    {
        using var hangs = new ManualResetEventSlim();
        var first = await BeginAndHangAsync(hangs);
        using var leaving = new CancellationTokenSource();
        Task[] waiting =
        [
            RequestAsync(leaving.Token),
            _light.StopIfDueAsync(leaving.Token),
            _light.StopAsync(leaving.Token),
        ];
        Assert.All(waiting, static wait => Assert.False(wait.IsCompleted));
        await leaving.CancelAsync();
        foreach (var wait in waiting)
        {
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => wait);
        }

        hangs.Set();
        await first;
        await RequestAsync();
        Assert.Equal((0, 0), (_begun, _ended)); // the light of the first request still blinks
    }

    /// <summary>Begins the blinking with a light that hangs; returns the request when the light hangs.</summary>
    private async Task<Task> BeginAndHangAsync(ManualResetEventSlim hangs)
    {
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var request = Task.Run(() =>
            _light.BlinkForAsync(
                Duration,
                () =>
                {
                    begun.SetResult();
                    hangs.Wait();
                    return new Ending(() => _ended++);
                },
                CancellationToken.None
            )
        );
        await begun.Task;
        return request;
    }

    private Task RequestAsync(CancellationToken cancellation = default) =>
        _light.BlinkForAsync(
            Duration,
            () =>
            {
                _begun++;
                return new Ending(() => _ended++);
            },
            cancellation
        );

    private sealed class Ending(Action end) : IDisposable
    {
        public void Dispose() => end();
    }
}
