using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>Targets of links in pages, and pages that code and scripts mention, exist in the repository.</summary>
public sealed partial class ReferenceTests
{
    /// <summary>Pages outside the repository, each with its owner.</summary>
    private static readonly Dictionary<string, string> Foreign = new(StringComparer.Ordinal)
    {
        ["lz4_Block_format.md"] = "the LZ4 project's own specification",
        ["protocol/RESP3.md"] = "the Redis project's own specification",
        ["doc/os_customisation_formats.md"] = "a page of Raspberry Pi Imager",
    };

    private static readonly string[] Kinds =
    [
        "*.cs",
        "*.css",
        "*.html",
        "*.in",
        "*.js",
        "*.list",
        "*.md",
        "*.mjs",
        "*.props",
        "*.py",
        "*.service",
        "*.sh",
        "*.ts",
        "*.tsx",
        "*.yaml",
        "*.yml",
        "Makefile",
        "build",
        "install",
        "run",
    ];

    [Fact]
    public void Each_link_of_a_page_leads_to_a_file()
    {
        var links = Pages()
            .SelectMany(page => LinksIn(File.ReadAllText(page)).Select(target => (page, target)))
            .ToList();
        Assert.NotEmpty(links);
        Assert.Empty(
            links
                .Where(link => !Path.Exists(Path.GetFullPath(link.target, Path.GetDirectoryName(link.page)!)))
                .Select(link => $"{Name(link.page)}: {link.target}")
        );
    }

    [Fact]
    public void A_page_that_code_or_a_page_mentions_is_in_the_repository()
    {
        string[] pages = [.. Pages().Select(page => "/" + Name(page))];
        var named =
            from path in Kinds.SelectMany(kind => Projects.FilesOf(Projects.Root, kind))
            where
                !path.EndsWith($"{nameof(ReferenceTests)}.cs", StringComparison.Ordinal)
                && new FileInfo(path).LinkTarget is null
            from page in PagesNamedIn(File.ReadAllText(path))
            select (path, page);
        Assert.Empty(
            named
                .Where(one => !Foreign.ContainsKey(one.page) && !IsOneOf(pages, one.page))
                .Select(one => $"{Name(one.path)}: {one.page}")
        );
    }

    [Fact]
    public void Links_and_mentioned_pages_are_found_in_text()
    {
        Assert.Equal(["a.md", "b/"], LinksIn("[a](a.md#part), [b](b/), [c](https://c.org/c.md), [d](#d)"));
        Assert.Equal(["docs/gone.md", "../x.md"], PagesNamedIn("see docs/gone.md 3.1 and ../x.md."));
        Assert.True(IsOneOf(["/docs/how-to/upgrade.md"], "/help/how-to/upgrade.md"));
        Assert.True(IsOneOf(["/docs/how-to/upgrade.md"], "../how-to/upgrade.md"));
        Assert.True(IsOneOf(["/docs/how-to/upgrade.md"], "upgrade.md"));
        Assert.False(IsOneOf(["/docs/how-to/upgrade.md"], "grade.md"));
    }

    private static IEnumerable<string> Pages() => Projects.FilesOf(Projects.Root, "*.md");

    private static IEnumerable<string> LinksIn(string page) =>
        Links()
            .Matches(page)
            .Select(link => link.Groups["target"].Value.Split('#')[0])
            .Where(target => target.Length > 0);

    private static IEnumerable<string> PagesNamedIn(string text) =>
        NamedPages().Matches(text).Select(page => page.Value);

    /// <summary>A node serves the pages of docs under /help.</summary>
    private static bool IsOneOf(string[] pages, string named)
    {
        string end = "/" + named.Replace("/help/", "/docs/", StringComparison.Ordinal).TrimStart('.', '/');
        int start = end.IndexOf("/docs/", StringComparison.Ordinal);
        return pages.Any(page => page.EndsWith(start < 0 ? end : end[start..], StringComparison.Ordinal));
    }

    private static string Name(string path) => Path.GetRelativePath(Projects.Root, path);

    [GeneratedRegex(
        @"\]\((?![a-z]+:)(?<target>[^)\s]+)\)",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Links();

    [GeneratedRegex(
        @"[\w./-]*\w\.md\b(?!\w)",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex NamedPages();
}
