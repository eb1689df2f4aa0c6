using Rookery.Board;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Hot or undervolted boards, on members as in the program.</summary>
public sealed class HostBoardTests
{
    /// <summary>The time for which another board must be better before leadership is transferred.</summary>
    private const double PreferenceMilliseconds = 300_000;

    private static readonly BoardReading Hot = new() { TemperatureCelsius = 83 };

    [Theory]
    [InlineData(83.0, Throttling.None)]
    [InlineData(60.0, Throttling.Throttled)]
    [InlineData(null, Throttling.UnderVoltage)]
    public void A_leader_whose_board_is_worse_for_five_minutes_lets_another_lead(double? celsius, Throttling now)
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.A.Board.Next = new BoardReading { TemperatureCelsius = celsius, Now = now };
        cluster.RunFor(PreferenceMilliseconds * 0.9);
        Assert.Same(cluster.A, cluster.Leader);
        cluster.RunUntil(
            () => cluster.Leader is { } leader && leader != cluster.A,
            "a cooler member leads",
            seconds: 60
        );
        cluster.Put(cluster.A, "users/1");
    }

    [Fact]
    public void The_member_with_the_best_board_leads_next()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.A.Board.Next = new BoardReading { Now = Throttling.UnderVoltage };
        cluster.B.Board.Next = Hot;
        cluster.RunUntil(() => cluster.Leader == cluster.C, "the coolest member leads", seconds: 400);
    }

    [Fact]
    public void Equally_hot_boards_transfer_no_leadership()
    {
        using var cluster = SteppedCluster.Of(members: 3);
        cluster.Members.ForEach(static member => member.Board.Next = Hot);
        long term = cluster.A.Consensus!.Term;
        cluster.RunFor(PreferenceMilliseconds * 1.5);
        Assert.Same(cluster.A, cluster.Leader);
        Assert.Equal(term, cluster.A.Consensus.Term);
    }
}
