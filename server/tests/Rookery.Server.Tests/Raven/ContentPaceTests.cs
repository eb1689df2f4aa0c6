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
}
