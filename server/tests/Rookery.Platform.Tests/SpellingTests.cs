namespace Rookery.Platform.Tests;

public sealed class SpellingTests
{
    [Theory]
    [InlineData("status", "status", 0)]
    [InlineData("improt", "import", 1)]
    [InlineData("stats", "status", 1)]
    [InlineData("", "get", 3)]
    [InlineData("abc", "xyz", 3)]
    public void The_distance_of_words_is_in_letters(string word, string other, int distance) =>
        Assert.Equal(distance, Spelling.Distance(word, other));

    [Theory]
    [InlineData("query", "Query")]
    [InlineData("QUERYPARAMETERS", "QueryParameters")]
    [InlineData("PagesSize", "PageSize")]
    [InlineData("Query", null)] // known, and refused for another reason
    [InlineData("Script", null)]
    [InlineData("", null)]
    public void A_similar_name_is_suggested(string word, string? name) =>
        Assert.Equal(name, Spelling.FindSimilar(word, "PageSize", "Query", "QueryParameters"));

    [Fact]
    public void A_very_long_name_is_not_compared() =>
        Assert.Null(Spelling.FindSimilar(new string('x', 1 << 20), new string('x', (1 << 20) + 1)));
}
