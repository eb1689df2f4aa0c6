using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Queries;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

public sealed class QueryTurnsTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly List<DocumentAnswer> _answers = [];

    public void Dispose() => _answers.ForEach(static answer => answer.Dispose());

    [Fact]
    public async Task A_turn_ends_after_its_working_time_without_waits()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, Sink());
        _time.Advance(TimeSpan.FromHours(1));
        Assert.False(turns.IsOver);
        turns.OnWork();
        turns.Begin();
        _time.Advance(QueryTurns.Turn);
        Assert.False(turns.IsOver);
        turns.End();
        _time.Advance(TimeSpan.FromHours(1));
        turns.Begin();
        Assert.False(turns.IsOver);
        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(turns.IsOver);
        await turns.YieldAsync();
        Assert.False(turns.IsOver);
    }

    [Fact]
    public async Task A_query_that_used_up_its_time_is_refused()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, Sink());
        turns.Begin();
        for (var worked = TimeSpan.Zero; worked < QueryTurns.Budget; worked += TimeSpan.FromSeconds(1))
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            await turns.YieldAsync();
        }

        turns.OnWork();
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(QueryFault.TooCostly, Assert.Throws<QueryException>(turns.OnWork).Fault);
    }

    [Fact]
    public void Concurrent_long_searches_are_limited()
    {
        var searches = new LongSearches(2);
        QueryTurns[] turns =
        [
            .. Enumerable.Range(0, 4).Select(_ => new QueryTurns(_time, QueryTurns.Budget, Sink(), searches)),
        ];
        using var first = turns[0].BeginSearch();
        var second = turns[1].BeginSearch();
        var third = turns[2].BeginSearch();
        _time.Advance(LongSearches.LongAfter);
        Array.ForEach(turns[..3], static one => one.OnWork());
        _time.Advance(TimeSpan.FromSeconds(1));
        turns[0].OnWork();
        turns[0].OnWork();
        turns[1].OnWork();
        var refusal = Assert.Throws<QueryException>(turns[2].OnWork);
        Assert.Equal(RejectionKind.Overloaded, refusal.Rejection?.Kind);
        Assert.Equal(429, QueryRefusal.Of(refusal, "").Status);
        Assert.Contains("already runs 2 searches", refusal.Message, StringComparison.Ordinal);
        third.Dispose();

        // A search that has ended, or has not lasted long, needs no place.
        turns[2].OnWork();
        using var fourth = turns[3].BeginSearch();
        turns[3].OnWork();
        _time.Advance(TimeSpan.FromSeconds(3));
        Assert.Throws<QueryException>(turns[3].OnWork);
        second.Dispose();
        turns[3].OnWork();
    }

    [Fact]
    public void A_query_ends_when_the_node_stops()
    {
        using var stopping = new CancellationTokenSource();
        var turns = new QueryTurns(_time, QueryTurns.Budget, Sink(), stopping: stopping.Token);
        turns.OnWork();
        stopping.Cancel();
        Assert.Throws<OperationCanceledException>(turns.OnWork);
    }

    [Fact]
    public async Task A_query_whose_client_left_ends()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, Sink(new CancellationToken(canceled: true)));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await turns.YieldAsync());
    }

    private DocumentAnswer Sink(CancellationToken left = default)
    {
        var http = new DefaultHttpContext { RequestAborted = left };
        _answers.Add(new DocumentAnswer(http, new LargeRequests(new MemoryBudget(64 << 20), _time)));
        return _answers[^1];
    }
}
