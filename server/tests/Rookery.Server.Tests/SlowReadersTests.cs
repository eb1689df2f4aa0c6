using System.IO.Pipelines;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Rookery.Server.Tests;

/// <summary>What answers hold whose clients do not take them.</summary>
public sealed class SlowReadersTests
{
    private readonly RecordedLog _log = new();

    [Fact]
    public async Task Who_waits_longest_is_broken_off_when_all_hold_more_than_they_may()
    {
        var readers = new SlowReaders(250, _log);
        var (first, second, third) = (new Reader(), new Reader(), new Reader());
        var waits = new[] { first, second, third }
            .Select(reader => readers.WaitAsync(reader.Http, 100, new(reader.Taken.Task)).AsTask())
            .ToList();
        Assert.Equal([true, false, false], new[] { first, second, third }.Select(static reader => reader.IsAborted));
        Assert.Single(_log.Lines, static line => line.Contains("hold 250 B of memory", StringComparison.Ordinal));

        // Who was broken off counts no more, and who has taken its part neither.
        first.Taken.SetResult(default);
        second.Taken.SetResult(default);
        await waits[0];
        await waits[1];
        var (fourth, fifth) = (new Reader(), new Reader());
        _ = readers.WaitAsync(fourth.Http, 100, new(fourth.Taken.Task)).AsTask();
        Assert.False(third.IsAborted);
        _ = readers.WaitAsync(fifth.Http, 100, new(fifth.Taken.Task)).AsTask();
        Assert.Equal((true, false, false), (third.IsAborted, fourth.IsAborted, fifth.IsAborted));
    }

    [Fact]
    public void An_answer_larger_than_all_may_hold_is_not_broken_off_for_itself()
    {
        var reader = new Reader();
        _ = new SlowReaders(250, _log).WaitAsync(reader.Http, 1000, new(reader.Taken.Task)).AsTask();
        Assert.False(reader.IsAborted);
    }

    /// <summary>A client that takes nothing until it is told to.</summary>
    private sealed class Reader : IHttpRequestLifetimeFeature
    {
        public Reader()
        {
            Http = new DefaultHttpContext();
            Http.Features.Set<IHttpRequestLifetimeFeature>(this);
        }

        public HttpContext Http { get; }

        public TaskCompletionSource<FlushResult> Taken { get; } = new();

        public bool IsAborted { get; private set; }

        public CancellationToken RequestAborted { get; set; }

        public void Abort() => IsAborted = true;
    }
}
