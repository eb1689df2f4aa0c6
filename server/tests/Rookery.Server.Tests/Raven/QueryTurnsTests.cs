using Rookery.Indexing.Language;
using Rookery.Server.Raven.Queries;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

public sealed class QueryTurnsTests
{
    private readonly SimulatedTimeProvider _time = new();

    [Fact]
    public async Task A_turn_is_over_after_its_time_of_work_and_waiting_is_none()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, CancellationToken.None);
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
    public async Task A_query_that_used_its_time_up_is_refused()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, CancellationToken.None);
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
    public async Task A_query_whose_client_left_ends()
    {
        var turns = new QueryTurns(_time, QueryTurns.Budget, new CancellationToken(canceled: true));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await turns.YieldAsync());
    }
}
