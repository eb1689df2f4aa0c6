using System.Text.RegularExpressions;

namespace Rookery.Architecture.Tests;

/// <summary>
/// The product uses each member that it declares. The compiler and its analyzers check private members. These tests
/// check all members by name: a name that occurs only in its declaration is unused.
/// </summary>
public sealed partial class UnusedMemberTests
{
    private const string LaidOut = "a field of a kernel structure, declared to keep the offsets of the other fields";
    private const string Implements = "implements an interface of .NET";
    private const string ForTests = "tests control or observe the program with it";

    private static readonly Dictionary<string, string> Exceptions = new(StringComparer.Ordinal)
    {
        ["AvailableFiles"] = LaidOut,
        ["FreeBlocks"] = LaidOut,
        ["FreeFiles"] = LaidOut,
        ["PixelsAcross"] = LaidOut,
        ["PixelsDown"] = LaidOut,
        ["CreateLogger"] = Implements,
        ["DisposeContext"] = Implements,
        ["OnHeader"] = Implements,
        ["OnHeadersComplete"] = Implements,
        ["OnStartLine"] = Implements,
        ["ProcessRequestAsync"] = Implements,
        ["CompileProjection"] = ForTests,
        ["DefinitionsRead"] = ForTests,
        ["FindMiscount"] = ForTests,
        ["IgnoredAnywhere"] = ForTests,
        ["IsSending"] = ForTests,
        ["ObeyedOnce"] = ForTests,
        ["ReadClientConfiguration"] = ForTests,
        ["ReadsOnlyPage"] = ForTests,
        ["Resumed"] = ForTests,
        ["RunUntilIdle"] = ForTests,
        ["SentBytes"] = ForTests,
        ["StoreCount"] = ForTests,
    };

    [Fact]
    public void The_product_uses_every_member_that_it_declares()
    {
        var sources = Projects
            .SourceFiles.Select(path => (path, code: WithoutComments(File.ReadAllText(path))))
            .ToList();
        Assert.Empty(
            UnusedIn(sources.Select(source => source.code))
                .Except(Exceptions.Keys, StringComparer.Ordinal)
                .Select(name => $"{name}: {sources.First(source => Mentions(source.code, name)).path}")
        );
    }

    [Fact]
    public void Each_exception_is_still_an_unused_member() =>
        Assert.Empty(
            Exceptions.Keys.Except(UnusedIn(Projects.SourceFiles.Select(File.ReadAllText)), StringComparer.Ordinal)
        );

    [Fact]
    public void The_rule_finds_unused_members() =>
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
                    """
                    internal static class Extending
                    {
                        public static int Twice(this int number) => 2 * number.Twice();
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
        return code.SelectMany(text => Declarations().Matches(text).Where(found => !IsOfExtensions(found.Value, text)))
            .Where(found => !found.Value.Contains(" override ", StringComparison.Ordinal))
            .Select(found => found.Groups["name"].Value)
            .Where(name => counts[name] == 1)
            .Distinct(StringComparer.Ordinal);
    }

    /// <summary>Callers do not name a class of extension methods. Its methods are checked like all others.</summary>
    private static bool IsOfExtensions(string declaration, string code) =>
        declaration.Contains(" static ", StringComparison.Ordinal)
        && declaration.Contains(" class ", StringComparison.Ordinal)
        && Extensions().IsMatch(code);

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
        @"\(\s*this\s\w",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Extensions();

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
