using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Queries;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Long queries work in slices of time, yield to other requests between them, and have a limit for all slices together.
/// </summary>
public sealed class QueryTimeSlicesTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly List<DocumentResponse> _answers = [];

    public void Dispose() => _answers.ForEach(static answer => answer.Dispose());

    [Fact]
    public async Task A_slice_ends_after_its_working_time_without_waits()
    {
        var slices = new QueryTimeSlices(_time, QueryTimeSlices.MaxWork, CreateUnreadResponse());
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(slices.IsSliceOver);
        slices.CheckLimits();
        slices.StartClock();
        _time.Advance(QueryTimeSlices.SliceLength);
        Assert.False(slices.IsSliceOver);
        slices.StopClock();
        _time.Advance(TimeSpan.FromHours(1));
        slices.StartClock();
        Assert.False(slices.IsSliceOver);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(slices.IsSliceOver);
        await slices.YieldAsync();
        Assert.False(slices.IsSliceOver);
    }

    [Fact]
    public async Task A_query_that_used_up_its_time_is_refused()
    {
        var slices = new QueryTimeSlices(_time, QueryTimeSlices.MaxWork, CreateUnreadResponse());
        slices.StartClock();
        for (var worked = TimeSpan.Zero; worked < QueryTimeSlices.MaxWork; worked += TimeSpan.FromSeconds(1))
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            await slices.YieldAsync();
        }

        slices.CheckLimits();
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(QueryFault.TooCostly, Assert.Throws<QueryException>(slices.CheckLimits).Fault);
    }

    [Fact]
    public void Concurrent_long_searches_are_limited()
    {
        // Three searches begin at the same time and become long; two of them have places.
        var searches = new LongSearches(places: 2);
        QueryTimeSlices[] slices =
        [
            .. Enumerable
                .Range(0, 4)
                .Select(_ => new QueryTimeSlices(_time, QueryTimeSlices.MaxWork, CreateUnreadResponse(), searches)),
        ];
        using var first = slices[0].StartSearch();
        var second = slices[1].StartSearch();
        var third = slices[2].StartSearch();
        _time.Advance(LongSearches.LongAfter);
        Array.ForEach(slices[..3], static slice => slice.CheckLimits());
        _time.Advance(TimeSpan.FromSeconds(1));
        // The second check of a search needs no second place.
        slices[0].CheckLimits();
        slices[0].CheckLimits();
        slices[1].CheckLimits();
        var refusal = Assert.Throws<QueryException>(slices[2].CheckLimits);
        Assert.Equal(RejectionKind.Overloaded, refusal.Rejection?.Kind);
        Assert.Equal(429, QueryRefusal.Of(refusal, "").Status);
        Assert.Contains("already runs 2 searches", refusal.Message, StringComparison.Ordinal);
        third.Dispose();

        // A search that has ended, or has not lasted long, needs no place.
        slices[2].CheckLimits();
        using var fourth = slices[3].StartSearch();
        slices[3].CheckLimits();
        _time.Advance(TimeSpan.FromSeconds(3));
        Assert.Throws<QueryException>(slices[3].CheckLimits);
        second.Dispose();
        slices[3].CheckLimits();
    }

    [Fact]
    public void A_query_ends_when_the_node_stops()
    {
        using var stopping = new CancellationTokenSource();
        var slices = new QueryTimeSlices(
            _time,
            QueryTimeSlices.MaxWork,
            CreateUnreadResponse(),
            stopping: stopping.Token
        );
        slices.CheckLimits();
        stopping.Cancel();
        Assert.Throws<OperationCanceledException>(slices.CheckLimits);
    }

    [Fact]
    public async Task A_query_whose_client_left_ends()
    {
        var slices = new QueryTimeSlices(
            _time,
            QueryTimeSlices.MaxWork,
            CreateUnreadResponse(new CancellationToken(canceled: true))
        );
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await slices.YieldAsync());
    }

    /// <summary>Returns a response that nobody reads.</summary>
    private DocumentResponse CreateUnreadResponse(CancellationToken clientLeft = default)
    {
        var http = new DefaultHttpContext { RequestAborted = clientLeft };
        _answers.Add(new DocumentResponse(http, new LargeRequests(new MemoryBudget(64 << 20), _time)));
        return _answers[^1];
    }
}
