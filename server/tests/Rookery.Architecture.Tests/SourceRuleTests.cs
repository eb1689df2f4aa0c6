using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// Rules of STYLE.md for source files that no analyzer checks: sizes, namespaces and unfinished work.
/// </summary>
public sealed partial class SourceRuleTests
{
    private const int MaxLines = 550;
    private const int MaxColumns = 120;
    private const int MaxFiles = 40;

    [Fact]
    public void No_source_file_has_more_than_550_lines() =>
        Assert.Empty(
            Projects
                .SourceFiles.Concat(Projects.TestFiles)
                .Where(path => File.ReadLines(path).Count() > MaxLines)
                .Select(Name)
        );

    [Fact]
    public void No_line_of_code_or_comment_is_wider_than_120_columns() =>
        Assert.Empty(Projects.SourceFiles.SelectMany(path => WideLines(path).Select(line => $"{Name(path)}:{line}")));

    [Fact]
    public void No_comment_contains_a_mark_of_unfinished_work()
    {
        var files = Projects
            .SourceFiles.Concat(Projects.TestFiles)
            .Where(path => !path.EndsWith($"{nameof(SourceRuleTests)}.cs", StringComparison.Ordinal));
        Assert.Empty(files.Where(path => Unfinished().IsMatch(File.ReadAllText(path))).Select(Name));
    }

    [Fact]
    public void A_file_declares_the_namespace_of_its_folder() =>
        Assert.Empty(
            Projects
                .SourceFiles.Concat(Projects.TestFiles)
                .Where(path =>
                    DeclaredNamespace().Match(File.ReadAllText(path)) is { Success: true } found
                    && !string.Equals(NamespaceOf(path), found.Groups["name"].Value, StringComparison.Ordinal)
                )
                .Select(Name)
        );

    [Fact]
    public void No_folder_has_more_than_40_source_files() =>
        Assert.Empty(
            Projects
                .SourceFiles.CountBy(static path => Path.GetDirectoryName(path)!)
                .Where(static folder => folder.Value > MaxFiles)
                .Select(static folder => $"{Name(folder.Key)}: {folder.Value}")
        );

    [GeneratedRegex(
        @"\b(?:TODO|FIXME|XXX|HACK)\b|^\s*#region",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Unfinished();

    [GeneratedRegex(
        @"^namespace (?<name>[\w.]+)",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex DeclaredNamespace();

    /// <summary>Returns the numbers of the lines that are too wide, without lines of texts in triple quotes.</summary>
    private static IEnumerable<int> WideLines(string path)
    {
        bool isRaw = false;
        int number = 0;
        foreach (string line in File.ReadLines(path))
        {
            number++;
            int quotes = line.Split("\"\"\"").Length - 1;
            bool isOfRawText = isRaw || quotes > 0;
            isRaw ^= quotes % 2 == 1;
            if (line.Length > MaxColumns && !isOfRawText)
            {
                yield return number;
            }
        }
    }

    private static string Name(string path) => Path.GetRelativePath(Projects.Root, path);

    private static string NamespaceOf(string path) =>
        Projects
            .Sources.Concat(Projects.TestSources)
            .Select(directory => Path.GetRelativePath(directory, Path.GetDirectoryName(path)!))
            .First(static folder => !folder.StartsWith("..", StringComparison.Ordinal))
            .Replace(Path.DirectorySeparatorChar, '.');
}
