using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>Each library has a test project, so that a change of a library needs the tests of only one
/// project.</summary>
public sealed class TestProjectTests
{
    /// <summary>Libraries with helpers, which any test project may use.</summary>
    private static readonly string[] Helpers = ["Rookery.Fixtures", "Rookery.Histories", "Rookery.Simulation"];

    /// <summary>Projects without a test project, each with the test project that tests it.</summary>
    private static readonly Dictionary<string, string> TestedElsewhere = new(StringComparer.Ordinal)
    {
        ["Rookery"] = "Rookery.Server.Tests",
        ["Rookery.Hosting"] = "Rookery.Server.Tests",
    };

    /// <summary>Projects to which a test project refers, although the tested project must not refer to them.</summary>
    private static readonly Dictionary<string, string[]> KnownBesides = new(StringComparer.Ordinal)
    {
        // Nodes in these tests commit through the real consensus.
        ["Rookery.Documents.Tests"] = ["Rookery.Cluster"],
        // A node in these tests commits through the real consensus, and has indexes as the server needs them.
        ["Rookery.Redis.Tests"] = ["Rookery.Cluster", "Rookery.Indexing"],
        // These tests start whole nodes, and run commands of the executable.
        ["Rookery.Server.Tests"] = ["Rookery", "Rookery.Cluster"],
    };

    private const string Helper = "several test projects use these helpers";
    private const string Measured = "benchmarks measure single parts of it";
    private const string WholeNode = "tests of complete nodes control its commits and read its rows";

    /// <summary>Projects other than its test project to which a project shows its internals, each with the
    /// reason.</summary>
    private static readonly Dictionary<(string Project, string Friend), string> Friends = new()
    {
        [("Rookery.Cluster", "Rookery.Crash.Tests")] = WholeNode,
        [("Rookery.Cluster", "Rookery.Documents.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Cluster.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Crash.Tests")] = WholeNode,
        [("Rookery.Documents", "Rookery.Fixtures")] = Helper,
        [("Rookery.Documents", "Rookery.Indexing")] = "indexing reads changes and documents of a snapshot",
        [("Rookery.Documents", "Rookery.Indexing.Tests")] = "they create older versions and deletions of indexes",
        [("Rookery.Documents", "Rookery.Queries")] = "queries read documents of a snapshot",
        [("Rookery.Indexing", "Rookery.Fixtures")] = Helper,
        [("Rookery.Indexing", "rookery-micro")] = Measured,
        [("Rookery.Queries", "Rookery.Server.Tests")] = "they run its walks and time slices with a response's sink",
        [("Rookery.Scripting", "Rookery.Documents")] = "patches run in its interpreter",
        [("Rookery.Scripting", "Rookery.Indexing")] = "the parser of C# index texts builds its syntax trees",
        [("Rookery.Scripting", "Rookery.Queries")] = "projections run in its interpreter",
        [("Rookery.Scripting", "rookery-micro")] = Measured,
        [("Rookery.Search", "Rookery.Fixtures")] = Helper,
        [("Rookery.Search", "rookery-micro")] = Measured,
        [("Rookery.Server", "Rookery.Redis")] = "Redis clients authenticate and are measured as HTTP clients are",
        [("Rookery.Server", "Rookery.Redis.Tests")] = "they register tokens and read metrics",
        [("Rookery.Storage", "rookery-micro")] = Measured,
    };

    public static TheoryData<string> ProjectNames => [.. Projects.Names];

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Each_project_has_tests(string project) =>
        Assert.True(File.Exists(ProjectOf(TestedElsewhere.GetValueOrDefault(project, $"{project}.Tests"))));

    [Theory]
    [MemberData(nameof(ProjectNames))]
    public void Test_projects_refer_to_their_project_and_to_allowed_references_of_it(string project)
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
