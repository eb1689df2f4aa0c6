using Rookery.Indexing.Scheduling;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Kinds of work take turns in proportion to their weights.</summary>
public class WeightedTurnsTests
{
    // The weights of the kinds, and the kinds (from 0) that get the turns.
    [Theory]
    [InlineData("1 1 1", "012012012012")]
    [InlineData("3 1", "001000100010")]
    [InlineData("3 1 1", "010200102001")]
    [InlineData("1 3 1", "101211012110")]
    [InlineData("3 3 1", "012010101201")]
    [InlineData("0 3 1", "112111211121")]
    [InlineData("0 0 1", "222222222222")]
    public void Turns_follow_the_weights(string weights, string expected)
    {
        int[] shares = [.. weights.Split(' ').Select(int.Parse)];
        var turns = new WeightedTurns(shares.Length);
        Assert.Equal(expected, string.Concat(Enumerable.Range(0, expected.Length).Select(_ => turns.Next(shares))));
    }

    [Fact]
    public void No_kind_gets_a_turn_without_work() => Assert.Equal(-1, new WeightedTurns(2).Next([0, 0]));

    [Fact]
    public void A_kind_without_work_saves_no_turns()
    {
        var turns = new WeightedTurns(2);
        Assert.Equal(0, turns.Next([3, 1]));
        Assert.Equal(0, turns.Next([3, 1]));
        Assert.Equal(0, turns.Next([3, 0]));
        Assert.Equal(0, turns.Next([3, 1]));
    }

    [Fact]
    public void Every_kind_with_a_weight_gets_turns()
    {
        var random = new Random(1);
        var turns = new WeightedTurns(3);
        int waited = 0;
        for (int turn = 0; turn < 10_000; turn++)
        {
            waited = turns.Next([random.Next(4), random.Next(4), 1]) == 2 ? 0 : waited + 1;
            Assert.True(waited < 16, $"The third kind has waited for {waited} turns.");
        }
    }
}
