using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// Apply gives the same rows on every node, whatever the version of its runtime: what depends on tables of Unicode, on
/// culture, on a clock or on chance is decided where a command is made. Compiled patches run in apply too.
/// </summary>
public sealed partial class DeterminismTests
{
    private static readonly string[] Folders = ["Apply", "Patching"];

    [Fact]
    public void Nothing_in_apply_depends_on_the_version_of_the_runtime_the_clock_or_chance() =>
        Assert.Empty(
            from folder in Folders
            from path in House.FilesOf(Path.Join(House.DirectoryOf("Rookery.Documents"), folder), "*.cs")
            from found in Forbidden().Matches(File.ReadAllText(path))
            select $"{Path.GetRelativePath(House.Root, path)}: {found.Value}"
        );

    [Theory]
    [InlineData("name.ToLowerInvariant()")]
    [InlineData("DocumentId.ToLower(id, lower)")]
    [InlineData("char.IsLetterOrDigit(c)")]
    [InlineData("StringComparer.OrdinalIgnoreCase")]
    [InlineData("Rune.DecodeFromUtf8(id, out _, out _)")]
    [InlineData("TimeProvider time")]
    [InlineData("Guid.NewGuid()")]
    public void The_rule_finds(string code) => Assert.Matches(Forbidden(), code);

    [Theory]
    [InlineData("Ascii.ToLower(id, lower, out _)")]
    [InlineData("char.IsAsciiDigit(c)")]
    [InlineData("CultureInfo.InvariantCulture")]
    public void The_rule_lets_pass(string code) => Assert.DoesNotMatch(Forbidden(), code);

    [GeneratedRegex(
        @"(?<!Ascii\.)\bTo(?:Lower|Upper)\w*\(|\bchar\.(?:Is|To|GetUnicode)(?!Ascii)\w*|\bRune\.|IgnoreCase|CurrentCulture|\bNormalize\(|\bCompareInfo\b|\bTimeProvider\b|\bDateTime\w*\.(?:Utc)?Now|\bRandom|\bGuid\.New",
        RegexOptions.CultureInvariant | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Forbidden();
}
