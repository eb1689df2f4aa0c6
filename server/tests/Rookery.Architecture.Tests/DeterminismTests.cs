using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// Apply computes the same rows on every node, with any version of the .NET runtime. So code that depends on tables of
/// Unicode, on culture, on a clock or on randomness runs where a command is created, and not in apply, in patches
/// or in commands of Redis.
/// </summary>
public sealed partial class DeterminismTests
{
    private static readonly string[] Folders = ["Apply", "Patching", "Redis"];

    [Fact]
    public void Apply_does_not_depend_on_the_runtime_version_the_clock_or_randomness() =>
        Assert.Empty(
            from folder in Folders
            from path in Projects.FilesOf(Path.Join(Projects.DirectoryOf("Rookery.Documents"), folder), "*.cs")
            from found in Forbidden().Matches(File.ReadAllText(path))
            select $"{Path.GetRelativePath(Projects.Root, path)}: {found.Value}"
        );

    [Theory]
    [InlineData("name.ToLowerInvariant()")]
    [InlineData("DocumentId.ToLower(id, lower)")]
    [InlineData("char.IsLetterOrDigit(c)")]
    [InlineData("StringComparer.OrdinalIgnoreCase")]
    [InlineData("Rune.DecodeFromUtf8(id, out _, out _)")]
    [InlineData("TimeProvider time")]
    [InlineData("Guid.NewGuid()")]
    public void Code_that_may_differ_between_members_is_refused(string code) => Assert.Matches(Forbidden(), code);

    [Theory]
    [InlineData("Ascii.ToLower(id, lower, out _)")]
    [InlineData("Ascii.EqualsIgnoreCase(name, other)")]
    [InlineData("char.IsAsciiDigit(c)")]
    [InlineData("CultureInfo.InvariantCulture")]
    public void Code_that_never_differs_is_accepted(string code) => Assert.DoesNotMatch(Forbidden(), code);

    [GeneratedRegex(
        @"(?<!Ascii\.)\bTo(?:Lower|Upper)\w*\(|\bchar\.(?:Is|To|GetUnicode)(?!Ascii)\w*|\bRune\.|(?<!\bAscii\.Equals)IgnoreCase|CurrentCulture|\bNormalize\(|\bCompareInfo\b|\bTimeProvider\b|\bDateTime\w*\.(?:Utc)?Now|\bRandom|\bGuid\.New",
        RegexOptions.CultureInvariant | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Forbidden();
}
