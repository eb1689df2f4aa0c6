using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>Each member that the documentation links to exists in the linked file.</summary>
public sealed partial class LinkedPlacesTests
{
    [Fact]
    public void A_link_to_a_member_leads_to_the_file_that_declares_it()
    {
        var links = LinksOf(Projects.FilesOf(Path.Join(Projects.Root, "docs"), "*.md")).ToList();
        Assert.NotEmpty(links);
        Assert.All(links, static link => Assert.True(IsDeclared(link), $"{link.Page} names {link.Type}.{link.Member}"));
    }

    [Fact]
    public void A_link_to_a_missing_type_or_member_is_found()
    {
        string file = Path.Join(Projects.DirectoryOf("Rookery.Platform"), "Varint.cs");
        Assert.True(IsDeclared(new Link("", "Varint", "TryRead", file)));
        Assert.False(IsDeclared(new Link("", "Varint", "Gone", file)));
        Assert.False(IsDeclared(new Link("", "Varint", "InvalidDataException", file)));
        Assert.False(IsDeclared(new Link("", "Varint", "Slice", file)));
        Assert.False(IsDeclared(new Link("", "Gone", "TryRead", file)));
        Assert.False(IsDeclared(new Link("", "Varint", "TryRead", file + ".gone")));
    }

    private static IEnumerable<Link> LinksOf(IEnumerable<string> pages) =>
        from page in pages
        from found in MemberLinks().Matches(File.ReadAllText(page))
        select new Link(
            Path.GetRelativePath(Projects.Root, page),
            found.Groups["type"].Value,
            found.Groups["member"].Value,
            Path.GetFullPath(found.Groups["file"].Value, Path.GetDirectoryName(page)!)
        );

    private static bool IsDeclared(Link link) =>
        File.Exists(link.File)
        && File.ReadAllText(link.File) is var text
        && Has(text, $@"\b(?:class|struct|interface|record) {link.Type}\b")
        && Has(text, $@"^\s*(?:public|internal|private)\b[^\n=;]* {link.Member}(?:<\w+>)?\(");

    private static bool Has(string text, string pattern) =>
        Regex.IsMatch(text, pattern, RegexOptions.CultureInvariant | RegexOptions.Multiline, TimeSpan.FromSeconds(30));

    [GeneratedRegex(
        @"\[`(?<type>\w+)\.(?<member>\w+)`\]\((?<file>[^)]+\.cs)\)",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex MemberLinks();

    private sealed record Link(string Page, string Type, string Member, string File);
}
