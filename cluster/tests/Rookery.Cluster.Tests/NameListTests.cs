namespace Rookery.Cluster.Tests;

/// <summary>Lists of names in sentences.</summary>
public sealed class NameListTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("a", "a")]
    [InlineData("b a", "a and b")]
    [InlineData("c a b", "a, b and c")]
    public void Names_are_listed_in_order(string names, string expected) =>
        Assert.Equal(expected, NameList.Of(names.Split(' ', StringSplitOptions.RemoveEmptyEntries)));
}
