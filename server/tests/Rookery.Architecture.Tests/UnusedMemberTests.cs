using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// What the product declares, the product uses. The compiler and its analyzers look at private members; this looks at
/// all of them, by name: one that stands nowhere but in its declaration is used by nobody.
/// </summary>
public sealed partial class UnusedMemberTests
{
    private const string LaidOut = "a field of a structure of the kernel, there for its place";
    private const string Extends = "a class of extension methods, which callers do not name";
    private const string Implements = "implements an interface of .NET";
    private const string ForTests = "a seam: tests drive or observe the program by it";

    private static readonly Dictionary<string, string> Exceptions = new(StringComparer.Ordinal)
    {
        ["AvailableFiles"] = LaidOut,
        ["FreeBlocks"] = LaidOut,
        ["FreeFiles"] = LaidOut,
        ["PixelsAcross"] = LaidOut,
        ["PixelsDown"] = LaidOut,
        ["OnAnyMemberRoutes"] = Extends,
        ["RouteParametersExtensions"] = Extends,
        ["RouteScopes"] = Extends,
        ["WithoutDataRoutes"] = Extends,
        ["CreateContext"] = Implements,
        ["CreateLogger"] = Implements,
        ["DisposeContext"] = Implements,
        ["ProcessRequestAsync"] = Implements,
        ["CompileProjection"] = ForTests,
        ["DefinitionsRead"] = ForTests,
        ["EventsSince"] = ForTests,
        ["IsSending"] = ForTests,
        ["PassedOverAnywhere"] = ForTests,
        ["ReceivedBytes"] = ForTests,
        ["Resumed"] = ForTests,
        ["RunUntilIdle"] = ForTests,
        ["SentBytes"] = ForTests,
        ["SetRangeTombstones"] = ForTests,
    };

    [Fact]
    public void What_the_product_declares_it_uses()
    {
        var sources = House.SourceFiles.Select(path => (path, code: WithoutComments(File.ReadAllText(path)))).ToList();
        Assert.Empty(
            UnusedIn(sources.Select(source => source.code))
                .Except(Exceptions.Keys, StringComparer.Ordinal)
                .Select(name => $"{name}: {sources.First(source => Mentions(source.code, name)).path}")
        );
    }

    [Fact]
    public void Each_exception_is_still_one() =>
        Assert.Empty(
            Exceptions.Keys.Except(UnusedIn(House.SourceFiles.Select(File.ReadAllText)), StringComparer.Ordinal)
        );

    [Fact]
    public void The_rule_finds_what_nobody_uses() =>
        Assert.Equal(
            ["Gone", "_gone"],
            UnusedIn([
                    """
                    public int Used() => _used;
                    // Gone
                    private int _used;
                    private readonly int _gone = 1;
                    """,
                    """
                    public static Task<int> Gone(int a) => new X().Used();
                    public override int Overridden() => 1;
                    """,
                ])
                .Order(StringComparer.Ordinal)
        );

    private static IEnumerable<string> UnusedIn(IEnumerable<string> sources)
    {
        string[] code = [.. sources.Select(WithoutComments)];
        var counts = code.SelectMany(text => Words().Matches(text))
            .CountBy(word => word.Value, StringComparer.Ordinal)
            .ToDictionary(StringComparer.Ordinal);
        return code.SelectMany(text => Declarations().Matches(text))
            .Where(found => !found.Value.Contains(" override ", StringComparison.Ordinal))
            .Select(found => found.Groups["name"].Value)
            .Where(name => counts[name] == 1)
            .Distinct(StringComparer.Ordinal);
    }

    private static bool Mentions(string code, string name) =>
        Words().Matches(code).Any(word => string.Equals(word.Value, name, StringComparison.Ordinal));

    private static string WithoutComments(string code) => CommentLines().Replace(code, "");

    [GeneratedRegex(
        @"^\s*(?:public|internal|private|protected)\s[^=;(){}:\n]*?\b(?<name>\w+)\s*(?:<[^>()\n]*>)?\s*(?:\(|=|;|\{|$)",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Declarations();

    [GeneratedRegex(
        @"\w+",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Words();

    [GeneratedRegex(
        @"^\s*//.*$",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex CommentLines();
}
