using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>Comments of the product name their subject, as STYLE.md requires.</summary>
public sealed partial class CommentTests
{
    [Fact]
    public void Comments_name_their_subject()
    {
        var found =
            from path in Projects.SourceFiles
            from line in File.ReadLines(path).Select(static (text, index) => (text, number: index + 1))
            where IsRefused(line.text)
            select $"{Path.GetRelativePath(Projects.Root, path)}:{line.number}: {line.text.Trim()}";
        Assert.Empty(found);
    }

    [Theory]
    [InlineData("    /// <summary>Whoever has the turn writes.</summary>", true)]
    [InlineData("    // It goes on as somebody said.", true)]
    [InlineData("    /// <summary>Of that start.</summary>", true)]
    [InlineData("    /// <summary>The same of groups.</summary>", true)]
    [InlineData("    /// <summary>So much of it the next writes may need.</summary>", true)]
    [InlineData("    /// <summary>Releases the journal after the snapshot.</summary>", false)]
    [InlineData("    string text = \"Nobody answered.\";", false)]
    public void The_rule_finds_a_comment_without_a_subject(string line, bool isRefused) =>
        Assert.Equal(isRefused, IsRefused(line));

    private static bool IsRefused(string line) => UnnamedSubject().IsMatch(line);

    [GeneratedRegex(
        @"^\s*//.*\b(who(so)?ever|somebody)\b|^\s*/// <summary>(Who|Of|So|Those|That|They|The same) ",
        RegexOptions.ExplicitCapture | RegexOptions.IgnoreCase | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex UnnamedSubject();
}
