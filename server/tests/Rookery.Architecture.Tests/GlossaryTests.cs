using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>No identifier of the product contains a word that STYLE.md forbids as a term.</summary>
public sealed partial class GlossaryTests
{
    /// <summary>The projects that work on the log, in which "cut" would mean truncating it. Other projects cut
    /// texts.</summary>
    private static readonly string[] ProjectsOfTheLog =
    [
        "Rookery.Cluster",
        "Rookery.Documents",
        "Rookery.Journal",
        "Rookery.Raft",
        "Rookery.Storage",
    ];

    [Fact]
    public void No_identifier_contains_a_forbidden_word()
    {
        string[] everywhere = WordsOf(File.ReadAllText(Path.Join(Projects.Root, "STYLE.md")));
        var found =
            from path in Projects.SourceFiles
            from name in NamesIn(File.ReadAllText(path), RefusedIn(path, everywhere)).Distinct(StringComparer.Ordinal)
            select $"{Path.GetRelativePath(Projects.Root, path)}: {name}";
        Assert.Empty(found);
    }

    [Fact]
    public void The_forbidden_words_are_read_from_STYLE_md() =>
        Assert.Equal(
            ["care", "desk", "office", "pump", "steward", "way", "ways", "workshop"],
            WordsOf(File.ReadAllText(Path.Join(Projects.Root, "STYLE.md"))).Order(StringComparer.Ordinal)
        );

    [Fact]
    public void Tokens_and_certificates_are_revoked_not_withdrawn() =>
        Assert.Empty(
            from path in Projects.SourceFiles
            where path.Contains("/src/Rookery.Server/", StringComparison.Ordinal)
            from line in File.ReadLines(path)
            // The names of two log events keep "withdrawn", because users filter by these names.
            where WithdrawnCredential().IsMatch(line.Replace("_withdrawn\"", "\"", StringComparison.Ordinal))
            select $"{Path.GetRelativePath(Projects.Root, path)}: {line.Trim()}"
        );

    [Theory]
    [InlineData("private int _onTheWay;", "_onTheWay")]
    [InlineData("sealed class BoardCare;", "BoardCare")]
    [InlineData("int ways = 1;", "ways")]
    [InlineData("int always = Careful(); // the way of a desk", null)]
    [InlineData("string text = \"the way of a desk\";", null)]
    [InlineData("string text = $\"in {office} hours\";", "office")]
    public void The_rule_finds_whole_words_of_identifiers(string code, string? expected) =>
        Assert.Equal(expected is null ? [] : [expected], NamesIn(code, ["care", "desk", "office", "way", "ways"]));

    /// <summary>Returns the quoted words of the sentence about everyday words in STYLE.md.</summary>
    private static string[] WordsOf(string style) =>
        [.. Quoted().Matches(Sentence().Match(style).Value).Select(match => match.Groups["word"].Value)];

    private static string[] RefusedIn(string path, string[] everywhere) =>
        ProjectsOfTheLog.Any(project => path.Contains($"/src/{project}/", StringComparison.Ordinal))
            ? [.. everywhere, "cut", "cuts"]
            : everywhere;

    private static IEnumerable<string> NamesIn(string code, string[] refused) =>
        from name in Identifiers().Matches(TextsAndComments().Replace(code, Inserted))
        where Words().Matches(name.Value).Any(word => refused.Contains(word.Value, StringComparer.OrdinalIgnoreCase))
        select name.Value;

    /// <summary>Returns the expressions that are inserted into a string literal, or a space if there are none or the
    /// text is a comment.</summary>
    private static string Inserted(Match text) =>
        text.Value.StartsWith('$')
            ? string.Join(' ', Insertions().Matches(text.Value).Select(found => found.Value))
            : " ";

    [GeneratedRegex("(?i)withdr[ae]w", RegexOptions.CultureInvariant, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex WithdrawnCredential();

    [GeneratedRegex(
        @"Everyday words are no terms:[^\n]*",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Sentence();

    [GeneratedRegex(
        "\"(?<word>[a-z]+)\"",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Quoted();

    [GeneratedRegex(
        "//[^\n]*|\\$*\"\"\"[\\s\\S]*?\"\"\"|\\$?\"(\\\\.|[^\"\\\\\n])*\"|'(\\\\.|[^'\\\\\n])+'",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex TextsAndComments();

    [GeneratedRegex(
        @"\{[^{}]*\}",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Insertions();

    [GeneratedRegex(
        @"\b[A-Za-z_]\w*",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Identifiers();

    [GeneratedRegex(
        "[A-Z]?[a-z]+|[A-Z]+(?![a-z])",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Words();
}
