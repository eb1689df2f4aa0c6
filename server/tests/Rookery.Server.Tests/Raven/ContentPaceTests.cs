using System.IO.Pipelines;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Attachments;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>The rate at which the contents of a bulk insert must arrive.</summary>
public sealed class ContentPaceTests : IDisposable
{
    // Longest wait for what must happen, by the real clock.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(1);

    private readonly SimulatedTimeProvider _time = new();
    private readonly Pipe _body = new(new PipeOptions(pauseWriterThreshold: 0));
    private readonly ContentPace _pace;

    public ContentPaceTests()
    {
        _pace = new ContentPace(_time, _body.Reader);
        _pace.Begin();
    }

    public void Dispose() => _pace.Dispose();

    [Fact]
    public async Task A_content_that_arrives_at_the_minimum_rate_is_read_to_its_end()
    {
        for (int second = 0; second < 600; second++)
        {
            Assert.False((await ReadAsync(TimeSpan.FromSeconds(1), SlowBodies.BytesPerSecond)).IsCanceled);
        }
    }

    [Fact]
    public async Task A_content_that_trickles_is_ended_after_ten_seconds()
    {
        int seconds = 0;
        while (!(await ReadAsync(TimeSpan.FromSeconds(1), bytes: 1)).IsCanceled)
        {
            seconds++;
            Assert.InRange(seconds, 0, 11);
        }

        Assert.InRange(seconds, 9, 10);
    }

    [Fact]
    public async Task A_content_that_came_fast_may_be_silent_for_a_minute_and_no_longer()
    {
        Assert.False((await ReadAsync(TimeSpan.Zero, 64 << 20)).IsCanceled);
        Assert.False((await ReadAsync(ContentPace.MaxCredit - TimeSpan.FromSeconds(1), 1 << 20)).IsCanceled);
        Assert.True((await ReadAsync(2 * ContentPace.MaxCredit, bytes: 1)).IsCanceled);
    }

    [Fact]
    public async Task The_next_content_has_the_whole_delay_again()
    {
        Assert.False((await ReadAsync(SlowBodies.MaxDelay - TimeSpan.FromSeconds(1), bytes: 1)).IsCanceled);
        _pace.Begin();
        Assert.False((await ReadAsync(SlowBodies.MaxDelay - TimeSpan.FromSeconds(1), bytes: 1)).IsCanceled);
    }

    /// <summary>A heartbeat between two elements may come after 40 s.</summary>
    [Fact]
    public async Task No_read_is_cancelled_after_the_end_of_a_content()
    {
        Assert.False((await ReadAsync(TimeSpan.FromSeconds(1), bytes: 1)).IsCanceled);
        var reading = _body.Reader.ReadAsync();
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(reading.IsCompleted);
    }

    /// <summary>Formerly, it cancelled the next read, for example for a heartbeat.</summary>
    [Fact]
    public async Task An_end_that_comes_just_after_the_read_does_not_cancel_the_next_one()
    {
        using var pace = new ContentPace(new LateTimers(), _body.Reader);
        pace.Begin();
        var reading = pace.WaitAsync(_body.Reader.ReadAsync()).AsTask();
        await _body.Writer.WriteAsync(new byte[1]);
        var read = await reading;
        _body.Reader.AdvanceTo(read.Buffer.End);
        Assert.False(read.IsCanceled);
        Assert.False(_body.Reader.ReadAsync().AsTask().IsCompleted);
    }

    [Fact]
    public async Task An_end_that_arrives_during_the_next_read_does_not_cancel_it()
    {
        var stale = new StaleTimers(_time);
        using var pace = new ContentPace(stale, _body.Reader);
        pace.Begin();
        var reading = pace.WaitAsync(_body.Reader.ReadAsync()).AsTask();
        stale.Fire();
        Assert.False(reading.IsCompleted);
        _time.Advance(SlowBodies.MaxDelay);
        stale.Fire();
        Assert.True((await reading.WaitAsync(Guard)).IsCanceled);
    }

    [Fact]
    public async Task A_read_that_completes_while_it_is_cancelled_counts_as_too_slow()
    {
        var arriving = new TaskCompletionSource<ReadResult>();
        var reading = _pace.WaitAsync(new ValueTask<ReadResult>(arriving.Task)).AsTask();
        _time.Advance(SlowBodies.MaxDelay);
        arriving.SetResult(new ReadResult(buffer: default, isCanceled: false, isCompleted: false));
        Assert.True((await reading).IsCanceled);
    }

    // Reads bytes that arrive after some time.
    private async Task<ReadResult> ReadAsync(TimeSpan delay, int bytes)
    {
        var reading = _pace.WaitAsync(_body.Reader.ReadAsync()).AsTask();
        _time.Advance(delay);
        if (!reading.IsCompleted)
        {
            await _body.Writer.WriteAsync(new byte[bytes]);
        }

        var read = await reading.WaitAsync(Guard);
        _body.Reader.AdvanceTo(read.Buffer.End);
        return read;
    }

    /// <summary>A clock whose timer fires only when the test says so.</summary>
    private sealed class StaleTimers(TimeProvider time) : TimeProvider
    {
        private Action? _fire;

        public override long TimestampFrequency => time.TimestampFrequency;

        public override long GetTimestamp() => time.GetTimestamp();

        public void Fire() => _fire!();

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _fire = () => callback(state);
            return time.CreateTimer(static _ => { }, state: null, dueTime, period);
        }
    }

    /// <summary>A clock whose timers fire when they are stopped: their callbacks had begun before.</summary>
    private sealed class LateTimers : TimeProvider
    {
        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            new LateTimer(() => callback(state));

        private sealed class LateTimer(Action fire) : ITimer
        {
            public bool Change(TimeSpan dueTime, TimeSpan period)
            {
                if (dueTime == Timeout.InfiniteTimeSpan)
                {
                    fire();
                }

                return true;
            }

            public void Dispose() { }

            public ValueTask DisposeAsync() => ValueTask.CompletedTask;
        }
    }
}
