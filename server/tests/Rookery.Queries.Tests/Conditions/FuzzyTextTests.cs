using System.Text;
using CsCheck;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.Conditions;

/// <summary>
/// The similarity of texts: 1 - d / n, where d is their edit distance and n the number of characters of the shorter
/// text.
/// </summary>
public sealed class FuzzyTextTests
{
    [Theory]
    [InlineData("hello", "hello", 1, true)]
    [InlineData("hello", "hallo", 1, false)]
    [InlineData("hello", "hallo", 0.8, false)]
    [InlineData("hello", "hallo", 0.79, true)]
    [InlineData("hello", "help", 0.4, true)]
    [InlineData("hello", "help", 0.5, false)]
    [InlineData("ab", "ac", 0.5, false)]
    [InlineData("ab", "ac", 0.4, true)]
    [InlineData("äöü", "äöu", 0.5, true)]
    [InlineData("", "", 0.5, true)]
    [InlineData("", "a", 0, false)]
    [InlineData("a", "", 0, false)]
    [InlineData("a", "b", 0, false)]
    public void Texts_match_if_their_similarity_is_above_the_given_one(
        string text,
        string other,
        double similarity,
        bool matches
    ) => Assert.Equal(matches, AreSimilar(text, other, similarity));

    [Fact]
    public void Distances_equal_those_of_the_whole_matrix()
    {
        int near = 0;
        var letters = Gen.Int[0, 2].Array[0, 9];
        Gen.Select(letters, letters, Gen.Int[0, 7])
            .CheckEach(
                20_000,
                one =>
                {
                    var (left, right, bound) = one;
                    int distance = MeasureDistance(left, right);
                    bool isNear = distance <= bound;
                    Assert.Equal(isNear, EditDistance.IsWithin(left, right, bound));
                    Assert.Equal(isNear ? distance : bound + 1, EditDistance.Measure(left, right, bound));
                    near += isNear ? 1 : 0;
                }
            );
        Assert.InRange(near, 2000, 18_000);
    }

    [Fact]
    public void Similarity_follows_the_formula()
    {
        var texts = Gen.String[Gen.Char["abé"], 1, 8];
        Gen.Select(texts, texts, Gen.Int[0, 9])
            .CheckEach(
                5000,
                static one =>
                {
                    var (text, other, tenths) = one;
                    int distance = MeasureDistance(
                        [.. text.Select(static letter => (int)letter)],
                        [.. other.Select(static letter => (int)letter)]
                    );
                    double measured = 1 - (distance / (double)Math.Min(text.Length, other.Length));
                    Assert.Equal(measured > tenths / 10.0, AreSimilar(text, other, tenths / 10.0));
                }
            );
    }

    [Fact]
    public void Too_long_texts_are_refused_as_a_pattern_and_never_similar()
    {
        // A pattern has up to 512 bytes. At similarity 0 a text of twice that is too far from it.
        Assert.Equal(
            QueryFault.Invalid,
            Assert.Throws<QueryException>(static () => new FuzzyText("a"u8, similarity: 1.5, position: 3)).Fault
        );
        Assert.Equal(
            QueryFault.Invalid,
            Assert.Throws<QueryException>(static () => new FuzzyText("a"u8, double.NaN, position: 3)).Fault
        );
        Assert.Equal(
            QueryFault.TooCostly,
            Assert.Throws<QueryException>(static () => new FuzzyText(new byte[513], similarity: 0.5, position: 3)).Fault
        );
        var longest = new FuzzyText(Encoding.UTF8.GetBytes(new string('a', 512)), similarity: 0, position: 0);
        Assert.False(longest.Matches(new byte[8 << 20], null));
        Assert.True(longest.Matches(Encoding.UTF8.GetBytes(new string('a', 1023)), null));
        Assert.False(longest.Matches(Encoding.UTF8.GetBytes(new string('a', 1024)), null));
    }

    /// <summary>Returns the edit distance (Levenshtein's), computed from the whole matrix.</summary>
    private static int MeasureDistance(int[] left, int[] right)
    {
        int[,] matrix = new int[left.Length + 1, right.Length + 1];
        for (int row = 0; row <= left.Length; row++)
        {
            for (int column = 0; column <= right.Length; column++)
            {
                matrix[row, column] =
                    row is 0 ? column
                    : column is 0 ? row
                    : Math.Min(
                        matrix[row - 1, column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1),
                        Math.Min(matrix[row - 1, column], matrix[row, column - 1]) + 1
                    );
            }
        }

        return matrix[left.Length, right.Length];
    }

    private static bool AreSimilar(string text, string other, double similarity) =>
        new FuzzyText(Encoding.UTF8.GetBytes(text), similarity, position: 0).Matches(
            Encoding.UTF8.GetBytes(other),
            null
        );
}
