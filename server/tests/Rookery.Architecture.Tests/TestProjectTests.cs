using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>The test projects follow the rooms, so a change of one room is tested by building and running one project.</summary>
public sealed class TestProjectTests
{
    /// <summary>Libraries of helpers, for the tests of any room.</summary>
    private static readonly string[] Helpers = ["Rookery.Fixtures", "Rookery.Histories", "Rookery.Simulation"];

    /// <summary>Rooms without tests of their own, each with the project that tests it.</summary>
    private static readonly Dictionary<string, string> TestedElsewhere = new(StringComparer.Ordinal)
    {
        ["Rookery"] = "Rookery.Server.Tests",
        ["Rookery.Hosting"] = "Rookery.Server.Tests",
    };

    /// <summary>Rooms that the tests of a room know, although the room does not.</summary>
    private static readonly Dictionary<string, string[]> KnownBesides = new(StringComparer.Ordinal)
    {
        // Its nodes commit through the real consensus.
        ["Rookery.Documents.Tests"] = ["Rookery.Cluster"],
        // They start whole nodes, and run the commands.
        ["Rookery.Server.Tests"] = ["Rookery", "Rookery.Cluster"],
    };

    private const string Helper = "the helpers of several test projects";
    private const string Measured = "benchmarks measure parts of it alone";
    private const string WholeNode = "tests of whole nodes drive its commits and read its rows";

    /// <summary>What sees the internals of a room although it is not the room's test project, each with the reason.</summary>
    private static readonly Dictionary<(string Room, string Friend), string> Friends = new()
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

    public static TheoryData<string> Rooms => [.. House.Rooms];

    [Theory]
    [MemberData(nameof(Rooms))]
    public void Each_room_has_tests(string room) =>
        Assert.True(File.Exists(ProjectOf(TestedElsewhere.GetValueOrDefault(room, $"{room}.Tests"))));

    [Theory]
    [MemberData(nameof(Rooms))]
    public void Tests_refer_to_their_room_and_to_what_it_may_know(string room)
    {
        if (!TestedElsewhere.ContainsKey(room))
        {
            string tests = $"{room}.Tests";
            var references = XDocument
                .Load(ProjectOf(tests))
                .Descendants("ProjectReference")
                .Select(static reference => Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value))
                .ToList();
            Assert.Contains(room, references);
            string[] known = House
                .Arrows.Single(arrow => string.Equals(arrow.Room, room, StringComparison.Ordinal))
                .MayKnow;
            Assert.Empty(
                references
                    .Except([room, .. known], StringComparer.Ordinal)
                    .Except(Helpers, StringComparer.Ordinal)
                    .Except(KnownBesides.GetValueOrDefault(tests, []), StringComparer.Ordinal)
            );
        }
    }

    [Fact]
    public void A_room_shows_its_internals_to_its_tests_and_to_named_friends() =>
        Assert.Equal(
            Friends.Keys.Order(),
            House
                .Rooms.SelectMany(room => FriendsOf(room).Select(friend => (room, friend)))
                .Where(pair => !IsTestsOf(pair.room, pair.friend))
                .Order()
        );

    private static IEnumerable<string> FriendsOf(string room) =>
        XDocument
            .Load(Path.Join(House.DirectoryOf(room), room + ".csproj"))
            .Descendants("InternalsVisibleTo")
            .Select(static friend => friend.Attribute("Include")!.Value);

    private static bool IsTestsOf(string room, string friend) =>
        string.Equals(TestedElsewhere.GetValueOrDefault(room, $"{room}.Tests"), friend, StringComparison.Ordinal);

    private static string ProjectOf(string tests) =>
        House
            .TestSources.Select(directory => Path.Join(directory, tests, $"{tests}.csproj"))
            .FirstOrDefault(File.Exists)
        ?? $"{tests}.csproj";
}
