using System.Xml.Linq;

namespace Rookery.Architecture.Tests;

/// <summary>The dependency rule of docs/explanation/architecture.md: arrows point down only.</summary>
public sealed class DependencyRuleTests
{
    /// <summary>Types that open or change files by themselves. The simulated disk would not see what they do.</summary>
    private static readonly string[] FileTypes =
    [
        "System.IO.File",
        "System.IO.FileInfo",
        "System.IO.FileStream",
        "System.IO.FileSystemInfo",
        "System.IO.Directory",
        "System.IO.DirectoryInfo",
        "System.IO.DriveInfo",
        "System.IO.RandomAccess",
        "System.IO.FileSystemWatcher",
        "System.IO.MemoryMappedFiles.MemoryMappedFile",
    ];

    public static TheoryData<string> Rooms => [.. House.Rooms];

    public static TheoryData<string> Libraries => [.. House.Libraries];

    [Theory]
    [MemberData(nameof(Rooms))]
    public void A_project_refers_only_to_rooms_that_it_may_know(string room) =>
        Assert.All(
            XDocument
                .Load(Path.Join(House.DirectoryOf(room), room + ".csproj"))
                .Descendants("ProjectReference")
                .Select(reference =>
                    Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/'))
                ),
            reference => AssertMayKnow(room, reference)
        );

    [Theory]
    [MemberData(nameof(Libraries))]
    public void An_assembly_refers_only_to_rooms_that_it_may_know(string room) =>
        Assert.All(
            House.Read(room).Assemblies.Where(name => name.StartsWith("Rookery", StringComparison.OrdinalIgnoreCase)),
            reference => AssertMayKnow(room, reference)
        );

    [Fact]
    public void Arrows_point_down() =>
        Assert.All(
            House.Arrows.Select(static (arrow, place) => (arrow.MayKnow, place)),
            arrow => Assert.All(arrow.MayKnow, known => Assert.InRange(Place(known), 0, arrow.place - 1))
        );

    /// <summary>
    /// So that a run of it can be repeated: no room of ours, no clock, thread, socket or file, no task.
    /// </summary>
    [Fact]
    public void The_consensus_core_knows_nothing_else()
    {
        var core = House.Read("Rookery.Raft");
        Assert.DoesNotContain(core.Assemblies, name => name.StartsWith("Rookery", StringComparison.OrdinalIgnoreCase));
        string[] outside =
        [
            "System.IO.",
            "System.Net.",
            "System.Threading.",
            "System.Diagnostics.Stopwatch",
            "System.DateTime",
            "System.TimeProvider",
            "System.Environment",
        ];
        Assert.DoesNotContain(
            core.Types,
            type => Array.Exists(outside, forbidden => type.StartsWith(forbidden, StringComparison.Ordinal))
        );
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Only_the_disk_room_touches_files(string room)
    {
        // Hosting reads the files that the node's owner names, and the machine's.
        if (room is not ("Rookery.Platform" or "Rookery.Hosting"))
        {
            Assert.Empty(House.Read(room).Types.Intersect(FileTypes, StringComparer.Ordinal));
        }
    }

    [Theory]
    [MemberData(nameof(Libraries))]
    public void Only_the_server_its_host_and_the_peers_know_HTTP(string room)
    {
        if (room is not ("Rookery.Server" or "Rookery.Cluster" or "Rookery.Hosting"))
        {
            Assert.DoesNotContain(
                House.Read(room).Assemblies,
                name => name.StartsWith("Microsoft.AspNetCore", StringComparison.Ordinal)
            );
        }
    }

    [Fact]
    public void Every_room_is_known_here()
    {
        var found = Directory
            .EnumerateDirectories(House.Sources[0])
            .Concat(Directory.EnumerateDirectories(House.Sources[1]))
            .Where(room => Directory.EnumerateFiles(room, "*.csproj").Any())
            .Select(room => Path.GetFileName(room)!);
        Assert.Equal(House.Rooms.ToHashSet(StringComparer.Ordinal), found.ToHashSet(StringComparer.Ordinal));
    }

    [Fact]
    public void Every_project_is_in_the_solution()
    {
        string solution = File.ReadAllText(Path.Join(House.Root, "Rookery.slnx"));
        Assert.All(
            House.FilesOf(House.Root, "*.csproj"),
            project =>
                Assert.Contains($"\"{Path.GetRelativePath(House.Root, project)}\"", solution, StringComparison.Ordinal)
        );
    }

    [Fact]
    public void The_rules_can_fail()
    {
        // This test reads files itself, so its own assembly shows that the search sees them.
        Assert.Contains("System.IO.File", House.Read("Rookery.Architecture.Tests").Types);
        Assert.Contains("Rookery.Platform", House.Read("Rookery.Journal").Assemblies);
        Assert.ThrowsAny<Exception>(() => AssertMayKnow("Rookery.Journal", "Rookery.Storage"));
        Assert.ThrowsAny<Exception>(() => AssertMayKnow("Rookery.Journal", "Rookery.Board"));
        Assert.ThrowsAny<Exception>(() => AssertMayKnow("Rookery.Journal", "Rookery.Journal"));
        Assert.ThrowsAny<Exception>(() => AssertMayKnow("Rookery.Server", "rookery"));
    }

    private static int Place(string room) =>
        Array.FindIndex(House.Arrows, arrow => string.Equals(arrow.Room, room, StringComparison.Ordinal));

    private static void AssertMayKnow(string room, string reference) =>
        Assert.Contains(reference, House.Arrows[Place(room)].MayKnow);
}
