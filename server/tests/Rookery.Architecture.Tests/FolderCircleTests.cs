using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// The folders of a project are layers, like the projects. No two folders refer to each other, directly or through
/// other folders.
/// </summary>
public sealed partial class FolderCircleTests
{
    [Theory]
    [InlineData("Rookery.Indexing")]
    [InlineData("Rookery.Queries")]
    [InlineData("Rookery.Search")]
    public void The_folders_of_a_project_do_not_refer_to_each_other_in_a_circle(string project)
    {
        string directory = Projects.DirectoryOf(project);
        Assert.Empty(
            CirclesOf(
                project,
                [
                    .. Projects
                        .FilesOf(directory, "*.cs")
                        .Select(path => (FolderOf(directory, path), File.ReadAllText(path))),
                ]
            )
        );
    }

    [Theory]
    [InlineData("using Room.Two;", "using Room.One;", "One and Two")]
    [InlineData("using Room.Two.Deeper;", "using Room.One;", "One and Two")]
    [InlineData("using Room.Two;", "int a = One.First.Value;", "One and Two")]
    [InlineData("using Room.Two;", "int a = _text.One.First;", null)]
    [InlineData("using Room.Two;", "string a = \"One.First\"; // One.First", null)]
    [InlineData("using Room.Two;", "using Other.One;", null)]
    public void The_rule_finds_circles(string one, string two, string? expected) =>
        Assert.Equal(
            expected is null ? [] : [expected],
            CirclesOf("Room", [("One", one + " class First;"), ("Two", two + " class Second;")])
        );

    [Fact]
    public void The_rule_finds_circles_through_a_third_folder() =>
        Assert.Equal(
            ["One and Three", "One and Two", "Three and Two"],
            CirclesOf("Room", [("One", "using Room.Two;"), ("Two", "using Room.Three;"), ("Three", "using Room.One;")])
        );

    private static IEnumerable<string> CirclesOf(string project, (string Folder, string Text)[] files)
    {
        var code = files
            .Select(static file => (file.Folder, Text: TextsAndComments().Replace(file.Text, " ")))
            .ToList();
        var types = code.SelectMany(static file =>
                Types().Matches(file.Text).Select(type => $"{file.Folder}.{type.Groups["name"].Value}")
            )
            .ToHashSet(StringComparer.Ordinal);
        string[] folders = [.. code.Select(static file => file.Folder).Distinct(StringComparer.Ordinal)];
        var known = folders.ToDictionary(
            static folder => folder,
            folder =>
                folders
                    .Where(other =>
                        !Same(other, folder)
                        && code.Exists(file => Same(file.Folder, folder) && Knows(file.Text, other))
                    )
                    .ToHashSet(StringComparer.Ordinal),
            StringComparer.Ordinal
        );
        foreach (string through in folders)
        {
            foreach (string folder in folders.Where(folder => known[folder].Contains(through)))
            {
                known[folder].UnionWith(known[through]);
            }
        }

        return from one in folders
            from other in folders
            where string.CompareOrdinal(one, other) < 0 && known[one].Contains(other) && known[other].Contains(one)
            orderby one, other
            select $"{one} and {other}";

        bool Knows(string text, string folder) =>
            Regex.IsMatch(
                text,
                $@"\b{Regex.Escape(project)}\.{Regex.Escape(folder)}\b",
                RegexOptions.CultureInvariant,
                TimeSpan.FromSeconds(10)
            )
            || Qualified()
                .Matches(text)
                .Any(name => Same(name.Groups["folder"].Value, folder) && types.Contains(name.Value));
    }

    private static bool Same(string one, string other) => string.Equals(one, other, StringComparison.Ordinal);

    private static string FolderOf(string directory, string path) =>
        Path.GetRelativePath(directory, path).Split(Path.DirectorySeparatorChar)[0];

    [GeneratedRegex(
        "//[^\n]*|\\$*\"\"\"[\\s\\S]*?\"\"\"|\\$?\"(\\\\.|[^\"\\\\\n])*\"|'(\\\\.|[^'\\\\\n])+'",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex TextsAndComments();

    [GeneratedRegex(
        @"\b(?:class|struct|record|interface|enum)\s+(?<name>[A-Z]\w*)",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Types();

    [GeneratedRegex(
        @"(?<![\w.])(?<folder>[A-Z]\w*)\.[A-Z]\w*",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Qualified();
}
