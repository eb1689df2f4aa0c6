using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>Each library has a test project, so that a change of one library needs the tests of one project.</summary>
public sealed class TestProjectTests
{
    /// <summary>Libraries of helpers, for the tests of any project.</summary>
    private static readonly string[] Helpers = ["Rookery.Fixtures", "Rookery.Histories", "Rookery.Simulation"];

    /// <summary>Projects without tests of their own, each with the project that tests it.</summary>
    private static readonly Dictionary<string, string> TestedElsewhere = new(StringComparer.Ordinal)
    {
        ["Rookery"] = "Rookery.Server.Tests",
        ["Rookery.Hosting"] = "Rookery.Server.Tests",
    };

    /// <summary>Projects to which tests refer, although the tested project must not.</summary>
    private static readonly Dictionary<string, string[]> KnownBesides = new(StringComparer.Ordinal)
    {
        // Nodes in these tests commit through the real consensus.
        ["Rookery.Documents.Tests"] = ["Rookery.Cluster"],
        // These tests start whole nodes, and run commands of the executable.
        ["Rookery.Server.Tests"] = ["Rookery", "Rookery.Cluster"],
    };

    private const string Helper = "the helpers of several test projects";
    private const string Measured = "benchmarks measure parts of it alone";
    private const string WholeNode = "tests of whole nodes drive its commits and read its rows";

    /// <summary>Projects, other than its tests, to which a project shows its internals; with the reason.</summary>
    private static readonly Dictionary<(string Project, string Friend), string> Friends = new()
    {
        [("Rookery.Cluster", "Rookery.Crash.Tests")] = WholeNode,
        [("Rookery.Cluster", "Rookery.Documents.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Cluster.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Crash.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Fixtures")] = Helper,
        [("Rookery.Documents", "Rookery.Indexing")] = "it reads changes and loads documents of a snapshot",
        [("Rookery.Documents", "Rookery.Indexing.Tests")] = "they make older versions and deletions of indexes",
        [("Rookery.Documents", "Rookery.Queries")] = "it reads documents of a snapshot",
        [("Rookery.Indexing", "Rookery.Fixtures")] = Helper,
        [("Rookery.Indexing", "rookery-micro")] = Measured,
        [("Rookery.Queries", "Rookery.Server.Tests")] = "its walks and time slices run with the sink of a response",
        [("Rookery.Scripting", "Rookery.Documents")] = "patches run in its interpreter",
        [("Rookery.Scripting", "Rookery.Indexing")] = "the parser of C# index texts builds its syntax trees",
        [("Rookery.Scripting", "Rookery.Queries")] = "projections run in its interpreter",
        [("Rookery.Scripting", "rookery-micro")] = Measured,
        [("Rookery.Search", "Rookery.Fixtures")] = Helper,
        [("Rookery.Search", "rookery-micro")] = Measured,
        [("Rookery.Storage", "rookery-micro")] = Measured,
    };

    public static TheoryData<string> ProjectNames => [.. Projects.Names];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Each_project_has_tests(string project) =>
        Assert.True(File.Exists(ProjectOf(TestedElsewhere.GetValueOrDefault(project, $"{project}.Tests"))));

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Tests_refer_to_their_project_and_to_what_it_may_refer_to(string project)
    {
        if (!TestedElsewhere.ContainsKey(project))
        {
            string tests = $"{project}.Tests";
            var references = XDocument
                .Load(ProjectOf(tests))
                .Descendants("ProjectReference")
                .Select(static reference => Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value))
                .ToList();
            Assert.Contains(project, references);
            string[] known = Projects
                .AllowedReferences.Single(allowed => string.Equals(allowed.Project, project, StringComparison.Ordinal))
                .MayReferTo;
            Assert.Empty(
                references
                    .Except([project, .. known], StringComparer.Ordinal)
                    .Except(Helpers, StringComparer.Ordinal)
                    .Except(KnownBesides.GetValueOrDefault(tests, []), StringComparer.Ordinal)
            );
        }
    }

    [Fact]
    public void A_project_shows_its_internals_only_to_its_tests_and_to_listed_projects() =>
        Assert.Equal(
            Friends.Keys.Order(),
            Projects
                .Names.SelectMany(project => FriendsOf(project).Select(friend => (project, friend)))
                .Where(pair => !IsTestsOf(pair.project, pair.friend))
                .Order()
        );

    private static IEnumerable<string> FriendsOf(string project) =>
        XDocument
            .Load(Path.Join(Projects.DirectoryOf(project), project + ".csproj"))
            .Descendants("InternalsVisibleTo")
            .Select(static friend => friend.Attribute("Include")!.Value);

    private static bool IsTestsOf(string project, string friend) =>
        string.Equals(TestedElsewhere.GetValueOrDefault(project, $"{project}.Tests"), friend, StringComparison.Ordinal);

    private static string ProjectOf(string tests) =>
        Projects
            .TestSources.Select(directory => Path.Join(directory, tests, $"{tests}.csproj"))
            .FirstOrDefault(File.Exists)
        ?? $"{tests}.csproj";
}
